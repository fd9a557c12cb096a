// BodyChecker: calls of generic functions and values of generic data types.
#include <fmt/format.h>

#include <algorithm>

#include "lang/body_checker.h"
#include "lang/type_inference.h"

namespace hiaton::lang {
namespace {

/// How many uses of generic functions may lead to each other with types of their own: more would never end.
constexpr std::size_t kMaxFunctionDepth = 20;

}  // namespace

/// What takes its type from its place: it comes after the arguments that have a type of their own.
bool BodyChecker::follows_its_place(ExprId id) const {
  const Expr& expr = (*syntax_)[giver_of(id)];
  if (expr.flex != Flex::Rigid || expr.kind == Expr::Kind::List || expr.kind == Expr::Kind::Lambda)
    return true;
  if (expr.kind == Expr::Kind::Tuple) {
    const std::span<const ExprId> parts = list(expr.list);
    return std::any_of(parts.begin(), parts.end(), [&](ExprId part) { return follows_its_place(part); });
  }
  const bool may_construct = expr.kind == Expr::Kind::Name || expr.kind == Expr::Kind::Call;
  return may_construct && expr.list.count == 0 && expr.types.count == 0 && is_construction(expr) &&
         declarations_.variant(expr.name) == nullptr;
}

/// A list in brackets is no tensor where the type says so, whatever its elements are.
Var BodyChecker::argument_for(TypeInference& types, ExprId argument, std::size_t type) {
  const Wish wish = types.type_at(type);
  const Expr& giver = (*syntax_)[giver_of(argument)];
  const bool is_list =
      !wish && giver.kind == Expr::Kind::List && giver.list.count > 0 && types.is_list_at(type);
  const Var found = is_list ? list_of_elements(giver, std::nullopt) : value(argument, wish);
  if (known(found)) types.match(type, found.type());
  return found;
}

std::vector<Var> BodyChecker::infer(TypeInference& types, std::span<const ExprId> arguments,
                                    std::span<const std::size_t> places, Wishes wishes,
                                    std::span<const std::size_t> results, bool takes_functions) {
  std::vector<Var> found(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (takes_functions && types.function_at(places[i])) continue;
    if (!follows_its_place(arguments[i])) found[i] = argument_for(types, arguments[i], places[i]);
  }
  const bool wants_tuple = wishes.size() == 1 && wishes[0] && is_tuple(*wishes[0]) && results.size() > 1;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const bool has_part = wants_tuple && i < wishes[0]->data->variants[0].fields.size();
    if (has_part) types.match(results[i], field_type(*wishes[0], 0, i));
    if (wishes.size() == results.size() && wishes[i]) types.match(results[i], *wishes[i]);
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (takes_functions && types.function_at(places[i])) continue;
    if (follows_its_place(arguments[i])) found[i] = argument_for(types, arguments[i], places[i]);
  }
  return found;
}

bool BodyChecker::require_complete(const TypeInference& types, Symbol name, Span span) {
  const std::string missing = types.missing();
  if (missing.empty()) return true;
  report(span,
         fmt::format("expected the type {0} of '{1}', which nothing here tells; in brackets it is written "
                     "{1}[...](...)",
                     missing, symbols_[name]));
  return false;
}

/// The arguments must fit the types that were inferred.
std::optional<BodyChecker::Resolved> BodyChecker::resolve_generic(const Expr& expr,
                                                                  const FunctionHead& generic,
                                                                  std::span<const std::optional<Type>> given,
                                                                  Wishes wishes) {
  const std::span<const ExprId> arguments = list(expr.list);
  const bool fits = arguments.size() == generic.params.size();
  if (!fits || given.size() > generic.type_params.size()) {
    report(expr.span, fits ? fmt::format("'{}' takes {}, found {}: {}", symbols_[generic.name],
                                         count_of(generic.type_params.size(), "type"), given.size(),
                                         functions_.signature(generic))
                           : fmt::format("'{}' takes {}, found {}: {}", symbols_[generic.name],
                                         count_of(generic.params.size(), "argument"), arguments.size(),
                                         functions_.signature(generic)));
    for (ExprId argument : arguments) value(argument);
    return std::nullopt;
  }
  TypeInference types(generic.type_params, source_, tokens_, declarations_, diagnostics_);
  types.set(given);
  const std::size_t findings = diagnostics_.count();
  const std::vector<Var> found =
      infer(types, arguments, generic.param_types, wishes, generic.result_types, true);
  std::vector<FunctionValue> functions;
  const bool has_functions =
      diagnostics_.count() == findings && infer_functions(types, generic, arguments, functions);
  if (!has_functions || diagnostics_.count() > findings || !require_complete(types, generic.name, expr.span))
    return std::nullopt;
  const FunctionHead* head = instance_of(generic, types, expr.span, functions);
  if (head == nullptr) return std::nullopt;
  Resolved resolved{head, {}};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (generic.params[i].is_function) continue;
    const std::optional<Type>& type = head->params[resolved.arguments.size()].type;
    resolved.arguments.push_back(require(arguments[i], found[i], type, [&] {
      return fmt::format("argument {} of '{}'", i + 1, symbols_[generic.name]);
    }));
  }
  for (const FunctionValue& function : functions) {
    resolved.arguments.insert(resolved.arguments.end(), function.captured.begin(), function.captured.end());
  }
  return resolved;
}

