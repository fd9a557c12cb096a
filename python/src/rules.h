// Gradients of operations, and gradients of these, as programs.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "graph_rules.h"
#include "hiaton/builder.h"
#include "hiaton/engine.h"

namespace hiaton::python {

/// An operation on operands of some types, a function of a module, or the gradients of another rule by some
/// of its parameters: then the parameters are those of the other one and a cotangent for each of its results.
class Rule {
 public:
  /// The rule of an operation: the same one for the same operation, attributes and types.
  static std::shared_ptr<Rule> of(const OpDef& op, std::span<const int64_t> attributes,
                                  std::vector<Type> operands);
  /// The rule of a function of a module, for operands and results of these types.
  static std::shared_ptr<Rule> of_graph(std::shared_ptr<GraphForm> form, std::vector<Type> operands,
                                        std::vector<Type> results);
  /// The gradients of a rule by the parameters with these numbers, which hold floats: the same one each time.
  static std::shared_ptr<Rule> gradient(const std::shared_ptr<Rule>& of,
                                        const std::vector<std::size_t>& numbers);

  const std::vector<Type>& results() const { return results_; }
  std::vector<Value> run(std::span<const Value> arguments);

 private:
  Rule() = default;
  /// So that nothing refers to itself.
  void forget_gradients();
  /// A function of a module, and which of its results are those of the rule.
  struct Declared {
    FunctionRef function;
    std::vector<std::size_t> places;
  };
  Declared declare(ModuleBuilder& module) const;
  std::vector<Var> call(FunctionBuilder& f, const Declared& declared) const;

  const OpDef* op_ = nullptr;  ///< null: `of_` is set
  Attributes attributes_;
  std::shared_ptr<Rule> of_;
  std::shared_ptr<GraphForm> form_;  ///< the form of a function of a module, and of its gradients
  std::vector<std::size_t> numbers_;
  std::vector<Type> parameters_;
  std::vector<Type> results_;
  std::shared_ptr<const Program> program_;
  std::map<std::vector<std::size_t>, std::shared_ptr<Rule>> gradients_;  ///< they refer to this one
};

}  // namespace hiaton::python
