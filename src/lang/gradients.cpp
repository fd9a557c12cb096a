// BodyChecker: gradients of functions, which a pass derives later.
#include <fmt/format.h>

#include <algorithm>

#include "lang/body_checker.h"
#include "lang/type_inference.h"

namespace hiaton::lang {
namespace {

bool is_vjp(const GradientOf::Step& step) {
  return ir::is_vjp(step.kind);
}

}  // namespace

/// Where a vjp is taken, the gradients of the results stand behind the arguments of the function.
Vars BodyChecker::gradient(const Expr& expr) {
  const GradientOf& gradient = syntax_->gradients[expr.index];
  FunctionValue callee;
  std::optional<std::vector<Var>> arguments = arguments_for_gradient(expr, callee);
  if (!arguments || !callee.known() || !diagnostics_.is_clear()) return unknown();
  const std::size_t taken = arguments->size() + callee.function->function_places.size();
  const std::size_t params = callee.function->params.size();
  callee = derived(std::move(callee), gradient);
  if (!callee.known()) return unknown();
  const std::span<const ExprId> given = list(expr.list).subspan(taken);
  const auto types = std::span(callee.function->params).subspan(params);
  if (given.size() != types.size()) {
    report(expr.span, fmt::format("'{})' takes {}, found {}: those of '{}', then a gradient for each float "
                                  "result",
                                  source_.text({expr.span.begin, expr.sign.end}),
                                  count_of(taken + types.size(), "argument"), expr.list.count,
                                  source_.text(gradient.span)));
    return stand_ins(callee.function->results);
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Wish type = types[i].type;
    arguments->push_back(require(given[i], value(given[i], type), type,
                                 [&] { return fmt::format("the gradient of result {}", i + 1); }));
  }
  arguments->insert(arguments->end(), callee.captured.begin(), callee.captured.end());
  if (!diagnostics_.is_clear()) return unknown();
  return emit_call(*callee.function, *arguments, expr.span);
}

/// Types of arguments decide what a generic function, a lambda or an operation is. Empty where there is no
/// such function or the arguments do not fit, which is reported.
std::optional<std::vector<Var>> BodyChecker::arguments_for_gradient(const Expr& expr, FunctionValue& callee) {
  const GradientOf& gradient = syntax_->gradients[expr.index];
  const bool has_more = std::any_of(gradient.steps.begin(), gradient.steps.end(), is_vjp);
  Expr call = expr;
  const auto take = [&](std::size_t count) {
    if (has_more) call.list.count = std::min(call.list.count, static_cast<uint32_t>(count));
  };
  if (gradient.lambda.valid()) {
    const Expr& lambda = (*syntax_)[gradient.lambda];
    take(lambda.list.count);
    return arguments_of_open(call, open_function(lambda), callee);
  }
  const std::optional<FunctionValue> local = callee_named(gradient.function);
  if (local.has_value() && local->is_open()) {
    if (local->open->kind == Expr::Kind::Lambda) take(local->open->list.count);
    return arguments_of_open(call, FunctionValue(*local), callee);
  }
  const FunctionHead* function = local.has_value() ? local->function : functions_.find(gradient.function);
  const Operation* const operation = local.has_value()     ? local->operation
                                     : function == nullptr ? operations_.find(gradient.function)
                                                           : nullptr;
  if (operation != nullptr) {
    if (!operation->def->is_variadic()) take(operation->def->arity());
    return arguments_of_operation(call, *operation, callee);
  }
  if (function == nullptr || !function->readable) {
    if (function == nullptr) functions_.report_unknown(gradient);
    for (ExprId argument : list(expr.list)) value(argument);
    return std::nullopt;
  }
  take(function->params.size());
  if (function->is_generic()) {
    std::optional<Resolved> resolved = resolve_generic(call, *function, {}, {});
    if (!resolved) return std::nullopt;
    const auto captured =
        resolved->arguments.begin() + static_cast<std::ptrdiff_t>(resolved->callee->params.size());
    callee = {.function = resolved->callee,
              .text = std::string(symbols_[gradient.function]),
              .captured = {captured, resolved->arguments.end()}};
    resolved->arguments.erase(captured, resolved->arguments.end());
    return std::move(resolved->arguments);
  }
  callee = local.has_value()
               ? *local
               : FunctionValue{.function = function, .text = std::string(symbols_[gradient.function])};
  if (call.list.count == function->params.size() || !local.has_value())
    return call_arguments(call, *function);
  report(expr.span, fmt::format("'{}' takes {}, found {}", symbols_[gradient.function],
                                count_of(function->params.size(), "argument"), call.list.count));
  return std::nullopt;
}

/// Literals take the type of the first argument that has one of its own.
std::optional<std::vector<Var>> BodyChecker::arguments_of_operation(const Expr& call,
                                                                    const Operation& operation,
                                                                    FunctionValue& callee) {
  const std::span<const ExprId> ids = list(call.list);
  std::vector<Var> arguments(ids.size());
  Wish type;
  for (const bool follows : {false, true}) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (((*syntax_)[ids[i]].flex != Flex::Rigid) != follows) continue;
      arguments[i] = value(ids[i], type ? type : Wish(Type(DType::F64)));
      if (!type && known(arguments[i])) type = arguments[i].type();
    }
  }
  if (!are_known(arguments)) return std::nullopt;
  callee = function_of(operation, types_of(arguments), call);
  return arguments;
}

