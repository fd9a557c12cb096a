// BodyChecker: functions that get a name inside a body. Those that `let fn` declares may call themselves and
// each other; each becomes a function of its own, which takes what they use from around them behind its
// parameters.
#include <fmt/format.h>

#include <algorithm>

#include "lang/body_checker.h"

namespace hiaton::lang {
namespace {

/// Thrown out of the body of a local function in which something is wrong.
struct NoLocalFunction {};

}  // namespace

class BodyChecker::LocalGroup {
 public:
  LocalGroup(BodyChecker& checker, std::span<const Let> group) : checker_(checker) {
    for (const Let& let : group) declared_.push_back(&checker.syntax_->functions[*let.function]);
    for (const LocalFunction* function : declared_)
      checker.add_names(function->first, function->body.index(), used_);
    find_captured();
  }

  void run() {
    for (const LocalFunction* function : declared_) declare(*function);
    for (std::size_t i = 0; i < declared_.size(); ++i) define(i);
    for (const FunctionValue& value : values_) {
      checker_.local_functions_.push_back(value);
      checker_.scope_.hide(value.name);
    }
  }

 private:
  bool is_declared(Symbol name) const {
    return std::any_of(declared_.begin(), declared_.end(),
                       [&](const LocalFunction* function) { return function->name.name == name; });
  }

  void find_captured() {
    for (const Symbol name : used_) {
      if (is_declared(name)) continue;
      const Var* const var = checker_.scope_.find(name);
      if (var != nullptr && known(*var)) {
        captured_names_.push_back(name);
        captured_.push_back(*var);
      }
      const FunctionValue* const function = checker_.local_function(name);
      if (function != nullptr) functions_.push_back(*function);
    }
    for (const FunctionValue& function : functions_)
      captured_.insert(captured_.end(), function.captured.begin(), function.captured.end());
  }

  void declare(const LocalFunction& function) {
    const std::span<const Pattern> params = checker_.patterns(function.params);
    require_distinct(params, "parameter", checker_.symbols_, checker_.diagnostics_);
    const Symbol name = *function.name.name;
    if (checker_.declarations_.is_variant(name)) {
      checker_.report(function.name.span, fmt::format("expected a name, found '{}', which is a variant",
                                                      checker_.symbols_[name]));
    }
    const auto twice = std::find_if(values_.begin(), values_.end(),
                                    [&](const FunctionValue& value) { return value.name == name; });
    if (twice != values_.end()) {
      checker_.report(function.name.span,
                      fmt::format("function '{}' is defined twice", checker_.symbols_[name]));
    }
    FunctionHead head{.name = name, .span = function.name.span, .params = {params.begin(), params.end()}};
    head.results = function.results;
    std::vector<ir::ValueInfo> infos;
    const auto add = [&](const Type& type) {
      infos.push_back(
          {type, fmt::format("{}{}", infos.size() < params.size() ? "x" : "captured", infos.size() + 1)});
    };
    for (const Pattern& param : params) add(param.type.value_or(DType::I64));
    for (const Var var : captured_) {
      head.captured.push_back(var.type());
      add(var.type());
    }
    std::vector<Type> results;
    for (const std::optional<Type>& result : function.results) results.push_back(result.value_or(DType::I64));
    const std::string text(checker_.symbols_[name]);
    const FunctionRef made =
        checker_.generated_.declare(fmt::format("{}_{}", checker_.symbols_[checker_.head_->name], text),
                                    std::move(infos), std::move(results));
    values_.push_back({.name = name,
                       .function = checker_.functions_.add_lambda(std::move(head), made),
                       .text = text,
                       .captured = captured_});
  }

  void define(std::size_t index) {
    const LocalFunction& function = *declared_[index];
    try {
      checker_.generated_.define(checker_.functions_.reference(*values_[index].function),
                                 [&](FunctionBuilder& builder) { return results(function, builder); });
    } catch (const NoLocalFunction&) {
    } catch (const ProgramError& error) {  // of sizes that results share
      checker_.report(function.name.span,
                      fmt::format("the results of '{}': {}", values_[index].text, error.what()));
    }
  }

