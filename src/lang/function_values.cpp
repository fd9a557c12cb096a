// BodyChecker: functions as arguments. Which function an argument is, is known before the run: the callee has
// one body for each.
#include <fmt/format.h>

#include <algorithm>

#include "lang/body_checker.h"
#include "lang/type_inference.h"

namespace hiaton::lang {
namespace {

/// Thrown out of the body of a lambda, of which no function comes.
struct NoLambda {};

std::string text_of(std::span<const Wish> params, const std::optional<Type>& result) {
  std::string text;
  for (const Wish& param : params) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", param ? to_string(*param) : "?");
  }
  return fmt::format("fn({}) -> {}", text, result ? to_string(*result) : "?");
}

}  // namespace

void BodyChecker::bind_functions(const FunctionHead& head) {
  local_functions_.clear();
  std::size_t next = head.params.size();
  for (const FunctionArgument& given : head.functions) {
    FunctionValue& local = local_functions_.emplace_back(FunctionValue{
        .name = given.name, .function = given.function, .operation = given.operation, .text = given.text});
    for (std::size_t i = 0; i < given.captured.size(); ++i) local.captured.push_back(f_->param(next++));
  }
}

const BodyChecker::FunctionValue* BodyChecker::local_function(Symbol name) const {
  const auto found = std::find_if(local_functions_.rbegin(), local_functions_.rend(),
                                  [&](const FunctionValue& local) { return local.name == name; });
  return found == local_functions_.rend() ? nullptr : &*found;
}

Vars BodyChecker::call_local(const Expr& expr, const FunctionValue& callee, const Wish& wish) {
  if (expr.attributes.count > 0) report_attributes(expr);
  if (callee.operation != nullptr) {
    if (callee.operation->def->takes(expr.list.count))
      return apply(*callee.operation, list(expr.list), wish, expr.span);
    report(expr.span, fmt::format("'{}', which is {}, does not take {}", symbols_[expr.name], callee.text,
                                  count_of(expr.list.count, "argument")));
    return unknown();
  }
  if (expr.list.count != callee.function->params.size()) {
    report(expr.span, fmt::format("'{}' takes {}, found {}", symbols_[expr.name],
                                  count_of(callee.function->params.size(), "argument"), expr.list.count));
    return stand_ins(callee.function->results);
  }
  std::vector<Var> arguments = call_arguments(expr, *callee.function);
  arguments.insert(arguments.end(), callee.captured.begin(), callee.captured.end());
  if (diagnostics_.empty()) return emit_call(functions_.reference(*callee.function), arguments, expr.span);
  f_->set_span(expr.span);
  return stand_ins(callee.function->results);
}

BodyChecker::FunctionValue BodyChecker::function_value(ExprId argument, std::span<const Wish> params,
                                                       const Wish& result) {
  const Expr& expr = (*syntax_)[giver_of(argument)];
  if (expr.kind == Expr::Kind::Broken) return {};
  if (expr.kind == Expr::Kind::Name && scope_.find(expr.name) == nullptr) return named_function(expr, params);
  if (expr.kind == Expr::Kind::Lambda) return lambda(expr, params, result);
  report(expr.span, "expected a function: the name of one, or fn(x) -> ...");
  return {};
}

BodyChecker::FunctionValue BodyChecker::named_function(const Expr& expr, std::span<const Wish> params) {
  if (const FunctionValue* local = local_function(expr.name)) return *local;
  FunctionValue value{.text = std::string(symbols_[expr.name])};
  const FunctionHead* function = functions_.find(expr.name);
  if (function == nullptr || function->is_constant) {
    value.operation = operations_.find(expr.name);
    if (value.operation == nullptr) report_unknown_function(expr.name, expr.span);
    if (value.operation != nullptr && !value.operation->def->attributes.empty()) {
      report(
          expr.span,
          fmt::format("expected an operation without attributes, found '{}'; fn(x) -> {}(x, ...) gives them",
                      value.text, value.text));
      value.operation = nullptr;
    }
    return value;
  }
  if (!function->readable) return {};
  if (function->is_generic()) {
    std::vector<Type> types;
    for (const Wish& param : params) {
      if (param) types.push_back(*param);
    }
    if (types.size() < params.size()) {
      report(expr.span,
             fmt::format("expected the types of what '{}' takes, which nothing here tells", value.text));
      return {};
    }
    function = instance_for(*function, types, expr.span);
  }
  value.function = function;
  return value;
}

