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

}  // namespace

std::string text_of_function(std::span<const Wish> params, const std::optional<Type>& result) {
  std::string text;
  for (const Wish& param : params) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", param ? to_string(*param) : "?");
  }
  return fmt::format("fn({}) -> {}", text, result ? to_string(*result) : "?");
}

void BodyChecker::bind_functions(const FunctionHead& head, std::span<const Var> captured) {
  std::size_t next = 0;
  for (const FunctionArgument& given : head.functions) {
    FunctionValue& local = local_functions_.emplace_back(FunctionValue{
        .name = given.name, .function = given.function, .operation = given.operation, .text = given.text});
    local.lambdas = given.lambdas;
    for (std::size_t i = 0; i < given.captured.size(); ++i) local.captured.push_back(captured[next++]);
  }
}

const BodyChecker::FunctionValue* BodyChecker::local_function(Symbol name) const {
  const auto found = std::find_if(local_functions_.rbegin(), local_functions_.rend(),
                                  [&](const FunctionValue& local) { return local.name == name; });
  return found == local_functions_.rend() ? nullptr : &*found;
}

Vars BodyChecker::call_local(const Expr& expr, const FunctionValue& callee, const Wish& wish) {
  if (expr.attributes.count > 0) report_attributes(expr);
  if (!callee.known()) {
    for (const ExprId argument : list(expr.list)) value(argument);
    return unknown();
  }
  if (callee.operation != nullptr) {
    if (callee.operation->def->takes(expr.list.count))
      return apply(*callee.operation, list(expr.list), wish, expr.span);
    report(expr.span, fmt::format("'{}', which is {}, does not take {}", symbols_[expr.name], callee.text,
                                  count_of(expr.list.count, "argument")));
    return unknown();
  }
  FunctionValue called = callee;
  std::vector<Var> arguments;
  if (callee.is_open()) {
    const auto found = arguments_of_open(expr, callee, called);
    if (!found || !called.known()) return unknown();
    arguments = *found;
  } else if (expr.list.count != callee.function->params.size()) {
    report(expr.span, fmt::format("'{}' takes {}, found {}", symbols_[expr.name],
                                  count_of(callee.function->params.size(), "argument"), expr.list.count));
    return stand_ins(callee.function->results);
  } else {
    arguments = call_arguments(expr, *callee.function);
  }
  arguments.insert(arguments.end(), called.captured.begin(), called.captured.end());
  if (diagnostics_.is_clear()) return emit_call(*called.function, arguments, expr.span);
  f_->set_span(expr.span);
  return stand_ins(called.function->results);
}

/// The arguments tell what the open function is.
std::optional<std::vector<Var>> BodyChecker::arguments_of_open(const Expr& call, const FunctionValue& open,
                                                               FunctionValue& callee) {
  const bool is_lambda = open.open->kind == Expr::Kind::Lambda;
  const std::vector<Pattern> params = is_lambda ? params_of(*open.open) : std::vector<Pattern>();
  std::vector<Var> arguments;
  for (std::size_t i = 0; i < call.list.count; ++i) {
    const Wish wish = i < params.size() ? params[i].type : std::nullopt;
    const ExprId argument = list(call.list)[i];
    arguments.push_back(require(argument, value(argument, wish), wish, [&] {
      return fmt::format("argument {} of '{}'", i + 1,
                         open.name != 0 ? symbols_[open.name] : std::string_view("fn"));
    }));
  }
  if (!are_known(arguments)) return std::nullopt;
  callee = closed(open, types_of(arguments), std::nullopt);
  if (!callee.known()) return std::nullopt;
  for (std::size_t i = 0; i < std::min(arguments.size(), callee.function->params.size()); ++i) {
    arguments[i] = require(list(call.list)[i], arguments[i], callee.function->params[i].type,
                           [&] { return fmt::format("argument {} of '{}'", i + 1, callee.text); });
  }
  if (arguments.size() == callee.function->params.size()) return arguments;
  report(call.span, fmt::format("expected {}, found {}", count_of(callee.function->params.size(), "argument"),
                                arguments.size()));
  return std::nullopt;
}

