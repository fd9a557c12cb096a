// BodyChecker: functions as data values. A value says which function it is, and has what that one takes
// along; a call of it tells the variants of its type apart.
#include <fmt/format.h>

#include <algorithm>

#include "lang/body_checker.h"
#include "lang/type_inference.h"
#include "tensor/dimensions.h"

namespace hiaton::lang {
namespace {

std::vector<Wish> wishes_for(const std::vector<Type>& types) {
  return {types.begin(), types.end()};
}

std::vector<ir::ValueInfo> infos_of(std::span<const Wish> params) {
  std::vector<ir::ValueInfo> infos;
  for (const Wish& param : params)
    infos.push_back({without_symbols(param.value_or(DType::I64)), fmt::format("x{}", infos.size() + 1)});
  return infos;
}

/// What the variants from `begin` to `end` do, by halves.
Var call_one(FunctionBuilder& f, const FunctionType& type, Var number, std::size_t begin, std::size_t end) {
  const Var value = f.param(type.params.size());
  if (begin + 1 < end) {
    const std::size_t middle = begin + (end - begin) / 2;
    return f.if_else(
        number < static_cast<int64_t>(middle), [&] { return call_one(f, type, number, begin, middle); },
        [&] { return call_one(f, type, number, middle, end); });
  }
  const FunctionType::Target& target = type.targets[begin];
  std::vector<Var> arguments;
  for (std::size_t i = 0; i < type.params.size(); ++i) arguments.push_back(f.param(i));
  for (std::size_t i = 0; i < target.captured.size(); ++i) arguments.push_back(f.field(value, begin, i));
  const Vars results = f.call(target.function, arguments);
  return results.size() == 1 ? f.claimed(results[0], type.result)
                             : f.make(type.result, 0, {results.begin(), results.end()});
}

}  // namespace

std::optional<BodyChecker::FunctionValue> BodyChecker::callee_named(Symbol name) {
  if (const Var* var = scope_.find(name); var != nullptr && known(*var)) {
    if (FunctionType* type = function_type(var->type())) return callee_of(*var, *type);
  }
  const FunctionValue* local = local_function(name);
  return local == nullptr ? std::nullopt : std::optional(*local);
}

/// Whether only its place tells its type: a number, an operation, or a function with open types. What is told
/// by its parts is left to `tells`.
bool BodyChecker::waits_for_type(ExprId id) const {
  const Expr& expr = (*syntax_)[giver_of(id)];
  if (expr.flex != Flex::Rigid) return true;
  if (expr.kind == Expr::Kind::Lambda) {
    const std::span<const Pattern> params = patterns(expr.list);
    return std::any_of(params.begin(), params.end(), [](const Pattern& param) { return !param.type; });
  }
  if (expr.kind != Expr::Kind::Name || is_value(expr) || is_construction(expr)) return false;
  const FunctionValue* const local = local_function(expr.name);
  const FunctionHead* const function = local != nullptr ? local->function : functions_.find(expr.name);
  if (function == nullptr) return local != nullptr || operations_.find(expr.name) != nullptr;
  return !function->type_params.empty() || function->takes_functions;
}

bool BodyChecker::is_value(const Expr& name) const {
  if (scope_.find(name.name) != nullptr || declarations_.parameter(name.name) != nullptr) return true;
  if (declarations_.size(name.name) != nullptr) return true;
  const FunctionHead* const function = functions_.find(name.name);
  return function != nullptr && function->is_constant && local_function(name.name) == nullptr;
}

/// The open places of a call have the types that the function wants there, where these are known.
std::vector<Pattern> BodyChecker::params_of(const Expr& lambda) {
  const std::span<const Pattern> params = patterns(lambda.list);
  std::vector<Pattern> typed(params.begin(), params.end());
  const Expr& call = (*syntax_)[lambda.a];
  if (typed.empty() || !symbols_.is_place(typed[0].name.value_or(0)) || call.kind != Expr::Kind::Call)
    return typed;
  const std::optional<FunctionValue> local = callee_named(call.name);
  const FunctionHead* const function = local ? local->function : functions_.find(call.name);
  const VariantPlace* const variant = declarations_.variant(call.name);
  const bool is_known = function != nullptr && !function->is_generic();
  for (std::size_t i = 0; i < call.list.count; ++i) {
    const Expr& argument = (*syntax_)[list(call.list)[i]];
    if (argument.kind != Expr::Kind::Name) continue;
    const auto param = std::find_if(typed.begin(), typed.end(),
                                    [&](const Pattern& other) { return other.name == argument.name; });
    if (param == typed.end()) continue;
    if (is_known && i < function->params.size() && function->params[i].type)
      param->type = without_symbols(*function->params[i].type);
    const bool has_field = variant != nullptr && call.fields.count == 0 && i < (*variant)->fields.size();
    if (has_field) param->type = field_type(variant->data, variant->index, i);
  }
  return typed;
}

/// That of the values among the operands, else what literals among them usually are.
Wish BodyChecker::type_beside_place(const Expr& lambda) {
  const Expr& call = (*syntax_)[lambda.a];
  const bool has_one = call.kind == Expr::Kind::Call && operation_of(call) != nullptr &&
                       operation_of(call)->def->fusion.value != Fusion::Tensor && !callee_named(call.name);
  if (!has_one) return std::nullopt;
  Wish type;
  for (const ExprId operand : list(call.list)) {
    const Expr& expr = (*syntax_)[operand];
    const Var* const var = expr.kind == Expr::Kind::Name ? scope_.find(expr.name) : nullptr;
    if (var != nullptr && known(*var)) return without_symbols(var->type());
    if (expr.flex != Flex::Rigid) type = Type(type_of_literal(expr.flex));
  }
  return type;
}

BodyChecker::FunctionValue BodyChecker::callee_of(Var value, FunctionType& type) {
  if (type.call == nullptr) {
    std::vector<ir::ValueInfo> infos = infos_of(wishes_for(type.params));
    infos.push_back({type.type, "f"});
    type.caller =
        generated_.declare("call_" + ir::as_name(to_string(type.type)), std::move(infos), {type.result});
    FunctionHead head{.name = static_cast<Symbol>(Tok::Fn)};
    for (const Type& param : type.params) head.params.push_back({.name = std::nullopt, .type = param});
    head.results.emplace_back(type.result);
    head.captured.push_back(type.type);
    type.call = functions_.add_lambda(std::move(head), *type.caller);
  }
  return {.function = type.call, .text = "call", .captured = {value}};
}

void BodyChecker::define_calls() {
  if (declarations_.function_types().all().empty()) return;
  declarations_.for_each_variant_name(
      [&](std::string_view name) { declarations_.function_types().reserve(name); });
  declarations_.function_types().finish();
  for (const FunctionType& type : declarations_.function_types().all()) {
    if (!type.caller) continue;
    generated_.define(*type.caller, [&](FunctionBuilder& f) -> Vars {
      const Var value = f.param(type.params.size());
      if (!type.targets.empty()) {
        const Var number = type.targets.size() > 1 ? f.variant(value) : Var();
        return call_one(f, type, number, 0, type.targets.size());
      }
      std::vector<Var> same;  // no value of the type is ever made
      for (std::size_t i = 0; i <= type.params.size(); ++i) same.push_back(f.param(i));
      return f.call(*type.caller, same);
    });
  }
}

Vars BodyChecker::call_of_value(const Expr& expr, const Wish& wish) {
  const Expr& callee = (*syntax_)[expr.a];
  if (callee.kind == Expr::Kind::Lambda || callee.kind == Expr::Kind::Gradient)
    return call_local(expr, open_function(callee), wish);
  if (const std::optional<FunctionValue> known = known_result(callee, std::nullopt))
    return call_local(expr, *known, wish);
  const Var found = value(expr.a);
  if (!known(found)) {
    for (const ExprId argument : list(expr.list)) value(argument);
    return unknown();
  }
  if (FunctionType* type = function_type(found.type()))
    return call_local(expr, callee_of(found, *type), wish);
  report(callee.span, fmt::format("expected a function before '(', found {}", to_string(found.type())));
  return unknown();
}

Var BodyChecker::function_as_value(ExprId id, const Wish& wish) {
  const Expr& expr = (*syntax_)[id];
  FunctionType* type = function_type(wish);
  if (expr.kind == Expr::Kind::Name) {
    const bool is_function = functions_.find(expr.name) != nullptr || is_construction(expr) ||
                             callee_named(expr.name) || operations_.find(expr.name) != nullptr;
    if (!is_function || (wish && type == nullptr)) {
      report_unknown_name(expr);
      return Var();
    }
  } else if (wish && type == nullptr) {
    report(expr.span, expr.kind == Expr::Kind::Gradient
                          ? "expected a value, found a function; its arguments stand behind it in parentheses"
                          : "expected a value, found a function");
    return Var();
  }
  if (type == nullptr) {
    const FunctionValue own = function_of_own_types(expr);
    if (!own.known()) return Var();
    std::vector<Type> params;
    for (const Pattern& param : own.function->params)
      params.push_back(without_symbols(param.type.value_or(DType::I64)));
    const std::optional<Type> result = result_of(own, {});
    if (!result) return Var();
    return data_of(own, declarations_.function_types().of(params, *result), expr);
  }
  const std::vector<Wish> params = wishes_for(type->params);
  const FunctionValue given = function_value(id, params, type->result);
  return given.known() ? data_of(given, *type, expr) : stand_in(type->type);
}

/// Unknown where its types come from its place, which is reported.
BodyChecker::FunctionValue BodyChecker::function_of_own_types(const Expr& expr) {
  const auto types_of_params = [&](const Expr& lambda) {
    std::vector<Wish> types;
    for (const Pattern& param : params_of(lambda)) types.push_back(param.type);
    return types;
  };
  if (expr.kind == Expr::Kind::Lambda) return lambda(expr, types_of_params(expr), std::nullopt);
  if (expr.kind == Expr::Kind::Gradient) {
    const ExprId of = syntax_->gradients[expr.index].lambda;
    return gradient_value(expr, of.valid() ? types_of_params((*syntax_)[of]) : std::vector<Wish>());
  }
  FunctionValue value;
  if (const auto local = callee_named(expr.name); local && local->is_open()) {
    if (local->open->kind == Expr::Kind::Lambda)
      return closed(*local, types_of_params(*local->open), std::nullopt);
  } else {
    const FunctionHead* const function = functions_.find(expr.name);
    const bool is_open = !local && function != nullptr && !function->params.empty() &&
                         function->is_generic() &&
                         (!function->type_params.empty() || function->takes_functions);
    if (!is_open) value = named_function(expr, {});
  }
  if (value.function != nullptr) return value;
  if (value.operation == nullptr && !diagnostics_.is_clear()) return {};
  if (value.operation != nullptr && takes_floats_alone(*value.operation->def))
    return function_of(*value.operation, std::vector<Wish>(value.operation->def->arity(), Type(DType::F64)),
                       expr);
  report(expr.span, fmt::format("expected the type of the function '{0}', which nothing here tells; it is "
                                "written let f: fn(i64) -> i64 = {0}",
                                symbols_[expr.name]));
  return {};
}

bool BodyChecker::has_type(const FunctionValue& function, const FunctionType& type) const {
  const FunctionHead& head = *function.function;
  if (head.params.size() != type.params.size()) return false;
  Dimensions dimensions;
  for (std::size_t i = 0; i < type.params.size(); ++i) {
    if (!dimensions.bind(head.params[i].type.value_or(type.params[i]), type.params[i])) return false;
  }
  std::vector<Type> results;
  for (const std::optional<Type>& result : head.results)
    results.push_back(without_symbols(dimensions.substitute(result.value_or(DType::I64))));
  const Type result = results.size() == 1 ? results[0] : declarations_.tuple_of(results);
  return compatible(result, type.result);
}

Var BodyChecker::data_of(const FunctionValue& function, FunctionType& type, const Expr& expr) {
  FunctionValue value = function;
  if (value.operation != nullptr) {
    value = function_of(*value.operation, wishes_for(type.params), expr);
    if (!value.known()) return stand_in(type.type);
  }
  if (!has_type(value, type)) {
    std::vector<Wish> own;
    for (const Pattern& param : value.function->params) own.push_back(param.type);
    report(expr.span, fmt::format("expected {}, found {}", to_string(type.type),
                                  text_of_function(own, result_of(value, own))));
    return stand_in(type.type);
  }
  if (value.function == type.call && value.captured.size() == 1) return value.captured[0];
  FunctionType::Target target{functions_.reference(*value.function), {}};
  for (const Var captured : value.captured) target.captured.push_back(without_symbols(captured.type()));
  const std::size_t variant =
      declarations_.function_types().variant(type, target, generated_[target.function].name);
  f_->set_span(expr.span);
  return f_->make(type.type, variant, value.captured);
}

BodyChecker::FunctionValue BodyChecker::without_repetition(FunctionValue function,
                                                           std::span<const Wish> params, const Wish& result,
                                                           const Expr& expr) {
  const std::vector<uint32_t>& lambdas = function.lambdas;
  const bool repeats =
      !lambdas.empty() && std::find(lambdas.begin() + 1, lambdas.end(), lambdas[0]) != lambdas.end();
  const bool are_known = result && std::all_of(params.begin(), params.end(), [](const Wish& p) { return p; });
  if (!repeats || !are_known) return function;
  std::vector<Type> types;
  for (const Wish& param : params) types.push_back(without_symbols(*param));
  FunctionType& type = declarations_.function_types().of(types, without_symbols(*result));
  const Var value = data_of(function, type, expr);
  return known(value) ? callee_of(value, type) : function;
}

BodyChecker::FunctionValue BodyChecker::taking_data(const FunctionHead& generic, std::span<const Wish> params,
                                                    const Expr& expr) {
  const bool fits = params.size() == generic.params.size();
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (fits && (!generic.params[i].is_function || function_type(params[i]) != nullptr)) continue;
    report(expr.span,
           fmt::format("expected a function of {}, found '{}': {}", count_of(params.size(), "argument"),
                       symbols_[generic.name], functions_.signature(generic)));
    return {};
  }
  FunctionHead head{.name = generic.name, .span = expr.span};
  for (const Wish& param : params)
    head.params.push_back({.name = std::nullopt, .type = without_symbols(*param)});
  const FunctionHead* made_for = nullptr;
  const FunctionRef made = generated_.function_with_any_results(
      fmt::format("{}_of_values", symbols_[generic.name]), infos_of(params), [&](FunctionBuilder& f) -> Vars {
        TypeInference types(generic.type_params, source_, tokens_, declarations_, diagnostics_);
        std::vector<FunctionValue> functions;
        std::vector<Var> arguments;
        for (std::size_t i = 0; i < params.size(); ++i) {
          types.match(generic.param_types[i], *params[i]);
          if (generic.params[i].is_function) {
            functions.push_back(callee_of(f.param(i), *function_type(params[i])));
          } else {
            arguments.push_back(f.param(i));
          }
        }
        if (require_complete(types, generic.name, expr.span))
          made_for = instance_of(generic, types, expr.span, functions);
        if (made_for == nullptr) return f.constant(int64_t{0});
        for (const FunctionValue& function : functions) arguments.push_back(function.captured[0]);
        return f.call(functions_.reference(*made_for), arguments);
      });
  if (made_for == nullptr) return {};
  for (const Type& type : generated_[made].results) head.results.emplace_back(type);
  return {.function = functions_.add_lambda(std::move(head), made),
          .text = std::string(symbols_[generic.name])};
}

