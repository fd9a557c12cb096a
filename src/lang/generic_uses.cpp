// BodyChecker: calls of generic functions and values of generic data types.
#include <fmt/format.h>

#include <algorithm>

#include "lang/body_checker.h"
#include "lang/together.h"
#include "lang/type_inference.h"

namespace hiaton::lang {
namespace {

/// How many uses of one generic function may lead to each other, each for other types or functions: more
/// would never end.
constexpr std::size_t kMostUsesOfOne = 20;

/// How many of the uses that led to this one are of the generic function.
std::size_t count_uses(const FunctionHead& generic, const FunctionHead* last) {
  std::size_t count = 0;
  for (; last != nullptr && last->depth > 0; last = last->made_for) count += last->begin == generic.begin;
  return count;
}

}  // namespace

bool BodyChecker::is_open_variant(const Expr& expr) const {
  return expr.types.count == 0 && is_construction(expr) && declarations_.variant(expr.name) == nullptr;
}

std::vector<BodyChecker::Tells> BodyChecker::tells_each(std::span<const ExprId> ids) const {
  std::vector<Tells> told;
  for (const ExprId id : ids) told.push_back(tells(id));
  return told;
}

/// Functions take their types from the other fields.
BodyChecker::Tells BodyChecker::told_by_parts(const Expr& construction) const {
  const std::vector<Tells> told = tells_each(list(construction.list));
  if (leaves_types_open(construction, told)) return Tells::Nothing;
  std::optional<Tells> least;
  for (const Tells part : told) {
    if (part != Tells::Nothing) least = std::max(least.value_or(part), part);
  }
  return least.value_or(Tells::Nothing);
}

bool BodyChecker::leaves_types_open(const Expr& construction, std::span<const Tells> told) const {
  const GenericVariant* const variant = declarations_.generic_variant(construction.name);
  if (variant == nullptr) return false;
  const std::span<const ExprId> parts = list(construction.list);
  const std::span<const FieldName> names = field_names(construction.fields);
  const std::vector<GenericType::FieldPlace>& fields = (*variant)->fields;
  TypeInference types(variant->type->params, source_, tokens_, declarations_, diagnostics_);
  std::vector<Symbol> open = variant->type->params;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t first_named = parts.size() - names.size();
    const auto is_it = [&](const GenericType::FieldPlace& field) {
      return i < first_named ? &field == fields.data() + i : field.name == names[i - first_named].name;
    };
    const auto field = std::ranges::find_if(fields, is_it);
    if (field == fields.end()) continue;
    if (told[i] == Tells::Nothing && !types.function_at(field->type)) continue;
    for (const Symbol param : types.params_at(field->type)) std::erase(open, param);
  }
  return !open.empty();
}

BodyChecker::Tells BodyChecker::told_by_arguments(const Expr& call, const FunctionHead& generic) const {
  const std::vector<Tells> told = tells_each(list(call.list));
  const auto is_nothing = [](Tells part) { return part == Tells::Nothing; };
  if (std::ranges::all_of(told, is_nothing)) return Tells::Nothing;
  const bool fits = told.size() == generic.params.size() && told.size() == generic.param_types.size();
  if (!fits) return Tells::Type;  // which is an error of its own
  TypeInference types(generic.type_params, source_, tokens_, declarations_, diagnostics_);
  std::vector<Tells> by_param(generic.type_params.size(), Tells::Nothing);
  const auto told_of = [&](Symbol param) -> Tells& {
    return by_param[std::ranges::find(generic.type_params, param) - generic.type_params.begin()];
  };
  for (std::size_t i = 0; i < told.size(); ++i) {
    const Tells part = generic.params[i].is_function ? Tells::Type : told[i];
    for (const Symbol param : types.params_at(generic.param_types[i]))
      told_of(param) = std::min(told_of(param), part);
  }
  Tells least = Tells::Type;
  for (const std::size_t result : generic.result_types) {
    for (const Symbol param : types.params_at(result)) least = std::max(least, told_of(param));
  }
  return least;
}

