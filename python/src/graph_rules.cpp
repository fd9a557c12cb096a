#include "graph_rules.h"

#include <algorithm>
#include <utility>

#include "engine/pipeline.h"
#include "hiaton/builder.h"
#include "ir/differentiable.h"
#include "programs.h"
#include "rules.h"
#include "tapes.h"

namespace hiaton::python {
namespace {

/// Nobody asks for the types of data values: these have no marks.
std::vector<Type> types_of(std::span<const Value> values) {
  std::vector<Type> types;
  for (const Value& value : values) types.push_back(value.is_data() ? Type(DType::I64) : value.type());
  return types;
}

ir::FunctionId entry_of(const ir::Module& module, const std::string& name) {
  const auto found = std::ranges::find(module.functions, name, &ir::Function::name);
  return ir::FunctionId(static_cast<std::size_t>(found - module.functions.begin()));
}

}  // namespace

std::vector<Value> OpenGradient::results(const std::atomic<bool>& cancel) {
  std::vector<Value> results;
  for (std::size_t i = 0; i < form_.results; ++i) results.push_back(run_->wait(i, &cancel));
  return results;
}

bool OpenGradient::has_all(const std::vector<std::size_t>& numbers) const {
  return std::ranges::all_of(numbers, [&](std::size_t number) {
    return form_.learned.contains(number) || std::ranges::find(form_.numbers, number) != form_.numbers.end();
  });
}

Value OpenGradient::sum_of(std::size_t parameter) const {
  const Tensor& sum = (*sums_)[parameter].values;
  if (!sum.dims().empty()) return sum;
  return sum.dtype() == DType::F64 ? Value(sum.data<double>()[0]) : Value(sum.data<float>()[0]);
}

std::optional<std::vector<Value>> OpenGradient::gradients(const std::vector<std::size_t>& numbers,
                                                          std::span<const Value> cotangents) {
  if (!run_ || !has_all(numbers) || process_ != getpid()) return std::nullopt;
  OpenRun run = std::move(*std::exchange(run_, std::nullopt));
  const std::size_t first = run.parameter_count() - form_.float_results.size();
  for (std::size_t i = 0; i < form_.float_results.size(); ++i)
    run.feed(first + i, cotangents[form_.float_results[i]]);
  bool has_begun = false;
  bool has_ended = false;
  run_interruptibly([&](const std::atomic<bool>& cancel) {
    if (std::exchange(has_begun, true)) return;  // a signal ended it that Python ignores
    run.wait(0, &cancel);                        // does all that is left
    run.finish();
    has_ended = true;
  });
  if (!has_ended) return std::nullopt;
  std::vector<Value> gradients;
  for (const std::size_t number : numbers) {
    const auto learned = form_.learned.find(number);
    const auto place = std::ranges::find(form_.numbers, number) - form_.numbers.begin();
    gradients.push_back(learned != form_.learned.end()
                            ? sum_of(learned->second)
                            : run.wait(form_.results + static_cast<std::size_t>(place)));
  }
  return gradients;
}

GraphForm::GraphForm(ir::Module module, CompileOptions options)
    : module_(std::move(module)), options_(std::move(options)) {
  while (arguments_.size() < function().params.size()) arguments_.push_back(operands_++);
  while (learned_.size() < module_.parameters.size()) learned_.push_back(operands_++);
}

std::shared_ptr<GraphForm> GraphForm::gradient(const std::vector<std::size_t>& numbers) {
  std::shared_ptr<GraphForm>& made = gradients_[numbers];
  if (made != nullptr) return made;
  std::shared_ptr<GraphForm> gradient(new GraphForm());
  gradient->arguments_ = arguments_;
  for (const std::size_t result : ir::float_results(function()))
    gradient->arguments_.push_back(operands_ + result);
  gradient->learned_ = learned_;
  gradient->operands_ = operands_ + function().results.size();
  ModuleBuilder builder(module_);
  gradient->options_ = options_;
  gradient->options_.entry = declare(builder, ir::GradientForm::Kind::Vjp, numbers);
  gradient->module_ = builder.finish();
  return made = std::move(gradient);
}

std::vector<Value> GraphForm::run(std::span<const Value> operands) {
  if (program_ == nullptr) {
    const nb::gil_scoped_release released;
    program_ = std::make_shared<const Program>(Program::from_module(module_, options_));
  }
  const std::vector<Value> arguments = chosen(operands, arguments_);
  const std::vector<Value> learned = chosen(operands, learned_);
  std::vector<Value> results;
  run_interruptibly([&](const std::atomic<bool>& cancel) {
    results =
        program_->run(arguments, {.cancel = &cancel, .parameters = learned, .checks_data = false}).values;
  });
  return results;
}

const ir::Function& GraphForm::function() const {
  return module_[entry_of(module_, options_.entry)];
}

/// The name of a gradient of the function by these operands.
std::string GraphForm::declare(ModuleBuilder& builder, ir::GradientForm::Kind kind,
                               const std::vector<std::size_t>& numbers) const {
  ir::GradientForm form{.kind = kind};
  for (const std::size_t number : numbers) {
    const auto argument = std::ranges::find(arguments_, number);
    const bool is_learned = argument == arguments_.end();
    const auto place =
        is_learned ? std::ranges::find(learned_, number) - learned_.begin() : argument - arguments_.begin();
    form.wrt.push_back({is_learned, static_cast<std::size_t>(place)});
  }
  std::string name = builder.unused_name("gradient");
  builder.declare_gradient(name, {entry_of(module_, options_.entry)}, form);
  return name;
}

std::vector<Value> GraphForm::chosen(std::span<const Value> operands,
                                     const std::vector<std::size_t>& numbers) {
  std::vector<Value> values;
  values.reserve(numbers.size());
  for (const std::size_t number : numbers) values.push_back(operands[number]);
  return values;
}

std::shared_ptr<const GraphForm::Opened> GraphForm::opened(const std::vector<std::size_t>& numbers) {
  if (numbers.empty() || ir::float_results(function()).empty()) return nullptr;
  const auto known = opened_.find(numbers);
  if (known != opened_.end()) return known->second;
  std::shared_ptr<const Opened> made;
  {
    const nb::gil_scoped_release released;
    made = std::make_shared<const Opened>(compile_opened(numbers));
  }
  return opened_.try_emplace(numbers, std::move(made)).first->second;
}

/// Gradients by learned parameters are sums of the run: to hand them up through the calls would add tensors
/// of their size in each.
GraphForm::Opened GraphForm::compile_opened(const std::vector<std::size_t>& numbers) const {
  OpenGradient::Form form{{}, {}, function().results.size(), ir::float_results(function())};
  std::vector<std::size_t> wrt;
  for (const std::size_t number : numbers) {
    const auto argument = std::ranges::find(arguments_, number);
    if (argument == arguments_.end()) {
      form.learned[number] = static_cast<std::size_t>(std::ranges::find(learned_, number) - learned_.begin());
    } else {
      form.numbers.push_back(number);
      wrt.push_back(static_cast<std::size_t>(argument - arguments_.begin()));
    }
  }
  if (form.learned.empty()) {
    ModuleBuilder builder(module_);
    CompileOptions compiled = options_;
    compiled.entry = declare(builder, ir::GradientForm::Kind::ValueAndVjp, numbers);
    return {std::make_shared<const Program>(Program::from_module(builder.finish(), compiled)),
            std::move(form)};
  }
  graph::Graph graph = compile_vjp(module_, wrt, options_);
  std::vector<graph::Parameter> summed = graph.parameters();
  return {std::make_shared<const Program>(Program::from_graph(std::move(graph), options_)), std::move(form),
          std::move(summed)};
}

std::shared_ptr<OpenGradient> GraphForm::open(const Opened& form, std::span<const Value> operands,
                                              const RunOptions& options, std::vector<Value>& results) const {
  std::unique_ptr<Gradients> sums;
  if (!form.summed.empty()) sums = std::make_unique<Gradients>(form.summed);
  const std::vector<Value> learned = chosen(operands, learned_);
  RunOptions own = options;
  own.parameters = learned;
  own.gradients = sums.get();
  own.cancel = nullptr;  // it lives longer than the call
  OpenRun run = form.program->open(chosen(operands, arguments_), std::move(own));
  auto open = std::make_shared<OpenGradient>(std::move(run), form.form, std::move(sums));
  try {
    results = open->results(*options.cancel);
    return open;
  } catch (const RunError& error) {
    if (error.fault() != Fault::MaxFrames && error.fault() != Fault::MaxBytes) throw;
    return nullptr;
  }
}

std::vector<EagerTensor> seen_by_tapes(const std::shared_ptr<GraphForm>& form,
                                       std::span<const Value> operands, std::span<const uint64_t> marks,
                                       std::span<const Value> results, std::shared_ptr<OpenGradient> open) {
  std::vector<EagerTensor> seen;
  for (const Value& value : results) seen.push_back({value});
  const std::shared_ptr<Rule> rule = Rule::of_graph(form, types_of(operands), types_of(results));
  show_to_tapes({nullptr, {}, rule, operands, marks, std::move(open)}, seen);
  return seen;
}

}  // namespace hiaton::python