/// Names of values and of functions that stand in it, each once.
std::vector<Symbol> BodyChecker::names_in(const Expr& lambda) const {
  std::vector<Symbol> names;
  for (std::size_t i = lambda.index; i <= lambda.a.index(); ++i) {
    const Expr& expr = syntax_->exprs[i];
    const bool has_name = expr.kind == Expr::Kind::Name || expr.kind == Expr::Kind::Call;
    if (has_name && std::find(names.begin(), names.end(), expr.name) == names.end())
      names.push_back(expr.name);
  }
  return names;
}

/// A function of its own, which takes what it uses from around it behind its parameters.
BodyChecker::FunctionValue BodyChecker::lambda(const Expr& expr, std::span<const Wish> params,
                                               const Wish& result) {
  const std::span<const Pattern> names = patterns(expr.list);
  if (names.size() != params.size()) {
    report(expr.span, fmt::format("expected a function of {}, found one of {}",
                                  count_of(params.size(), "argument"), names.size()));
    return {};
  }
  if (!require_distinct(names, "parameter", symbols_, diagnostics_)) return {};
  FunctionHead head{.name = head_->name, .span = expr.span, .params = {names.begin(), names.end()}};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i].type && params[i]) head.params[i].type = without_symbols(*params[i]);
    if (head.params[i].type) continue;
    report(names[i].span, fmt::format("expected the type of '{0}', which nothing here tells; it is written "
                                      "fn({0}: i64) -> ...",
                                      spelled(names[i])));
    return {};
  }
  FunctionValue value{.text = fmt::format("lambda_{}", source_.locate(expr.span.begin).line)};
  std::vector<Symbol> captured;
  std::vector<FunctionValue> functions;
  for (const Symbol name : names_in(expr)) {
    const Var* var = scope_.find(name);
    if (var != nullptr && known(*var)) {
      captured.push_back(name);
      value.captured.push_back(*var);
    }
    const FunctionValue* function = local_function(name);
    if (function != nullptr) functions.push_back(*function);
  }
  for (const FunctionValue& function : functions) {
    value.captured.insert(value.captured.end(), function.captured.begin(), function.captured.end());
  }
  for (const Var var : value.captured) head.captured.push_back(var.type());
  std::vector<ir::ValueInfo> infos;
  for (std::size_t i = 0; i < head.value_count(); ++i) {
    infos.push_back({*head.value_type(i), fmt::format("{}{}", i < names.size() ? "x" : "captured", i + 1)});
  }
  try {
    const FunctionRef made = generated_.function_with_any_results(
        fmt::format("{}_{}", symbols_[head.name], value.text), std::move(infos),
        [&](FunctionBuilder& builder) {
          return lambda_results(expr, head, result, captured, std::move(functions), builder);
        });
    for (const Type& result : generated_[made].results) head.results.emplace_back(result);
    value.function = functions_.add_lambda(std::move(head), made);
    return value;
  } catch (const NoLambda&) {
    return {};
  }
}

Vars BodyChecker::lambda_results(const Expr& expr, const FunctionHead& head, const Wish& wish,
                                 std::span<const Symbol> values, std::vector<FunctionValue> functions,
                                 FunctionBuilder& builder) {
  FunctionBuilder* const around = std::exchange(f_, &builder);
  const std::size_t names = scope_.size();
  builder.set_placement(around->placement());
  std::size_t next = head.params.size();
  for (const Symbol name : values) scope_.bind(name, builder.param(next++));
  for (FunctionValue& function : functions) {
    for (Var& captured : function.captured) captured = builder.param(next++);
  }
  std::swap(local_functions_, functions);
  for (std::size_t i = 0; i < head.params.size(); ++i) bind(head.params[i], builder.param(i));
  const Vars results = this->values(expr.a, wish ? Wishes({&wish, 1}) : Wishes());
  scope_.shrink(names);
  std::swap(local_functions_, functions);
  f_ = around;
  if (!diagnostics_.empty() || !all_known(results)) throw NoLambda();
  return results;
}