BodyChecker::FunctionValue BodyChecker::function_value(ExprId argument, std::span<const Wish> params,
                                                       const Wish& result) {
  const Expr& expr = (*syntax_)[argument];
  switch (expr.kind) {
    case Expr::Kind::Broken:
      return {};
    case Expr::Kind::On:
      return function_value(expr.a, params, result);
    case Expr::Kind::Block: {
      FunctionValue value;
      const auto rest = [&] { value = function_value(expr.a, params, result); };
      lets(expr, std::ref(rest));
      return value;
    }
    case Expr::Kind::Lambda:
      return lambda(expr, params, result);
    case Expr::Kind::Gradient:
      if (!expr.is_called) return gradient_value(expr, params);
      break;
    case Expr::Kind::Name:
      if (!is_value(expr)) return named_function(expr, params, result);
      break;
    default:
      break;
  }
  Wish wish;
  std::vector<Type> types;
  for (const Wish& param : params) {
    if (param) types.push_back(*param);
  }
  if (result && types.size() == params.size()) wish = declarations_.function_types().of(types, *result).type;
  if (const std::optional<FunctionValue> known = known_result(expr, wish)) return *known;
  const Var found = value(argument, wish);
  if (!known(found)) return {};
  if (FunctionType* type = function_type(found.type())) return callee_of(found, *type);
  if (expr.kind == Expr::Kind::Name) {
    report_unknown_function(expr.name, expr.span);
  } else {
    report(expr.span,
           fmt::format("expected a function: the name of one, or fn(x) -> ...{}",
                       expr.kind == Expr::Kind::List ? "; it stands before the list: map(f, xs)" : ""));
  }
  return {};
}

BodyChecker::FunctionValue BodyChecker::named_function(const Expr& expr, std::span<const Wish> params,
                                                       const Wish& result) {
  if (const std::optional<FunctionValue> local = callee_named(expr.name))
    return local->is_open() ? closed(*local, params, result) : *local;
  if (is_construction(expr)) return variant_function(expr, params, result);
  if (const std::optional<FunctionValue> built_in = built_in_on_data(expr, params)) return *built_in;
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
    if (function->takes_functions) return taking_data(*function, params, expr);
    function = instance_for(*function, types, expr.span);
  }
  value.function = function;
  return value;
}

/// Whether the types of its parameters must come from elsewhere.
bool BodyChecker::follows_types(ExprId function) const {
  const Expr& expr = (*syntax_)[giver_of(function)];
  if (expr.kind == Expr::Kind::Lambda || (expr.kind == Expr::Kind::Gradient && !expr.is_called)) return true;
  if (expr.kind == Expr::Kind::Name && is_construction(expr)) return true;
  const FunctionValue* const local = expr.kind == Expr::Kind::Name && scope_.find(expr.name) == nullptr
                                         ? local_function(expr.name)
                                         : nullptr;
  return local != nullptr && local->is_open();
}

/// Names of values and of functions that stand in it, each once.
std::vector<Symbol> BodyChecker::names_in(const Expr& function) const {
  std::vector<Symbol> names;
  const Expr* lambda = &function;
  if (function.kind != Expr::Kind::Lambda) names.push_back(function.name);
  if (function.kind == Expr::Kind::Gradient) {
    const ExprId target = syntax_->gradients[function.index].lambda;
    if (target.valid()) lambda = &(*syntax_)[target];
  }
  if (lambda->kind == Expr::Kind::Lambda) add_names(lambda->index, lambda->a.index(), names);
  return names;
}

/// Adds the names in the expressions from one to another. What has a hidden name is bound where it is used.
void BodyChecker::add_names(std::size_t first, std::size_t last, std::vector<Symbol>& names) const {
  for (std::size_t i = first; i <= last; ++i) {
    const Expr& expr = syntax_->exprs[i];
    const bool has_name =
        expr.kind == Expr::Kind::Name || expr.kind == Expr::Kind::Call || expr.kind == Expr::Kind::Gradient;
    if (has_name && !symbols_.is_hidden(expr.name) &&
        std::find(names.begin(), names.end(), expr.name) == names.end())
      names.push_back(expr.name);
  }
}

