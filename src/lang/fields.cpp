// BodyChecker: fields of values of data types, by their names.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "lang/body_checker.h"
#include "lang/suggest.h"

namespace hiaton::lang {
namespace {

std::optional<std::size_t> find_field(const Variant& variant, std::string_view name) {
  const auto found = std::find_if(variant.fields.begin(), variant.fields.end(),
                                  [&](const Field& field) { return field.name == name; });
  if (found == variant.fields.end()) return std::nullopt;
  return static_cast<std::size_t>(found - variant.fields.begin());
}

}  // namespace

Var BodyChecker::field_value(ExprId argument, const VariantPlace& place, std::size_t field) {
  const Type type = field_type(place.data, place.index, field);
  return require(argument, value(argument, type), type,
                 [&] { return fmt::format("field '{}' of '{}'", place->fields[field].name, place->name); });
}

/// Arguments without names come first, in the order of the fields.
std::optional<std::vector<std::size_t>> BodyChecker::fields_of_arguments(const Expr& expr,
                                                                         const Variant& variant) {
  const std::span<const FieldName> names = field_names(expr.fields);
  const std::size_t expected = variant.fields.size();
  if (expr.list.count > expected || (names.empty() && expr.list.count < expected)) {
    report(expr.span, fmt::format("'{}' has {}, found {}: {}", variant.name, count_of(expected, "field"),
                                  expr.list.count, declaration_of(variant)));
    return std::nullopt;
  }
  std::vector<std::size_t> targets(expr.list.count - names.size());
  std::iota(targets.begin(), targets.end(), std::size_t{0});
  if (!add_named_fields(names, variant, targets)) return std::nullopt;
  if (targets.size() == expected) return targets;
  for (std::size_t field = 0; field < expected; ++field) {
    if (std::find(targets.begin(), targets.end(), field) != targets.end()) continue;
    report(expr.span, fmt::format("'{}' needs a value for its field '{}': {}", variant.name,
                                  variant.fields[field].name, declaration_of(variant)));
    break;
  }
  return std::nullopt;
}

bool BodyChecker::add_named_fields(std::span<const FieldName> names, const Variant& variant,
                                   std::vector<std::size_t>& targets) {
  for (const FieldName& name : names) {
    const std::string_view text = symbols_[name.name];
    const std::optional<std::size_t> field = find_field(variant, text);
    if (!field) {
      Suggestion similar(text);
      for (const Field& known : variant.fields) similar.offer(known.name);
      report(name.span, fmt::format("'{}' has no field '{}'{}: {}", variant.name, text, similar.text(),
                                    declaration_of(variant)));
      return false;
    }
    if (std::find(targets.begin(), targets.end(), *field) != targets.end()) {
      report(name.span, fmt::format("field '{}' of '{}' has a value already", text, variant.name));
      return false;
    }
    targets.push_back(*field);
  }
  return true;
}

std::span<const FieldName> BodyChecker::field_names(Range range) const {
  return std::span(syntax_->fields).subspan(range.begin, range.count);
}

std::optional<std::size_t> BodyChecker::told_variant(Var of) const {
  if (of.type().data->variants.size() == 1) return 0;
  const auto same = [&](const auto& told) {
    return &told.first.builder() == &of.builder() && told.first.id() == of.id();
  };
  const auto told = std::find_if(narrowed_.rbegin(), narrowed_.rend(), same);
  return told == narrowed_.rend() ? std::nullopt : std::optional(told->second);
}

/// Every variant that the value may be of must have the field, with one type.
bool BodyChecker::require_field(Var of, Symbol name, Span span) {
  const Type& type = of.type();
  const std::string_view text = symbols_[name];
  if (is_string(type)) {
    report(span,
           fmt::format("expected a value of a data type before '.{}', found str: length(s) is the length of "
                       "a string, s[i] its code point at i, s[i:j] a part of it",
                       text));
    return false;
  }
  if (!type.is_data() || function_type(type) != nullptr) {
    std::string hint = type.is_tensor() ? without_dot(text) : "";
    if (hint.empty() && (functions_.find(name) != nullptr || operations_.find(name) != nullptr))
      hint = fmt::format("; '{0}' is a function, which stands in front: {0}(...)", text);
    report(span, fmt::format("expected a value of a data type before '.{}', found {}{}", text,
                             to_string(type), hint));
    return false;
  }
  const std::vector<Variant>& variants = type.data->variants;
  const std::optional<std::size_t> told = told_variant(of);
  std::optional<Type> first;
  for (std::size_t i = told.value_or(0); i < (told ? *told + 1 : variants.size()); ++i) {
    const std::optional<std::size_t> field = find_field(variants[i], text);
    if (!field) {
      report_no_field(type, i, text, span);
      return false;
    }
    const Type found = field_type(type, i, *field);
    if (first && *first != found) {
      report(span,
             fmt::format("field '{}' is of type {} in '{}' and of type {} in '{}': 'match' takes them apart",
                         text, to_string(*first), variants[0].name, to_string(found), variants[i].name));
      return false;
    }
    first = found;
  }
  return !variants.empty();
}

void BodyChecker::report_no_field(const Type& type, std::size_t variant, std::string_view name, Span span) {
  const std::vector<Variant>& variants = type.data->variants;
  const bool some_have = std::any_of(variants.begin(), variants.end(), [&](const Variant& other) {
    return find_field(other, name).has_value();
  });
  if (some_have) {
    report(span, fmt::format("a {} has a field '{}' only where it is no '{}': 'match' tells which it is",
                             to_string(type), name, variants[variant].name));
    return;
  }
  const auto has_name = [&](const FunctionHead& head) { return symbols_[head.name] == name; };
  const bool goes_over_lists =
      Declarations::is_list(type) && (name == "map" || name == "fold" || name == "scan");
  if (goes_over_lists || std::ranges::any_of(functions_.heads(), has_name)) {
    report(span, fmt::format("a {0} has no field '{1}'; '{1}' is a function, which stands in front: {1}(...)",
                             to_string(type), name));
    return;
  }
  if (Declarations::is_list(type)) {
    report(span, fmt::format("expected a value of a data type before '.{}', found {}{}", name,
                             to_string(type), without_dot(name)));
    return;
  }
  Suggestion similar(name);
  for (const Field& known : variants[variant].fields) similar.offer(known.name);
  report(span, fmt::format("'{}' has no field '{}'{}: {}", variants[variant].name, name, similar.text(),
                           declaration_of(variants[variant])));
}

Var BodyChecker::field(const Expr& expr) {
  const Var found = value(expr.a);
  if (!known(found) || !require_field(found, expr.name, expr.sign)) return Var();
  return by_variant(found, expr.sign, [&](const VariantPlace& place) {
    return f_->field(found, place.index, *find_field(*place, symbols_[expr.name]));
  });
}

/// The other fields keep their values. The new ones are computed once, whatever the variant.
Var BodyChecker::update(const Expr& expr) {
  if (expr.fields.count == 0) return update_at_place(expr);
  const Var old = value(expr.a);
  const std::span<const ExprId> arguments = list(expr.list);
  const std::span<const FieldName> names = field_names(expr.fields);
  std::vector<Var> values;
  std::vector<std::size_t> targets;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool fits = known(old) && require_field(old, names[i].name, names[i].span);
    if (!fits) {
      values.push_back(Var());
      value(arguments[i]);
      continue;
    }
    const VariantPlace first{old.type(), told_variant(old).value_or(0)};
    if (targets.size() == i) add_named_fields(names.subspan(i, 1), *first, targets);
    values.push_back(field_value(arguments[i], first, *find_field(*first, symbols_[names[i].name])));
  }
  if (!known(old)) return Var();
  if (!are_known(values) || targets.size() != names.size()) return stand_in(old.type());
  const Var made = by_variant(old, expr.sign, [&](const VariantPlace& place) {
    std::vector<Var> fields(place->fields.size());
    for (std::size_t i = 0; i < names.size(); ++i)
      fields[*find_field(*place, symbols_[names[i].name])] = values[i];
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (!known(fields[i])) fields[i] = f_->field(old, place.index, i);
    }
    return f_->make(place.data, place.index, fields);
  });
  if (const std::optional<std::size_t> told = told_variant(old)) narrowed_.emplace_back(made, *told);
  return made;
}

/// What `make` gives for the variant that the value is of.
Var BodyChecker::by_variant(Var of, Span span, const std::function<Var(const VariantPlace&)>& make) {
  f_->set_span(span);
  const std::size_t variants = of.type().data->variants.size();
  if (const std::optional<std::size_t> told = told_variant(of)) return make({of.type(), *told});
  const Var number = f_->variant(of);
  std::vector<Side> sides;
  for (std::size_t i = 0; i < variants; ++i) {
    sides.push_back({static_cast<int64_t>(i), f_->begin_block({})});
    close(sides[i].block, make({of.type(), i}));
  }
  return test_halves(number, std::move(sides), span)[0];
}

}  // namespace hiaton::lang
