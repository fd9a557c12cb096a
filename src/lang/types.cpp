// Reader: types, and the integers in them.
#include <fmt/format.h>

#include <utility>

#include "lang/reader.h"
#include "lang/suggest.h"
#include "lang/token.h"

namespace hiaton::lang {
namespace {

constexpr std::string_view kAType = "a type (bool, u8, i32, i64, f32, f64, str, List[...] or a data type)";

/// How many steps a dimension may take that is computed from symbols: each call computes it.
constexpr std::size_t kMostSteps = 100;

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
  const Span open = take().span;
  const Deeper deeper = inside_brackets();
  std::vector<Type> parts;
  std::vector<Span> spans;
  const std::size_t findings = finding_count();
  do {
    if (at(Tok::RightParen) && !parts.empty()) break;
    const uint32_t begin = next().span.begin;
    parts.push_back(type().value_or(Type()));
    spans.push_back(span_from(begin));
  } while (accept(Tok::Comma));
  expect(Tok::RightParen, "',' or ')' after a type");
  if (finding_count() > findings) return std::nullopt;
  if (parts.size() == 1) return parts[0];
  for (std::size_t i = 0; i < parts.size(); ++i) refuse_symbols(parts[i], spans[i]);
  if (finding_count() > findings) return std::nullopt;
  try {
    return declarations_.tuple_of(parts);
  } catch (const ProgramError& error) {
    report(span_from(open.begin), error.what());
    return std::nullopt;
  }
}

/// The type of functions that are values. They take and give tensors of any size where a symbol stands.
std::optional<Type> Reader::function_type() {
  take();
  take();
  const Deeper deeper = inside_brackets();
  std::vector<Type> params;
  const std::size_t findings = finding_count();
  const auto one = [&] { return without_symbols(type().value_or(Type())); };
  while (!at(Tok::RightParen)) {
    params.push_back(one());
    if (!accept(Tok::Comma)) break;
  }
  expect(Tok::RightParen, "',' or ')' after a type");
  expect(Tok::Arrow, "'->' and the type of the result of the function");
  const Type result = one();
  if (finding_count() > findings) return std::nullopt;
  return declarations_.function_types().of(params, result).type;
}

std::optional<Type> Reader::type() {
  if (at(Tok::LeftParen)) return tuple_type();
  if (at_all({Tok::Fn, Tok::LeftParen})) return function_type();
  const Token& name = expect(Tok::Name, kAType);
  const std::string_view text = source_.text(name.span);
  const bool has_brackets = at(Tok::LeftBracket) && !next_->starts_line;
  if (const std::optional<DType> dtype = dtype_from_name(text)) {
    if (!has_brackets) return Type(*dtype);
    std::optional<std::vector<Dim>> dims = shape();
    return dims ? std::optional(Type(*dtype, std::move(*dims))) : std::nullopt;
  }
  if (text == "str") return string_type();
  if (const Type* argument = type_argument(name.payload)) return *argument;
  if (text == Declarations::kList && has_brackets) return list_type();
  if (const GenericType* generic = declarations_.generic_type(name.payload))
    return generic_type(*generic, name);
  if (TypeAlias* other = declarations_.alias(name.payload)) return alias(*other, name);
  if (const Type* data = declarations_.type(name.payload)) return *data;
  return unknown_type(name);
}

std::optional<Type> Reader::type_with(std::vector<ComputedSize>& computed) {
  if (at(Tok::Name) && dtype_from_name(source_.text(next_->span))) computed_ = &computed;
  const std::size_t before = computed.size();
  std::optional<Type> read = type();
  computed_ = nullptr;
  if (!read) computed.erase(computed.begin() + static_cast<std::ptrdiff_t>(before), computed.end());
  return read;
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
  for (DType known : {DType::Bool, DType::U8, DType::I32, DType::I64, DType::F32, DType::F64})
    similar.offer(name_of(known));
  similar.offer("str");
  declarations_.for_each_type_name([&](std::string_view known) { similar.offer(known); });
  std::string hint =
      text == Declarations::kList ? "; the elements have a type: List[i64]" : written_here(text);
  const bool may_be_open = text.size() == 1 && text[0] >= 'A' && text[0] <= 'Z';
  if (may_be_open)
    hint = fmt::format("; a type that is left open stands behind the name: fn f[{}](...)", text);
  if (hint.empty()) hint = similar.text();
  if (hint.empty()) hint = known_elsewhere(text);
  report(name.span, fmt::format("expected {}, found '{}'{}", kAType, text, hint));
}

/// Also reads on after a dimension that is reported.
std::optional<std::vector<Dim>> Reader::shape() {
  const Token& open = take();
  if (at(Tok::RightBracket)) fail_expected("a dimension (the type of a scalar has no brackets)");
  std::vector<Dim> dims;
  bool known = true;
  do {
    const std::optional<Dim> dim = dimension(dims.size());
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
std::optional<Dim> Reader::dimension(std::size_t axis) {
  const Token& first = next();
  const bool alone = after_next().kind == Tok::Comma || after_next().kind == Tok::RightBracket;
  if (accept(Tok::Underscore)) return unknown_dim();
  if (first.kind == Tok::Name && alone && declarations_.size(first.payload) == nullptr) {
    symbols_read_.push_back(&take());
    return Dim{.size = -1, .symbol = std::string(source_.text(first.span))};
  }
  const std::optional<SizeFormula> read = formula();
  if (!read) return std::nullopt;
  const std::optional<int64_t> size = read->number();
  if (!size) {
    if (read->steps().size() > kMostSteps) {
      report(span_from(first.span.begin),
             fmt::format("expected at most {} numbers, symbols and operators in a dimension that is computed "
                         "from symbols, found {}",
                         kMostSteps, read->steps().size()));
      return std::nullopt;
    }
    computed_->push_back({.axis = axis, .formula = *read, .span = span_from(first.span.begin)});
    return unknown_dim();
  }
  if (*size < 0) {
    report(span_from(first.span.begin), fmt::format("expected a dimension of 0 or more, found {}", *size));
    return std::nullopt;
  }
  return Dim{.size = *size, .symbol = ""};
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
  const std::optional<SizeFormula> read = formula();
  return read ? read->number() : std::nullopt;
}

std::optional<SizeFormula> Reader::formula() {
  std::optional<SizeFormula> left = formula_product();
  while (at(Tok::Plus) || at(Tok::Minus)) {
    const Token& op = take();
    left = combine(op.kind, std::move(left), formula_product(), op.span);
  }
  return left;
}

std::optional<SizeFormula> Reader::formula_product() {
  std::optional<SizeFormula> left = formula_factor();
  while (at(Tok::Star) || at(Tok::Slash) || at(Tok::Percent)) {
    const Token& op = take();
    left = combine(op.kind, std::move(left), formula_factor(), op.span);
  }
  return left;
}

std::optional<SizeFormula> Reader::formula_factor() {
  const Deeper deeper = inside_brackets();
  if (at(Tok::Minus)) {
    const Token& sign = take();
    if (at(Tok::Integer)) return formula_size(true);  // the smallest i64 has no counterpart
    return combine(Tok::Minus, SizeFormula(0), formula_factor(), sign.span);
  }
  if (!accept(Tok::LeftParen)) return formula_size(false);
  std::optional<SizeFormula> value = formula();
  expect(Tok::RightParen, "an operator or ')'");
  return value;
}

std::optional<SizeFormula> Reader::formula_size(bool negative) {
  const Token& token = next();
  if (token.kind == Tok::Integer && (!token.suffix || *token.suffix == DType::I64)) {
    take();
    try {
      return SizeFormula(literal_value(source_.text(token.span), negative, DType::I64).as<int64_t>());
    } catch (const ProgramError& error) {
      report(token.span, error.what());
      return std::nullopt;
    }
  }
  if (token.kind != Tok::Name) fail_expected("an integer: a number, a size or a sum or product of them");
  take();
  if (const Size* size = declarations_.size(token.payload)) {
    return size->value ? std::optional(SizeFormula(*size->value)) : std::nullopt;
  }
  if (computed_ != nullptr) return SizeFormula(token.payload, token.span);
  const std::string_view name = source_.text(token.span);
  const Token* before = &token;
  const auto names_a_value = [&] {  // as `name: type`, `name = value` or `name in range` do
    const bool names = before->kind == Tok::Name && before->payload == token.payload;
    return names &&
           (before[1].kind == Tok::Colon || before[1].kind == Tok::Assign || before[1].kind == Tok::In);
  };
  while (before != first_ && !begins_declaration(before) && !names_a_value()) --before;
  while (before != first_ && before != &token && !names_a_value()) ++before;
  const std::string hint =
      sizes_.contains(token.payload) ? ", which stands for another size in each call"
      : before != &token && before != first_
          ? fmt::format(", which only the run knows; x[{0}:], range({0}) and zeros({0}) take such a number",
                        name)
          : fmt::format("; a size is declared by a line 'size {} = ...'", name);
  report(token.span,
         fmt::format("expected an integer that is known before the run, found '{}'{}", name, hint));
  return std::nullopt;
}

std::optional<SizeFormula> Reader::combine(Tok op, std::optional<SizeFormula> a,
                                           const std::optional<SizeFormula>& b, Span span) {
  if (!a || !b) return std::nullopt;
  const bool divides = op == Tok::Slash || op == Tok::Percent;
  if (divides && b->number() == 0) {
    report(span, "division by zero");
    return std::nullopt;
  }
  if (!a->number() || !b->number()) return SizeFormula::of(op, std::move(*a), *b);
  if (const std::optional<int64_t> result = combined(op, *a->number(), *b->number()))
    return SizeFormula(*result);
  report(span, "the integer is out of the range of i64");
  return std::nullopt;
}

}  // namespace hiaton::lang