std::string FunctionValue::identity() const {
  const void* const what = function != nullptr ? static_cast<const void*>(function)
                           : open != nullptr   ? static_cast<const void*>(open)
                                               : operation;
  std::string text = fmt::format("{}", what);
  if (function != nullptr) return text;
  for (const FunctionValue& used : functions) text += fmt::format("({})", used.identity());
  return text;
}

std::string FunctionValue::text_of_used() const {
  std::string text;
  for (const Var var : captured) text += " with " + to_string(var.type());
  for (const FunctionValue& used : functions) text += " uses " + used.identity();
  return text;
}

BodyChecker::FunctionValue BodyChecker::open_function(const Expr& expr) const {
  FunctionValue value{.text = fmt::format("lambda_{}", source_.locate(expr.span.begin).line), .open = &expr};
  for (const Symbol name : names_in(expr)) {
    const Var* var = scope_.find(name);
    if (var != nullptr && known(*var)) {
      value.names.push_back(name);
      value.captured.push_back(*var);
    }
    const FunctionValue* function = local_function(name);
    if (function != nullptr) value.functions.push_back(*function);
  }
  value.lambdas.push_back(expr.span.begin);
  for (const FunctionValue& function : value.functions) {
    value.captured.insert(value.captured.end(), function.captured.begin(), function.captured.end());
    value.lambdas.insert(value.lambdas.end(), function.lambdas.begin(), function.lambdas.end());
  }
  return value;
}

void BodyChecker::bind_used(const FunctionValue& open, std::span<const Var> values) {
  for (const Symbol name : names_in(*open.open)) {
    const Var* const around = scope_.find(name);
    if (around == nullptr || known(*around)) scope_.hide(name);  // else it is reported
  }
  std::size_t next = 0;
  for (const Symbol name : open.names) scope_.bind(name, values[next++]);
  local_functions_ = open.functions;
  for (FunctionValue& function : local_functions_) {
    for (Var& captured : function.captured) captured = values[next++];
  }
}

BodyChecker::FunctionValue BodyChecker::closed(const FunctionValue& open, std::span<const Wish> params,
                                               const Wish& result) {
  if (open.open->kind == Expr::Kind::Lambda) return closed_lambda(open, params, result);
  return closed_gradient(open, params);
}

/// Closes a gradient, or the name of a generic function.
BodyChecker::FunctionValue BodyChecker::closed_gradient(const FunctionValue& open,
                                                        std::span<const Wish> params) {
  const std::size_t names = scope_.size();
  std::vector<FunctionValue> around = local_functions_;
  bind_used(open, open.captured);
  FunctionValue value = open.open->kind == Expr::Kind::Gradient ? gradient_value(*open.open, params)
                                                                : named_function(*open.open, params);
  scope_.shrink(names);
  local_functions_ = std::move(around);
  value.name = open.name;
  return value;
}

