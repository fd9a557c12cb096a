#include "rules.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

namespace hiaton::python {
namespace {

/// So many rules are kept; more of them are those of shapes that are always new.
constexpr std::size_t kMostRules = 4096;

std::vector<ir::ValueInfo> named(const std::vector<Type>& types) {
  std::vector<ir::ValueInfo> parameters;
  for (std::size_t i = 0; i < types.size(); ++i) parameters.push_back({types[i], "p" + std::to_string(i)});
  return parameters;
}

std::vector<Var> parameters_of(FunctionBuilder& f, std::size_t count) {
  std::vector<Var> parameters;
  for (std::size_t i = 0; i < count; ++i) parameters.push_back(f.param(i));
  return parameters;
}

template <class T>
void add_to(std::string& key, T part) {
  key.append(reinterpret_cast<const char*>(&part), sizeof(part));
}

/// The sum of all elements of a product.
Var inner_product(FunctionBuilder& f, Var a, Var b, DType dtype) {
  const Var product = a * b;
  const Var sum = product.type().is_tensor() ? f.op("sum", {product}, Attributes()) : product;
  return sum.type().dtype == dtype ? sum : f.cast(sum, dtype);
}

}  // namespace

std::shared_ptr<Rule> Rule::of(const OpDef& op, std::span<const int64_t> attributes,
                               std::vector<Type> operands) {
  // The interpreter's lock guards it.
  static auto* known = new std::unordered_map<std::string, std::shared_ptr<Rule>>();
  std::string key;
  add_to(key, &op);
  add_to(key, attributes.size());
  for (const int64_t attribute : attributes) add_to(key, attribute);
  for (const Type& type : operands) {
    add_to(key, type.dtype);
    add_to(key, type.shape.size());
    for (const Dim& dim : type.shape) add_to(key, dim.size);
  }
  const auto found = known->find(key);
  if (found != known->end()) return found->second;
  if (known->size() >= kMostRules) {
    for (const auto& [other, rule] : *known) rule->forget_gradients();
    known->clear();
  }
  std::shared_ptr<Rule> rule(new Rule());
  rule->op_ = &op;
  rule->attributes_ = Attributes(attributes.begin(), attributes.end());
  rule->parameters_ = std::move(operands);
  rule->results_ = {op.result_type({rule->parameters_, rule->attributes_})};
  return known->emplace(std::move(key), std::move(rule)).first->second;
}

std::shared_ptr<Rule> Rule::of_graph(std::shared_ptr<GraphForm> form, std::vector<Type> operands,
                                     std::vector<Type> results) {
  std::shared_ptr<Rule> rule(new Rule());
  rule->form_ = std::move(form);
  rule->parameters_ = std::move(operands);
  rule->results_ = std::move(results);
  return rule;
}

std::shared_ptr<Rule> Rule::gradient(const std::shared_ptr<Rule>& of,
                                     const std::vector<std::size_t>& numbers) {
  std::shared_ptr<Rule>& rule = of->gradients_[numbers];
  if (rule != nullptr) return rule;
  rule.reset(new Rule());
  if (of->form_ != nullptr) {
    rule->form_ = of->form_->gradient(numbers);
  } else {
    rule->of_ = of;
  }
  rule->numbers_ = numbers;
  rule->parameters_ = of->parameters_;
  rule->parameters_.insert(rule->parameters_.end(), of->results_.begin(), of->results_.end());
  for (const std::size_t number : numbers) rule->results_.push_back(of->parameters_[number]);
  return rule;
}

void Rule::forget_gradients() {
  for (const auto& [numbers, rule] : std::exchange(gradients_, {})) rule->forget_gradients();
}

Rule::Declared Rule::declare(ModuleBuilder& module) const {
  if (of_ == nullptr) {
    const FunctionRef function = module.declare(module.unused_name("apply"), named(parameters_), results_);
    module.define(function, [&](FunctionBuilder& f) {
      return Vars(f.op(*op_, parameters_of(f, parameters_.size()), attributes_));
    });
    return {function, {0}};
  }
  const Declared inner = of_->declare(module);
  const std::size_t count = of_->parameters_.size();
  const DType dtype = of_->results_[0].dtype;
  // The sum of all elements of the results, each as often as its cotangent says.
  const FunctionRef weighted =
      module.declare(module.unused_name("weighted"), named(parameters_), {Type(dtype)});
  module.define(weighted, [&](FunctionBuilder& f) {
    const std::vector<Var> found = of_->call(f, inner);
    Var sum = inner_product(f, found[0], f.param(count), dtype);
    for (std::size_t i = 1; i < found.size(); ++i)
      sum = sum + inner_product(f, found[i], f.param(count + i), dtype);
    return Vars(sum);
  });
  Declared made{module.declare_gradient(module.unused_name("gradient"), weighted, {}), {}};
  for (const std::size_t number : numbers_) {
    made.places.push_back(static_cast<std::size_t>(
        std::count_if(parameters_.begin(), parameters_.begin() + static_cast<std::ptrdiff_t>(number),
                      [](const Type& type) { return is_float(type.dtype); })));
  }
  return made;
}

/// Calls the rule's function with the first parameters of the function that is being built.
std::vector<Var> Rule::call(FunctionBuilder& f, const Declared& declared) const {
  const Vars all = f.call(declared.function, parameters_of(f, parameters_.size()));
  std::vector<Var> results;
  for (const std::size_t place : declared.places) results.push_back(all[place]);
  return results;
}

std::vector<Value> Rule::run(std::span<const Value> arguments) {
  if (form_ != nullptr) return form_->run(arguments);
  if (program_ == nullptr) {
    ModuleBuilder module;
    const Declared rule = declare(module);
    const FunctionRef main = module.declare("main", named(parameters_), results_);
    module.define(main, [&](FunctionBuilder& f) {
      const std::vector<Var> results = call(f, rule);
      return Vars(std::span<const Var>(results));
    });
    program_ = std::make_shared<const Program>(Program::from_module(module.finish()));
  }
  return program_->run(arguments).values;
}

}  // namespace hiaton::python