BodyChecker::Tells BodyChecker::tells(ExprId id) const {
  const Expr& expr = (*syntax_)[giver_of(id)];
  if (expr.flex != Flex::Rigid) return expr.flex == Flex::Float ? Tells::Float : Tells::Integer;
  const auto told_by_all = [&](const auto& choose) {
    const std::span<const ExprId> parts = list(expr.list);
    Tells told = tells(parts.front());
    for (const ExprId part : parts.subspan(1)) told = choose(told, tells(part));
    return told;
  };
  const auto least = [](Tells a, Tells b) { return std::min(a, b); };
  const auto most = [](Tells a, Tells b) { return std::max(a, b); };
  switch (expr.kind) {
    case Expr::Kind::List:
      return expr.list.count == 0 ? Tells::Nothing : std::max(Tells::Elements, told_by_all(least));
    case Expr::Kind::Tuple:
      return told_by_all(most);
    case Expr::Kind::If:
      return std::min(tells(expr.b), tells(expr.c));
    case Expr::Kind::Name: {
      if (is_open_variant(expr)) return Tells::Nothing;
      const Operation* const operation = operations_.find(expr.name);
      const bool is_operation =
          operation != nullptr && !is_value(expr) && local_function(expr.name) == nullptr;
      if (is_operation && takes_floats_alone(*operation->def)) return Tells::Float;
      break;
    }
    case Expr::Kind::Call: {
      if (is_open_variant(expr)) return told_by_parts(expr);
      if (local_function(expr.name) != nullptr) return Tells::Type;
      if (is_over_list(expr) && symbols_[expr.name] != "map" && expr.list.count > 1)
        return tells(list(expr.list)[1]) == Tells::Nothing ? Tells::Nothing : Tells::Type;
      const FunctionHead* const function = functions_.find(expr.name);
      const bool is_open = function != nullptr && !function->type_params.empty() && expr.types.count == 0;
      return is_open ? told_by_arguments(expr, *function) : Tells::Type;
    }
    case Expr::Kind::Gradient:
      return expr.is_called ? Tells::Type : Tells::Nothing;
    default:
      break;
  }
  return waits_for_type(id) ? Tells::Nothing : Tells::Type;
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

/// Arguments with a type of their own come first, then what is wished, then literals, and last what takes its
/// type from its place.
std::vector<Var> BodyChecker::infer(TypeInference& types, std::span<const ExprId> arguments,
                                    std::span<const std::size_t> places, Wishes wishes,
                                    std::span<const std::size_t> results, bool takes_functions) {
  std::vector<Var> found(arguments.size());
  std::vector<Tells> told(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) told[i] = tells(arguments[i]);
  const auto take = [&](Tells what) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (told[i] != what || (takes_functions && types.function_at(places[i]))) continue;
      found[i] = argument_for(types, arguments[i], places[i]);
    }
  };
  take(Tells::Type);
  const bool wants_tuple = wishes.size() == 1 && wishes[0] && is_tuple(*wishes[0]) && results.size() > 1;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const bool has_part = wants_tuple && i < wishes[0]->data->variants[0].fields.size();
    if (has_part) types.match(results[i], field_type(*wishes[0], 0, i));
    if (wishes.size() == results.size() && wishes[i]) types.match(results[i], *wishes[i]);
  }
  for (const Tells what : {Tells::Elements, Tells::Float, Tells::Integer}) take(what);
  infer_together(types, arguments, places, told);
  take(Tells::Nothing);
  return found;
}

bool BodyChecker::require_fitting(TypeInference& types, std::span<const ExprId> arguments,
                                  std::span<const std::size_t> places, std::span<const Var> found,
                                  const std::function<std::string(std::size_t)>& describe) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!known(found[i]) || types.may_be(places[i], found[i].type())) continue;
    const std::string expected = types.text_at(places[i]);
    report(place_of(arguments[i]),
           fmt::format("{}: expected {}, found {}{}", describe(i), expected, to_string(found[i].type()),
                       hint_at_type(expected, found[i].type())));
    return false;
  }
  return true;
}

bool BodyChecker::require_complete(const TypeInference& types, Symbol name, Span span, bool takes_arguments) {
  const std::string missing = types.missing();
  if (missing.empty()) return true;
  const bool is_head_known = std::ranges::all_of(head_->results, &Wish::has_value);
  if (!is_head_known) return false;  // the result, which is reported, might tell it
  report(span,
         fmt::format("expected the type {0} of '{1}', which nothing here tells; in brackets it is written "
                     "{1}[...]{2}",
                     missing, symbols_[name], takes_arguments ? "(...)" : ""));
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
    if (fits) {
      report(expr.span, fmt::format("'{}' takes {}, found {}: {}", symbols_[generic.name],
                                    count_of(generic.type_params.size(), "type"), given.size(),
                                    functions_.signature(generic)));
    } else {
      report_wrong_count(expr, generic);
    }
    for (ExprId argument : arguments) value(argument);
    return std::nullopt;
  }
  TypeInference types(generic.type_params, source_, tokens_, declarations_, diagnostics_);
  types.set(given);
  const std::size_t findings = diagnostics_.count();
  const std::vector<Var> found =
      infer(types, arguments, generic.param_types, wishes, generic.result_types, true);
  const auto describe = [&](std::size_t i) {
    return fmt::format("argument {} of '{}'", i + 1, symbols_[generic.name]);
  };
  const bool is_open = diagnostics_.count() == findings && !types.missing().empty();
  for (std::size_t i = 0; is_open && i < found.size(); ++i) {
    if (!generic.params[i].is_function && !known(found[i])) return std::nullopt;  // which is reported
  }
  if (is_open && !require_fitting(types, arguments, generic.param_types, found, describe))
    return std::nullopt;
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
    resolved.arguments.push_back(require(arguments[i], found[i], type, [&] { return describe(i); }));
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
  if (count_uses(generic, head_) == kMostUsesOfOne) {
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
  return functions_.instance(generic, types.arguments(), *head_, given, span);
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
  Collected* const collected = std::exchange(collected_, nullptr);  // fields have types of their own
  const std::vector<Var> found = infer(types, list(expr.list), places, {}, {});
  collected_ = collected;
  if (diagnostics_.count() > findings) return Var();
  if (collected != nullptr && !types.missing().empty()) {
    collected->add(*variant.type, types.arguments());
    return Var();
  }
  const auto describe = [&](std::size_t i) {
    return fmt::format("field '{}' of '{}'", fields[(*targets)[i]].name, symbols_[variant->name]);
  };
  const bool is_open = !types.missing().empty();
  if (is_open && !are_known(found)) return Var();  // which is reported
  const bool fits = !is_open || require_fitting(types, list(expr.list), places, found, describe);
  if (!fits || !require_complete(types, variant->name, expr.span, expr.list.count > 0)) return Var();
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
