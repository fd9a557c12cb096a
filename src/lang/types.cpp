// Reader: types, and the integers in them.
#include <fmt/format.h>

#include <limits>

#include "lang/literal.h"
#include "lang/reader.h"
#include "lang/suggest.h"

namespace hiaton::lang {
namespace {

constexpr std::string_view kAType = "a type (bool, i32, i64, f32, f64, List[...] or a data type)";

/// Shorter names are near each other on purpose: `hi` and `ho`.
constexpr std::size_t kShortestMistyped = 4;

/// `n1` and `n2` are different on purpose.
std::string_view without_number(std::string_view name) {
  return name.substr(0, name.find_last_not_of("0123456789") + 1);
}

}  // namespace

Deeper Reader::inside_brackets() {
  if (depth_ == kMaxNesting) {
    fail(next_->span, fmt::format("expected at most {} brackets inside each other", kMaxNesting));
  }
  return Deeper(depth_);
}

/// One type in parentheses is that type.
std::optional<Type> Reader::tuple_type() {
  take();
  const Deeper deeper = inside_brackets();
  std::vector<Type> parts;
  const std::size_t findings = finding_count();
  do {
    if (at(Tok::RightParen) && !parts.empty()) break;
    parts.push_back(field_type());
  } while (accept(Tok::Comma));
  expect(Tok::RightParen, "',' or ')' after a type");
  if (finding_count() > findings) return std::nullopt;
  return parts.size() == 1 ? parts[0] : declarations_.tuple_of(parts);
}

std::optional<Type> Reader::type() {
  if (at(Tok::LeftParen)) return tuple_type();
  if (at_all({Tok::Fn, Tok::LeftParen})) {
    const uint32_t begin = next().span.begin;
    skip_type();
    report(span_from(begin),
           "expected the type of a value, found that of a function, which only a parameter "
           "of a function may have");
    return std::nullopt;
  }
  const Token& name = expect(Tok::Name, kAType);
  const std::string_view text = source_.text(name.span);
  const bool has_brackets = at(Tok::LeftBracket) && !next_->starts_line;
  if (const std::optional<DType> dtype = dtype_from_name(text)) {
    if (!has_brackets) return Type(*dtype);
    std::optional<std::vector<Dim>> dims = shape();
    return dims ? std::optional(Type(*dtype, std::move(*dims))) : std::nullopt;
  }
  if (const Type* argument = type_argument(name.payload)) return *argument;
  if (text == Declarations::kList && has_brackets) return list_type();
  if (const GenericType* generic = declarations_.generic_type(name.payload))
    return generic_type(*generic, name);
  if (TypeAlias* other = declarations_.alias(name.payload)) return alias(*other, name);
  if (const Type* data = declarations_.type(name.payload)) return *data;
  return unknown_type(name);
}

std::optional<Type> Reader::list_type() {
  take();
  const Deeper deeper = inside_brackets();
  const std::optional<Type> element = type();
  expect(Tok::RightBracket, "']' after the type of the elements");
  return element ? std::optional(declarations_.list_of(*element)) : std::nullopt;
}

std::optional<Type> Reader::unknown_type(const Token& name) {
  if (!declarations_.is_broken(name.payload)) report_unknown_type(name);
  if (at(Tok::LeftBracket) && !next_->starts_line) shape();
  return std::nullopt;
}

void Reader::report_unknown_type(const Token& name) {
  const std::string_view text = source_.text(name.span);
  Suggestion similar(text);
  for (DType known : {DType::Bool, DType::I32, DType::I64, DType::F32, DType::F64})
    similar.offer(name_of(known));
  declarations_.for_each_type_name([&](std::string_view known) { similar.offer(known); });
  const std::string hint =
      text == Declarations::kList ? "; the elements have a type: List[i64]" : similar.text();
  report(name.span, fmt::format("expected {}, found '{}'{}", kAType, text, hint));
}

/// Also reads on after a dimension that is reported.
std::optional<std::vector<Dim>> Reader::shape() {
  const Token& open = take();
  if (at(Tok::RightBracket)) fail_expected("a dimension (the type of a scalar has no brackets)");
  std::vector<Dim> dims;
  bool known = true;
  do {
    const std::optional<Dim> dim = dimension();
    known = known && dim.has_value();
    dims.push_back(dim.value_or(unknown_dim()));
  } while (accept(Tok::Comma));
  expect(Tok::RightBracket, "an operator, ',' or ']' in the shape of a type");
  if (dims.size() > kMaxRank) {
    report(span_from(open.span.begin),
           fmt::format("expected at most {} dimensions, found {}", kMaxRank, dims.size()));
    return std::nullopt;
  }
  return known ? std::optional(std::move(dims)) : std::nullopt;
}

/// A name alone that is no size is a symbol; `_` is any size.
std::optional<Dim> Reader::dimension() {
  const Token& first = next();
  const bool alone = after_next().kind == Tok::Comma || after_next().kind == Tok::RightBracket;
  if (accept(Tok::Underscore)) return unknown_dim();
  if (first.kind == Tok::Name && alone && declarations_.size(first.payload) == nullptr) {
    symbols_read_.push_back(&take());
    return Dim{.size = -1, .symbol = std::string(source_.text(first.span))};
  }
  const std::optional<int64_t> size = constant();
  if (size && *size < 0) {
    report(span_from(first.span.begin), fmt::format("expected a dimension of 0 or more, found {}", *size));
    return std::nullopt;
  }
  return size ? std::optional(Dim{.size = *size, .symbol = ""}) : std::nullopt;
}

std::unordered_set<Symbol> Reader::sizes_read() const {
  std::unordered_set<Symbol> read;
  for (const Token* name : symbols_read_) read.insert(name->payload);
  return read;
}

void Reader::refuse_mistyped_sizes() {
  for (const Token* name : symbols_read_) {
    const std::string_view text = source_.text(name->span);
    if (text.size() < kShortestMistyped || sizes_.contains(name->payload)) continue;
    const std::size_t comparisons = declarations_.size_count() + sizes_.size();
    if (!diagnostics_.wants_suggestions() || comparisons > comparisons_left_) return;
    comparisons_left_ -= comparisons;
    Suggestion similar(text);
    const auto offer = [&](std::string_view known) {
      if (without_number(known) != without_number(text)) similar.offer(known);
    };
    declarations_.for_each_size([&](std::string_view size, const Size&) { offer(size); });
    for (Symbol known : sizes_) offer(declarations_.spelled(known));
    if (similar.text().empty()) continue;
    report(name->span, fmt::format("no size '{}'{} For any size write '_'", text, similar.text()));
    sizes_.insert(name->payload);  // once is enough
  }
}

std::optional<int64_t> Reader::constant() {
  std::optional<int64_t> left = constant_product();
  while (at(Tok::Plus) || at(Tok::Minus)) {
    const Token& op = take();
    left = combine(op.kind, left, constant_product(), op.span);
  }
  return left;
}

std::optional<int64_t> Reader::constant_product() {
  std::optional<int64_t> left = constant_factor();
  while (at(Tok::Star) || at(Tok::Slash) || at(Tok::Percent)) {
    const Token& op = take();
    left = combine(op.kind, left, constant_factor(), op.span);
  }
  return left;
}

std::optional<int64_t> Reader::constant_factor() {
  const Deeper deeper = inside_brackets();
  if (at(Tok::Minus)) {
    const Token& sign = take();
    if (at(Tok::Integer)) return constant_size(true);  // the smallest i64 has no counterpart
    return combine(Tok::Minus, 0, constant_factor(), sign.span);
  }
  if (!accept(Tok::LeftParen)) return constant_size(false);
  const std::optional<int64_t> value = constant();
  expect(Tok::RightParen, "an operator or ')'");
  return value;
}

std::optional<int64_t> Reader::constant_size(bool negative) {
  const Token& token = next();
  if (token.kind == Tok::Integer && (!token.suffix || *token.suffix == DType::I64)) {
    take();
    try {
      return literal_value(source_.text(token.span), negative, DType::I64).as<int64_t>();
    } catch (const ProgramError& error) {
      report(token.span, error.what());
      return std::nullopt;
    }
  }
  if (token.kind != Tok::Name) fail_expected("an integer: a number, a size or a sum or product of them");
  take();
  if (const Size* size = declarations_.size(token.payload)) return size->value;
  const std::string_view name = source_.text(token.span);
  report(token.span, fmt::format("expected an integer that is known before the run, found '{}'{}", name,
                                 sizes_.contains(token.payload)
                                     ? ", which stands for another size in each call"
                                     : fmt::format("; a size is declared by a line 'size {} = ...'", name)));
  return std::nullopt;
}

std::optional<int64_t> Reader::combine(Tok op, std::optional<int64_t> a, std::optional<int64_t> b,
                                       Span span) {
  if (!a || !b) return std::nullopt;
  int64_t result = 0;
  bool overflow = false;
  switch (op) {
    case Tok::Plus:
      overflow = __builtin_add_overflow(*a, *b, &result);
      break;
    case Tok::Minus:
      overflow = __builtin_sub_overflow(*a, *b, &result);
      break;
    case Tok::Star:
      overflow = __builtin_mul_overflow(*a, *b, &result);
      break;
    default:
      if (*b == 0) {
        report(span, "division by zero");
        return std::nullopt;
      }
      overflow = *b == -1 && *a == std::numeric_limits<int64_t>::min();
      if (!overflow) result = op == Tok::Slash ? *a / *b : *a % *b;
      break;
  }
  if (!overflow) return result;
  report(span, "the integer is out of the range of i64");
  return std::nullopt;
}

}  // namespace hiaton::lang