/// A function that does what the operation does; unknown where it does not take such operands, which is
/// reported.
BodyChecker::FunctionValue BodyChecker::function_of(const Operation& operation, std::span<const Wish> params,
                                                    const Expr& expr) {
  const OpDef& op = *operation.def;
  if (!op.attributes.empty() || !op.takes(params.size())) {
    report(expr.span, fmt::format("expected a function of {}, found the operation {}",
                                  count_of(params.size(), "argument"), to_string(Signature(op))));
    return {};
  }
  FunctionHead head{.name = expr.name, .span = expr.span};
  std::vector<ir::ValueInfo> infos;
  std::vector<Type> types;
  for (const Wish& param : params) {
    types.push_back(without_symbols(param.value_or(DType::F64)));
    head.params.push_back({.name = std::nullopt, .type = types.back()});
    infos.push_back({types.back(), fmt::format("x{}", infos.size() + 1)});
  }
  try {
    const Type result = op.result_type({.operands = types});
    const FunctionRef made = generated_.function(fmt::format("apply_{}", op.name.value), infos, {result},
                                                 [&](FunctionBuilder& f, FunctionRef) {
                                                   std::vector<Var> operands;
                                                   for (std::size_t i = 0; i < infos.size(); ++i)
                                                     operands.push_back(f.param(i));
                                                   return f.op(op, operands);
                                                 });
    head.results.emplace_back(result);
    return {.function = functions_.add_lambda(std::move(head), made), .text = std::string(op.name.value)};
  } catch (const ProgramError& error) {
    report(expr.span, fmt::format("[{}] {}", op.name.value, error.what()));
    return {};
  }
}

BodyChecker::FunctionValue BodyChecker::gradient_value(const Expr& expr, std::span<const Wish> params) {
  const GradientOf& gradient = syntax_->gradients[expr.index];
  const bool has_more = std::any_of(gradient.steps.begin(), gradient.steps.end(), is_vjp);
  const auto first = [&](std::size_t count) {
    return has_more ? params.first(std::min(count, params.size())) : params;
  };
  if (gradient.lambda.valid()) {
    const Expr& function = (*syntax_)[gradient.lambda];
    return derived(lambda(function, first(function.list.count), std::nullopt), gradient);
  }
  const Expr name{.kind = Expr::Kind::Name, .name = gradient.function, .span = gradient.span};
  const FunctionHead* const function = functions_.find(gradient.function);
  const bool is_local = local_function(gradient.function) != nullptr;
  FunctionValue of =
      named_function(name, !is_local && function != nullptr ? first(function->params.size()) : params);
  if (of.operation != nullptr) {
    const OpDef& op = *of.operation->def;
    of = function_of(*of.operation, first(op.is_variadic() ? params.size() : op.arity()), name);
  }
  return derived(std::move(of), gradient);
}

BodyChecker::FunctionValue BodyChecker::derived(FunctionValue of, const GradientOf& gradient) {
  for (const GradientOf::Step& step : gradient.steps) {
    if (!of.known()) return {};
    of = derived_once(of, step, gradient.span);
  }
  return of;
}

BodyChecker::FunctionValue BodyChecker::derived_once(const FunctionValue& of, const GradientOf::Step& step,
                                                     Span span) {
  const FunctionHead& function = *of.function;
  const std::optional<ir::GradientForm> form = functions_.form_of(step, function);
  if (!form) return {};
  try {
    FunctionRef made = generated_.gradient(functions_.reference(function), *form);
    gradient_places_.emplace(made.id.index(), span);
    FunctionHead head{.name = function.name, .span = function.span, .params = function.params};
    head.captured = function.captured;
    head.function_places = function.function_places;
    const std::vector<ir::ValueInfo>& params = generated_[made].params;
    for (std::size_t i = function.value_count(); i < params.size(); ++i) {
      head.params.push_back({.name = std::nullopt, .type = params[i].type});
    }
    if (is_vjp(step) && !head.captured.empty()) made = with_captured_last(head, function.params.size(), made);
    for (const Type& result : generated_[made].results) head.results.emplace_back(result);
    return {.name = of.name,
            .function = functions_.add_lambda(std::move(head), made),
            .text = fmt::format("{}_{}", ir::name_of(step.kind), of.text),
            .captured = of.captured,
            .lambdas = of.lambdas};
  } catch (const ProgramError& error) {
    report(span, error.what());
    return {};
  }
}

/// A vjp takes what its function takes, captured values included, and then gradients of results.
FunctionRef BodyChecker::with_captured_last(const FunctionHead& head, std::size_t params, FunctionRef vjp) {
  std::vector<ir::ValueInfo> infos;
  for (std::size_t i = 0; i < head.value_count(); ++i) {
    infos.push_back({head.value_type(i).value_or(DType::I64), fmt::format("x{}", i + 1)});
  }
  return generated_.function_with_any_results(fmt::format("{}_of_captured", generated_[vjp].name),
                                              std::move(infos), [&](FunctionBuilder& f) {
                                                std::vector<Var> arguments;
                                                const auto add = [&](std::size_t begin, std::size_t end) {
                                                  for (std::size_t i = begin; i < end; ++i)
                                                    arguments.push_back(f.param(i));
                                                };
                                                add(0, params);
                                                add(head.params.size(), head.value_count());
                                                add(params, head.params.size());
                                                return f.call(vjp, arguments);
                                              });
}

}  // namespace hiaton::lang
