// What `map`, `fold` and `scan` are given.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lang/body_checker.h"
#include "lang/type_inference.h"
#include "tensor/dimensions.h"

namespace hiaton::lang {

/// What is applied to the elements: a function of the program, or an operation.
class BodyChecker::Applied {
 public:
  Applied(const BodyChecker& checker, const Expr& expr)
      : checker_(checker), name_(checker.symbols_[expr.name]), head_(checker.functions_.find(expr.name)) {
    if (head_ == nullptr) operation_ = checker.operations_.find(expr.name);
  }
  /// What is not known yet.
  explicit Applied(const BodyChecker& checker) : checker_(checker) {}

  /// nullptr where it is no generic function.
  const FunctionHead* generic() const { return head_ != nullptr && head_->is_generic() ? head_ : nullptr; }
  /// From here on it is what the generic function is for certain types.
  void become(const FunctionHead& instance) { head_ = &instance; }
  void become(const FunctionValue& value) {
    head_ = value.function;
    operation_ = value.operation;
    name_ = value.text;
    if (head_ != nullptr) name_ = checker_.generated_[checker_.functions_.reference(*head_)].name;
  }
  bool known() const { return (head_ != nullptr && head_->readable) || operation_ != nullptr; }
  const std::string& name() const { return name_; }
  /// What literals take after as argument `index`.
  Wish param(std::size_t index) const {
    if (head_ == nullptr && index < types_.size()) return types_[index];
    return head_ != nullptr && index < head_->value_count() ? head_->value_type(index) : std::nullopt;
  }
  /// What is known of the types of its parameters before it is known itself.
  void expect(const std::vector<Pattern>& params) {
    for (const Pattern& param : params) types_.push_back(param.type);
  }

  /// The type of its result for such arguments. Throws ProgramError where it does not take them, or has
  /// several results.
  Type result(const std::vector<Type>& arguments) const {
    const bool takes = head_ != nullptr ? head_->value_count() == arguments.size()
                                        : operation_->def->takes(arguments.size());
    if (!takes) {
      throw ProgramError(fmt::format("expected a function of {}, found {}",
                                     count_of(arguments.size(), "argument"), signature()));
    }
    if (operation_ != nullptr) return result_of_operation(arguments);
    Dimensions dimensions;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Type param = head_->value_type(i).value_or(arguments[i]);
      if (dimensions.bind(param, arguments[i])) continue;
      throw ProgramError(fmt::format("argument {} of '{}': expected {}, found {}", i + 1, name_,
                                     to_string(param), to_string(arguments[i])));
    }
    if (head_->results.size() == 1) return dimensions.substitute(head_->results[0].value_or(DType::I64));
    std::vector<Type> results;
    for (const std::optional<Type>& result : head_->results)
      results.push_back(without_symbols(dimensions.substitute(result.value_or(DType::I64))));
    return checker_.declarations_.tuple_of(results);
  }

  /// Where among such arguments the size of dimension `axis` of its result stands; none where only the call
  /// itself tells it.
  std::optional<Dimensions::ArgumentAxis> place_of(std::size_t axis,
                                                   const std::vector<Type>& arguments) const {
    const Dim dim = head_ != nullptr ? head_->results[0]->shape[axis] : result(arguments).shape[axis];
    if (dim == unknown_dim()) return std::nullopt;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Shape shape = param(i).value_or(arguments[i]).shape;
      const auto found = std::find(shape.begin(), shape.end(), dim);
      if (found != shape.end())
        return Dimensions::ArgumentAxis{i, static_cast<std::size_t>(found - shape.begin())};
    }
    return std::nullopt;
  }

  Var operator()(FunctionBuilder& f, const std::vector<Var>& arguments) const {
    if (operation_ != nullptr) return f.op(*operation_->def, arguments);
    const Vars results = f.call(checker_.functions_.reference(*head_), arguments);
    if (results.size() == 1) return results[0];
    std::vector<Type> argument_types;
    for (const Var argument : arguments) argument_types.push_back(argument.type());
    return f.make(result(argument_types), 0, {results.begin(), results.end()});
  }

 private:
  std::string signature() const {
    return head_ != nullptr ? checker_.functions_.signature(*head_) : to_string(Signature(*operation_->def));
  }

  Type result_of_operation(const std::vector<Type>& arguments) const {
    const OpDef& op = *operation_->def;
    if (!op.attributes.empty()) {
      throw ProgramError(fmt::format("expected an operation without attributes, found '{}'", name_));
    }
    try {
      return op.result_type({.operands = arguments});
    } catch (const ProgramError& error) {
      throw ProgramError(fmt::format("[{}] {}", name_, error.what()));
    }
  }

  const BodyChecker& checker_;
  std::string name_;
  std::vector<Wish> types_;
  const FunctionHead* head_ = nullptr;
  const Operation* operation_ = nullptr;
};

/// The arguments of a `map`, `fold` or `scan`.
struct BodyChecker::OverList {
  std::string_view word;
  Var elements;  ///< a list or tensor
  Type element;
  std::vector<Var> initial;  ///< one, but for `map`
  std::vector<Var> extras;   ///< arguments that are the same for every element

  /// The argument types of the function that is applied.
  std::vector<Type> argument_types() const {
    std::vector<Type> types;
    for (Var first : initial) types.push_back(first.type());
    types.push_back(element);
    for (Var extra : extras) types.push_back(extra.type());
    return types;
  }
  std::vector<Wish> argument_wishes() const {
    const std::vector<Type> types = argument_types();
    return {types.begin(), types.end()};
  }
  /// The type that numbers take which the function gives: that of the first value.
  Wish step() const { return initial.empty() ? std::nullopt : Wish(without_symbols(initial[0].type())); }
};

}  // namespace hiaton::lang
