#include "lang/pattern_checker.h"

#include <fmt/format.h>

#include "hiaton/error.h"
#include "lang/declarations.h"
#include "lang/token.h"

namespace hiaton::lang {
namespace {

std::vector<std::string_view> names_of(const Type& type) {
  std::vector<std::string_view> names;
  for (const Variant& variant : type.data->variants) names.emplace_back(variant.name);
  return names;
}

}  // namespace

void PatternChecker::check(const ArmPattern& pattern, std::span<const Type> matched) {
  names_.clear();
  if (matched.size() == 1) return check_one(pattern, matched[0]);
  if (pattern.kind == ArmPattern::Kind::Any && !pattern.whole) return;
  const bool fits = pattern.kind == ArmPattern::Kind::Tuple && pattern.parts.count == matched.size();
  if (!fits || pattern.whole) {
    diagnostics_.add(
        pattern.span,
        fmt::format("expected '_' or {} patterns in parentheses, for this 'match' is of {} values",
                    matched.size(), matched.size()));
    return;
  }
  for (std::size_t i = 0; i < matched.size(); ++i) {
    check_one(syntax_.arm_patterns[pattern.parts.begin + i], matched[i]);
  }
}

void PatternChecker::check_one(const ArmPattern& pattern, const Type& type) {
  if (pattern.whole) bind(*pattern.whole, pattern.span);
  switch (pattern.kind) {
    case ArmPattern::Kind::Any:
      return;
    case ArmPattern::Kind::Name:
      return bind(pattern.name, pattern.span);
    case ArmPattern::Kind::Literal:
      return check_literal(pattern, type);
    case ArmPattern::Kind::Tuple:
      if (is_tuple(type)) return check_variant(pattern, type);
      diagnostics_.add(pattern.span,
                       fmt::format("expected a pattern for one value of type {}, found {} patterns",
                                   to_string(type), pattern.parts.count));
      return;
    default:
      return check_variant(pattern, type);
  }
}

void PatternChecker::bind(Symbol name, Span span) {
  if (names_.insert(name).second) return;
  diagnostics_.add(span, fmt::format("name '{}' is defined twice", symbols_[name]));
}

std::optional<std::size_t> PatternChecker::variant_of(const ArmPattern& pattern, const Type& type) const {
  switch (pattern.kind) {
    case ArmPattern::Kind::Nil:
      return Declarations::is_list(type) ? std::optional(Declarations::kNil) : std::nullopt;
    case ArmPattern::Kind::Cons:
      return Declarations::is_list(type) ? std::optional(Declarations::kCons) : std::nullopt;
    case ArmPattern::Kind::Tuple:
      return std::size_t{0};
    default:
      return type.data->find(symbols_[pattern.name]);
  }
}

void PatternChecker::check_variant(const ArmPattern& pattern, const Type& type) {
  const bool is_named = pattern.kind == ArmPattern::Kind::Variant;
  const std::string_view found = is_named ? symbols_[pattern.name] : source_.text(pattern.span);
  if (!type.is_data() || is_string(type)) {
    diagnostics_.add(pattern.span, fmt::format("expected a name or '_' for a value of type {}, found '{}'",
                                               to_string(type), found));
    return;
  }
  const std::optional<std::size_t> variant = variant_of(pattern, type);
  if (!variant) {
    diagnostics_.add(pattern.span, fmt::format("expected a variant of {} ({}), found '{}'", to_string(type),
                                               fmt::join(names_of(type), ", "), found));
    return;
  }
  variants_.emplace(&pattern, *variant);
  if (!pattern.has_parts) return;
  const Variant& wanted = type.data->variants[*variant];
  const std::vector<Field>& fields = wanted.fields;
  if (pattern.parts.count != fields.size() && is_tuple(type)) {
    diagnostics_.add(pattern.span, fmt::format("expected {} patterns for a value of type {}, found {}",
                                               fields.size(), to_string(type), pattern.parts.count));
    return;
  }
  if (pattern.parts.count != fields.size()) {
    diagnostics_.add(pattern.span, fmt::format("'{}' has {} field{}, found {} in the pattern: {}",
                                               wanted.name, fields.size(), fields.size() == 1 ? "" : "s",
                                               pattern.parts.count, declaration_of(wanted)));
    return;
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    check_one(syntax_.arm_patterns[pattern.parts.begin + i], field_type(type, *variant, i));
  }
}

void PatternChecker::add_string(const ArmPattern& pattern) {
  try {
    literals_.emplace(&pattern, Value(tokens_.strings[pattern.string]));
  } catch (const ProgramError& error) {
    diagnostics_.add(pattern.span, error.what());
  }
}

/// A literal takes the type of the value that it is compared with.
void PatternChecker::check_literal(const ArmPattern& pattern, const Type& type) {
  if (pattern.literal == Tok::String && is_string(type)) return add_string(pattern);
  const bool is_truth = pattern.literal == Tok::True || pattern.literal == Tok::False;
  const bool fits =
      type.is_scalar() && pattern.literal != Tok::String &&
      (is_truth ? type.dtype == DType::Bool
                : is_number(type.dtype) && (pattern.literal == Tok::Integer || is_float(type.dtype)));
  if (!fits || (pattern.suffix && *pattern.suffix != type.dtype)) {
    diagnostics_.add(pattern.span, fmt::format("expected a pattern for a value of type {}, found {}",
                                               to_string(type), source_.text(pattern.span)));
    return;
  }
  if (is_truth) {
    literals_.emplace(&pattern, Value(pattern.literal == Tok::True));
    return;
  }
  try {
    literals_.emplace(&pattern, literal_value(source_.text(pattern.sign), pattern.negative, type.dtype));
  } catch (const ProgramError&) {
    diagnostics_.add(pattern.span,
                     fmt::format("expected a value of type {}, found {}, which is out of its range",
                                 to_string(type), source_.text(pattern.span)));
  }
}

}  // namespace hiaton::lang