/// "'wrap' for T = i64, 'wrap' for T = List[i64]": the first of those that led to a function.
std::string BodyChecker::first_uses(const FunctionHead& last) const {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (const FunctionHead* use = &last; use->depth > 0; use = use->made_for) {
    if (use->depth > kShown) continue;
    text = fmt::format("'{}' for {}{}{}", symbols_[use->name], text_of_use(*use, declarations_),
                       text.empty() ? "" : ", ", text);
  }
  return text;
}

/// nullptr where the types would go on for ever or the head is wrong, which is reported.
const FunctionHead* BodyChecker::instance_of(const FunctionHead& generic, const TypeInference& types,
                                             Span span, const std::vector<FunctionValue>& functions) {
  if (head_->depth == kMaxFunctionDepth) {
    report(span, fmt::format("this would need endlessly many functions: {}, and so on", first_uses(*head_)));
    return nullptr;
  }
  std::vector<FunctionArgument> given;
  std::size_t next = 0;
  for (const Pattern& param : generic.params) {
    if (!param.is_function) continue;
    const FunctionValue& value = functions[next++];
    FunctionArgument& argument = given.emplace_back(FunctionArgument{
        .name = *param.name, .function = value.function, .operation = value.operation, .text = value.text});
    argument.lambdas = value.lambdas;
    for (const Var captured : value.captured) argument.captured.push_back(captured.type());
  }
  return functions_.instance(generic, types.arguments(), *head_, given);
}

const FunctionHead* BodyChecker::instance_for(const FunctionHead& generic, const std::vector<Type>& arguments,
                                              Span span) {
  if (generic.takes_functions) {
    report(span, fmt::format("expected a function of values, found '{}', which takes a function itself",
                             symbols_[generic.name]));
    return nullptr;
  }
  TypeInference types(generic.type_params, source_, tokens_, declarations_, diagnostics_);
  for (std::size_t i = 0; i < std::min(arguments.size(), generic.param_types.size()); ++i) {
    types.match(generic.param_types[i], arguments[i]);
  }
  return require_complete(types, generic.name, span) ? instance_of(generic, types, span) : nullptr;
}

Var BodyChecker::construct_generic(const Expr& expr, const GenericVariant& variant) {
  std::vector<std::size_t> places;
  std::vector<Field> fields;  // their types are not known yet, and not asked for
  for (const GenericType::FieldPlace& field : variant->fields) {
    fields.push_back({std::string(symbols_[field.name]), Type()});
  }
  const std::optional<std::vector<std::size_t>> targets =
      fields_of_arguments(expr, Variant{std::string(symbols_[variant->name]), fields});
  if (!targets) {
    for (ExprId argument : list(expr.list)) value(argument);
    return Var();
  }
  for (const std::size_t target : *targets) places.push_back(variant->fields[target].type);
  TypeInference types(variant.type->params, source_, tokens_, declarations_, diagnostics_);
  const std::size_t findings = diagnostics_.count();
  const std::vector<Var> found = infer(types, list(expr.list), places, {}, {});
  if (diagnostics_.count() > findings || !require_complete(types, variant->name, expr.span)) return Var();
  const std::optional<Type> type = types.instance_of(*variant.type, expr.span);
  if (!type) return Var();
  const VariantPlace place{*type, variant.index};
  std::vector<Var> values(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t field = (*targets)[i];
    values[field] =
        require(list(expr.list)[i], found[i], hiaton::field_type(*type, variant.index, field),
                [&] { return fmt::format("field '{}' of '{}'", place->fields[field].name, place->name); });
  }
  f_->set_span(expr.span);
  return are_known(values) ? f_->make(*type, variant.index, values) : stand_in(*type);
}

}  // namespace hiaton::lang