/// A function that makes values of the variant.
BodyChecker::FunctionValue BodyChecker::variant_function(const Expr& expr, std::span<const Wish> params,
                                                         const Wish& result) {
  std::optional<VariantPlace> place = variant_of(expr, result);
  const GenericVariant* const generic = declarations_.generic_variant(expr.name);
  const bool are_known = std::all_of(params.begin(), params.end(), [](const Wish& param) { return param; });
  if (!place && generic != nullptr &&
      generic->type->variants[generic->index].fields.size() == params.size() && are_known) {
    TypeInference types(generic->type->params, source_, tokens_, declarations_, diagnostics_);
    for (std::size_t i = 0; i < params.size(); ++i) types.match((*generic)->fields[i].type, *params[i]);
    if (!require_complete(types, expr.name, expr.span)) return {};
    if (const std::optional<Type> type = types.instance_of(*generic->type, expr.span))
      place = VariantPlace{*type, generic->index};
  }
  if (!place && Declarations::list_variant(symbols_[expr.name]) && params.size() == 2 && params[0])
    place = VariantPlace{declarations_.list_of(without_symbols(*params[0])),
                         *Declarations::list_variant(symbols_[expr.name])};
  if (!place || (*place)->fields.size() != params.size() || params.empty()) {
    report(expr.span, fmt::format("expected a function of {}, found the variant '{}'",
                                  count_of(params.size(), "argument"), symbols_[expr.name]));
    return {};
  }
  FunctionHead head{.name = expr.name, .span = expr.span};
  std::vector<Wish> fields;
  for (std::size_t i = 0; i < params.size(); ++i) {
    fields.emplace_back(field_type(place->data, place->index, i));
    head.params.push_back({.name = std::nullopt, .type = *fields.back()});
  }
  head.results.emplace_back(place->data);
  const FunctionRef made =
      generated_.function(fmt::format("make_{}_{}", (*place)->name, ir::as_name(to_string(place->data))),
                          infos_of(fields), {place->data}, [&](FunctionBuilder& f, FunctionRef) -> Vars {
                            std::vector<Var> values;
                            for (std::size_t i = 0; i < fields.size(); ++i) values.push_back(f.param(i));
                            return f.make(place->data, place->index, values);
                          });
  return {.function = functions_.add_lambda(std::move(head), made), .text = std::string(symbols_[expr.name])};
}

}  // namespace hiaton::lang