  Vars results(const LocalFunction& function, FunctionBuilder& builder) {
    BodyChecker& checker = checker_;
    FunctionBuilder* const around = std::exchange(checker.f_, &builder);
    const Diagnostics::Part part(checker.diagnostics_);
    const std::size_t names = checker.scope_.size();
    std::vector<FunctionValue> functions = std::exchange(checker.local_functions_, functions_);
    builder.set_placement(around->placement());
    const std::span<const Pattern> params = checker.patterns(function.params);
    for (const Symbol name : used_) {
      const Var* const around = checker.scope_.find(name);
      if (around == nullptr || known(*around)) checker.scope_.hide(name);  // else it is reported
    }
    std::size_t next = params.size();
    for (const Symbol name : captured_names_) checker.scope_.bind(name, builder.param(next++));
    for (FunctionValue& used : checker.local_functions_) {
      for (Var& captured : used.captured) captured = builder.param(next++);
    }
    for (FunctionValue value : values_) {
      for (std::size_t i = 0; i < captured_.size(); ++i) value.captured[i] = builder.param(params.size() + i);
      checker.local_functions_.push_back(std::move(value));
    }
    for (std::size_t i = 0; i < params.size(); ++i) checker.bind(params[i], builder.param(i));
    const Vars found = checker.values(function.body, function.results);
    Vars results = unknown();
    if (known(found)) {
      builder.set_span(checker.place_of(function.body));  // of checks of their sizes
      results = checker.require_all(function.body, found, function.results, [&](std::size_t) {
        return fmt::format("the result of '{}'", checker.spelled(function.name));
      });
    }
    checker.scope_.shrink(names);
    checker.local_functions_ = std::move(functions);
    checker.f_ = around;
    if (!checker.diagnostics_.is_clear() || !all_known(results)) throw NoLocalFunction();
    return results;
  }

  BodyChecker& checker_;
  std::vector<const LocalFunction*> declared_;
  std::vector<Symbol> used_;              ///< names of values and of functions that stand in the bodies
  std::vector<Symbol> captured_names_;    ///< names of the values at the beginning of `captured_`
  std::vector<FunctionValue> functions_;  ///< from around, of which the values come next
  std::vector<Var> captured_;
  std::vector<FunctionValue> values_;  ///< as they are called where they are declared
};

void BodyChecker::let_functions(std::span<const Let> group) {
  LocalGroup(*this, group).run();
}

bool BodyChecker::is_function(ExprId bound) const {
  const Expr& expr = (*syntax_)[bound];
  if (expr.kind == Expr::Kind::Lambda) return true;
  if (expr.kind == Expr::Kind::Block) {
    const Expr& given = (*syntax_)[expr.a];
    return given.kind == Expr::Kind::Lambda || (given.kind == Expr::Kind::Gradient && !given.is_called);
  }
  if (expr.kind == Expr::Kind::Gradient) return !expr.is_called;
  if (expr.kind != Expr::Kind::Name || scope_.find(expr.name) != nullptr) return false;
  if (local_function(expr.name) != nullptr) return true;
  const bool is_value = declarations_.parameter(expr.name) != nullptr ||
                        declarations_.size(expr.name) != nullptr || declarations_.is_variant(expr.name);
  const FunctionHead* const function = functions_.find(expr.name);
  if (is_value || function != nullptr) return !is_value && function->readable && !function->is_constant;
  const Operation* const operation = operations_.find(expr.name);
  return operation != nullptr && operation->def->attributes.empty();
}

void BodyChecker::let_function(ExprId bound, const Pattern& pattern) {
  FunctionValue value = function_bound(bound, pattern.name.value_or(0));
  if (!pattern.name) return;
  if (declarations_.is_variant(*pattern.name)) return bind(pattern, Var());
  local_functions_.push_back(std::move(value));
  scope_.hide(*pattern.name);
}

/// Whether it is that of one function, of which all types are known.
bool BodyChecker::is_gradient_of_known(const Expr& gradient) {
  if (syntax_->gradients[gradient.index].lambda.valid()) return false;
  if (const std::optional<FunctionValue> local = callee_named(gradient.name))
    return !local->is_open() && local->function != nullptr;
  const FunctionHead* const function = functions_.find(gradient.name);
  return function != nullptr && function->readable && !function->is_constant && !function->is_generic();
}

/// What is known of its types already is checked, whether it is used or not.
BodyChecker::FunctionValue BodyChecker::function_bound(ExprId bound, Symbol name) {
  const Expr& expr = (*syntax_)[bound];
  if (expr.kind == Expr::Kind::Block) {
    FunctionValue value;
    const auto rest = [&] { value = function_bound(expr.a, name); };
    lets(expr, std::ref(rest));
    return value;
  }
  const FunctionHead* const function = functions_.find(expr.name);
  FunctionValue value;
  if (expr.kind == Expr::Kind::Gradient && is_gradient_of_known(expr)) {
    if (diagnostics_.is_clear()) value = gradient_value(expr, {});
  } else if (expr.kind != Expr::Kind::Name || (function != nullptr && function->is_generic())) {
    value = open_function(expr);
  } else {
    const Operation* const operation = function == nullptr ? operations_.find(expr.name) : nullptr;
    value = {.function = function, .operation = operation, .text = std::string(symbols_[expr.name])};
  }
  const FunctionValue* const local = expr.kind == Expr::Kind::Name ? local_function(expr.name) : nullptr;
  if (local != nullptr) value = *local;
  value.name = name;
  if (expr.kind == Expr::Kind::Lambda) {
    std::vector<Wish> types;
    for (const Pattern& param : params_of(expr)) types.push_back(param.type);
    const bool are_known = std::all_of(types.begin(), types.end(), [](const Wish& type) { return type; });
    if (are_known) value = closed(value, types, std::nullopt);
    value.name = name;  // also where something is wrong, which is reported
  }
  return value;
}

}  // namespace hiaton::lang