/// A function of its own, which takes what it uses from around it behind its parameters.
BodyChecker::FunctionValue BodyChecker::closed_lambda(const FunctionValue& open, std::span<const Wish> params,
                                                      const Wish& result) {
  const Expr& expr = *open.open;
  const std::vector<Pattern> names = params_of(expr);
  if (names.size() != params.size()) {
    report(expr.span, fmt::format("expected a function of {}, found one of {}",
                                  count_of(params.size(), "argument"), names.size()));
    return {};
  }
  if (!require_distinct(names, "parameter", symbols_, diagnostics_)) return {};
  FunctionHead head{.name = open.name != 0 ? open.name : head_->name,
                    .span = expr.span,
                    .params = {names.begin(), names.end()}};
  std::string key = fmt::format("{}", expr.span.begin);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i].type && params[i]) head.params[i].type = without_symbols(*params[i]);
    if (!head.params[i].type && symbols_.is_place(names[i].name.value_or(0)))
      head.params[i].type = type_beside_place(expr);
    if (head.params[i].type) {
      key += ", " + to_string(*head.params[i].type);
      continue;
    }
    report(names[i].span, fmt::format("expected the type of '{0}', which nothing here tells; it is written "
                                      "fn({0}: i64) -> ...",
                                      spelled(names[i])));
    return {};
  }
  for (const Var var : open.captured) head.captured.push_back(var.type());
  key += open.text_of_used();
  if (result) key += " gives " + to_string(*result);
  FunctionValue value{.name = open.name, .text = open.text, .captured = open.captured};
  value.lambdas = open.lambdas;
  const auto made_before = closed_.find(key);
  if (made_before != closed_.end()) {
    value.function = made_before->second.function;
    for (const FunctionHead* const asked : made_before->second.asked) functions_.need(*asked);
    return value;
  }
  const std::size_t time = functions_.times_asked();
  std::vector<ir::ValueInfo> infos;
  for (std::size_t i = 0; i < head.value_count(); ++i) {
    infos.push_back({*head.value_type(i), fmt::format("{}{}", i < names.size() ? "x" : "captured", i + 1)});
  }
  try {
    const FunctionRef made = generated_.function_with_any_results(
        fmt::format("{}_{}", symbols_[head_->name], value.text), std::move(infos),
        [&](FunctionBuilder& builder) { return lambda_results(open, head, result, builder); });
    for (const Type& type : generated_[made].results) head.results.emplace_back(type);
    value.function = functions_.add_lambda(std::move(head), made);
    closed_[key] = {value.function, functions_.asked_since(time)};
    return value;
  } catch (const NoLambda&) {
    return {};
  }
}

Vars BodyChecker::lambda_results(const FunctionValue& open, const FunctionHead& head, const Wish& wish,
                                 FunctionBuilder& builder) {
  const Diagnostics::Part part(diagnostics_);
  FunctionBuilder* const around = std::exchange(f_, &builder);
  const std::size_t names = scope_.size();
  std::vector<FunctionValue> functions = local_functions_;
  builder.set_placement(around->placement());
  std::vector<Var> captured;
  for (std::size_t i = head.params.size(); i < head.value_count(); ++i) captured.push_back(builder.param(i));
  bind_used(open, captured);
  for (std::size_t i = 0; i < head.params.size(); ++i) bind(head.params[i], builder.param(i));
  const Vars results = this->values(open.open->a, wish ? Wishes({&wish, 1}) : Wishes());
  scope_.shrink(names);
  local_functions_ = std::move(functions);
  f_ = around;
  if (!diagnostics_.is_clear() || !all_known(results)) throw NoLambda();
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

/// Lambdas, and gradients, come last: they may take the types of their parameters from what other functions
/// give.
bool BodyChecker::infer_functions(TypeInference& types, const FunctionHead& generic,
                                  std::span<const ExprId> arguments, std::vector<FunctionValue>& found) {
  std::vector<FunctionValue> by_argument(arguments.size());
  for (const bool takes_lambdas : {false, true}) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const bool is_lambda = follows_types(arguments[i]);
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
    if (!is_right) continue;
    const auto places = types.function_at(generic.param_types[i]);
    std::vector<Wish> params;
    for (const std::size_t place : places->params) params.push_back(types.type_at(place));
    const Expr& giver = (*syntax_)[giver_of(arguments[i])];
    found.push_back(
        without_repetition(std::move(by_argument[i]), params, types.type_at(places->result), giver));
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
  const bool is_open = given.operation != nullptr &&
                       std::ranges::any_of(params, [](const Wish& param) { return !param.has_value(); });
  if (is_open) {
    report(place_of(argument),
           fmt::format("expected the types of what '{0}' takes, which nothing here tells; fn(x: i64, ...) -> "
                       "{0}(x, ...) says them",
                       given.text));
    return false;
  }
  report(place_of(argument), fmt::format("argument {} of '{}': expected {}, found {}", number, callee,
                                         text_of_function(params, wanted), text_of_function(own, result)));
  return false;
}

}  // namespace hiaton::lang
