#include "graph_rules.h"

#include <algorithm>
#include <utility>

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

GraphForm::GraphForm(ir::Module module, CompileOptions options)
    : module_(std::move(module)), options_(std::move(options)) {
  const ir::Function& function = module_[entry_of(module_, options_.entry)];
  while (arguments_.size() < function.params.size()) arguments_.push_back(operands_++);
  while (learned_.size() < module_.parameters.size()) learned_.push_back(operands_++);
}

std::shared_ptr<GraphForm> GraphForm::gradient(const std::vector<std::size_t>& numbers) {
  std::shared_ptr<GraphForm>& made = gradients_[numbers];
  if (made != nullptr) return made;
  const ir::FunctionId of = entry_of(module_, options_.entry);
  ir::GradientForm form{.kind = ir::GradientForm::Kind::Vjp};
  for (const std::size_t number : numbers) {
    const auto argument = std::ranges::find(arguments_, number);
    const bool is_learned = argument == arguments_.end();
    const auto place =
        is_learned ? std::ranges::find(learned_, number) - learned_.begin() : argument - arguments_.begin();
    form.wrt.push_back({is_learned, static_cast<std::size_t>(place)});
  }
  std::shared_ptr<GraphForm> gradient(new GraphForm());
  gradient->arguments_ = arguments_;
  for (const std::size_t result : ir::float_results(module_[of]))
    gradient->arguments_.push_back(operands_ + result);
  gradient->learned_ = learned_;
  gradient->operands_ = operands_ + module_[of].results.size();
  ModuleBuilder builder(module_);
  gradient->options_ = options_;
  gradient->options_.entry = builder.unused_name("gradient");
  builder.declare_gradient(gradient->options_.entry, {of}, form);
  gradient->module_ = builder.finish();
  return made = std::move(gradient);
}

std::vector<Value> GraphForm::run(std::span<const Value> operands) {
  if (program_ == nullptr) {
    const nb::gil_scoped_release released;
    program_ = std::make_shared<const Program>(Program::from_module(module_, options_));
  }
  const auto chosen = [&](const std::vector<std::size_t>& numbers) {
    std::vector<Value> values;
    values.reserve(numbers.size());
    for (const std::size_t number : numbers) values.push_back(operands[number]);
    return values;
  };
  const std::vector<Value> arguments = chosen(arguments_);
  const std::vector<Value> learned = chosen(learned_);
  std::vector<Value> results;
  run_interruptibly([&](const std::atomic<bool>& cancel) {
    results =
        program_->run(arguments, {.cancel = &cancel, .parameters = learned, .checks_data = false}).values;
  });
  return results;
}

std::vector<EagerTensor> seen_by_tapes(const std::shared_ptr<GraphForm>& form,
                                       std::span<const Value> operands, std::span<const uint64_t> marks,
                                       std::span<const Value> results) {
  std::vector<EagerTensor> seen;
  for (const Value& value : results) seen.push_back({value});
  const std::shared_ptr<Rule> rule = Rule::of_graph(form, types_of(operands), types_of(results));
  show_to_tapes({nullptr, {}, rule, operands, marks}, seen);
  return seen;
}

}  // namespace hiaton::python