/// Empty where the parameters are not known, or the operation does not take them, which is reported later.
std::optional<Type> BodyChecker::result_of(const FunctionValue& function, std::span<const Wish> params) {
  if (function.operation != nullptr) {
    std::vector<Type> types;
    for (const Wish& param : params) {
      if (param) types.push_back(*param);
    }
    const OpDef& op = *function.operation->def;
    if (types.size() < params.size() || !op.takes(types.size())) return std::nullopt;
    try {
      return op.result_type({.operands = types});
    } catch (const ProgramError&) {
      return std::nullopt;
    }
  }
  std::vector<Type> results;
  for (const std::optional<Type>& result : function.function->results) {
    if (!result) return std::nullopt;
    results.push_back(without_symbols(*result));
  }
  return results.size() == 1 ? results[0] : declarations_.tuple_of(results);
}

/// Lambdas come last: they may take the types of their parameters from what other functions give.
bool BodyChecker::infer_functions(TypeInference& types, const FunctionHead& generic,
                                  std::span<const ExprId> arguments, std::vector<FunctionValue>& found) {
  std::vector<FunctionValue> by_argument(arguments.size());
  for (const bool takes_lambdas : {false, true}) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const bool is_lambda = (*syntax_)[giver_of(arguments[i])].kind == Expr::Kind::Lambda;
      if (!generic.params[i].is_function || is_lambda != takes_lambdas) continue;
      const auto places = types.function_at(generic.param_types[i]);
      std::vector<Wish> params;
      for (const std::size_t place : places->params) params.push_back(types.type_at(place));
      FunctionValue& value = by_argument[i] =
          function_value(arguments[i], params, types.type_at(places->result));
      if (!value.known()) return false;
      const FunctionHead* function = value.function;
      const bool fits = function == nullptr || function->params.size() == params.size();
      for (std::size_t p = 0; fits && function != nullptr && p < params.size(); ++p) {
        const std::optional<Type>& type = function->params[p].type;
        if (!params[p] && type) types.match(places->params[p], params[p].emplace(without_symbols(*type)));
      }
      if (const std::optional<Type> result = result_of(value, params)) types.match(places->result, *result);
    }
  }
  bool is_right = true;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!generic.params[i].is_function) continue;
    is_right = require_function(types, generic.param_types[i], by_argument[i], arguments[i],
                                symbols_[generic.name], i + 1) &&
               is_right;
    found.push_back(std::move(by_argument[i]));
  }
  return is_right;
}

bool BodyChecker::require_function(TypeInference& types, std::size_t place, const FunctionValue& given,
                                   ExprId argument, std::string_view callee, std::size_t number) {
  const auto places = types.function_at(place);
  std::vector<Wish> params;
  for (const std::size_t param : places->params) params.push_back(types.type_at(param));
  const std::optional<Type> wanted = types.type_at(places->result);
  const std::optional<Type> result = result_of(given, params);
  std::vector<Wish> own = params;
  if (given.function != nullptr) {
    own.clear();
    for (const Pattern& param : given.function->params) own.push_back(param.type);
  }
  const auto goes_with = [](const Wish& a, const Wish& b) { return !a || !b || compatible(*a, *b); };
  const bool fits = std::equal(own.begin(), own.end(), params.begin(), params.end(), goes_with) && result &&
                    goes_with(result, wanted);
  if (fits) return true;
  report(place_of(argument), fmt::format("argument {} of '{}': expected {}, found {}", number, callee,
                                         text_of(params, wanted), text_of(own, result)));
  return false;
}

}  // namespace hiaton::lang
