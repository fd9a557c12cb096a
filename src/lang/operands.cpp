// Parser: what operators stand between.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "lang/parser.h"

namespace hiaton::lang {
namespace {

/// Behind a word for an operator it says that the operation itself is meant, as in `fold(and, true, xs)`.
bool ends_operand(const Token& token) {
  static constexpr Tok kEnds[] = {Tok::Comma, Tok::RightParen, Tok::RightBracket, Tok::In,
                                  Tok::Then,  Tok::Else,       Tok::End};
  return std::find(std::begin(kEnds), std::end(kEnds), token.kind) != std::end(kEnds);
}

}  // namespace

ExprId Parser::operand() {
  ExprId expr = primary();
  for (int parts = 0;; ++parts) {
    if (parts == kMaxNesting) fail_nesting();
    const bool continues = !next().starts_line;
    if (at(Tok::LeftBracket) && continues && !at_arm_behind_blank()) {
      expr = indexed(expr);
    } else if (at(Tok::Dot)) {
      expr = field(expr);
    } else if (at(Tok::LeftParen) && may_be_called(expr)) {
      expr = applied(expr);
    } else if (at(Tok::With) && continues && !at_loop()) {
      expr = update(expr);
    } else {
      return expr;
    }
  }
}

ExprId Parser::primary() {
  if (begins_file(&next())) fail_expected("an expression");
  switch (next().kind) {
    case Tok::Name:
      if (at_declaration()) break;
      return name_or_call();
    case Tok::Integer:
    case Tok::Float:
    case Tok::Nan:
    case Tok::Inf:
    case Tok::NanF32:
    case Tok::InfF32:
      return number(false, next().span.begin);
    case Tok::True:
    case Tok::False:
      return boolean();
    case Tok::String:
      return string();
    case Tok::Minus:
      return minus();
    case Tok::Not:
      return ends_operand(after_next()) ? name_or_call() : negated_condition();
    case Tok::And:
    case Tok::Or:
      if (after_next().kind == Tok::LeftParen || after_next().starts_line || ends_operand(after_next()))
        return name_or_call();
      break;
    case Tok::Colon:
      if (after_next().kind == Tok::Colon) return operation_call();
      break;
    case Tok::LeftParen:
      return parenthesized();
    case Tok::LeftBracket:
      return list();
    case Tok::Grad:
    case Tok::ValueAndGrad:
    case Tok::Vjp:
    case Tok::ValueAndVjp:
      return gradient();
    case Tok::Param:
      if (after_next().kind == Tok::Name) return learned();
      break;
    case Tok::Fn:
      if (after_next().kind == Tok::LeftParen) return lambda();
      break;
    case Tok::If:
      return conditional();
    case Tok::Match:
      return match();
    case Tok::With:
      return loop();
    case Tok::On:
      return placed();
    case Tok::Let:
      fail_expected("an expression (a 'let' inside an expression stands in parentheses)");
    default:
      break;
  }
  fail_expected("an expression");
}

bool Parser::at_number() const {
  return at(Tok::Integer) || at(Tok::Float) || (next().kind >= Tok::Nan && next().kind <= Tok::InfF32);
}

ExprId Parser::number(bool negative, uint32_t begin) {
  const Token& token = take();
  std::optional<DType> suffix = token.suffix;
  if (token.kind == Tok::NanF32 || token.kind == Tok::InfF32) suffix = DType::F32;
  const Flex flex = suffix ? Flex::Rigid : token.kind == Tok::Integer ? Flex::Integer : Flex::Float;
  return add({.kind = Expr::Kind::Number,
              .flex = flex,
              .op = token.kind,
              .negative = negative,
              .suffix = suffix,
              .span = span_from(begin),
              .sign = token.span});
}

ExprId Parser::boolean() {
  const Token& word = take();
  return add({.kind = Expr::Kind::Bool, .op = word.kind, .span = word.span});
}

ExprId Parser::string() {
  const Token& text = take();
  return add({.kind = Expr::Kind::String, .span = text.span, .index = text.payload});
}

ExprId Parser::minus() {
  const Token& sign = take();
  if (at_number()) return number(true, sign.span.begin);
  const Deeper deeper = nested();
  const ExprId inner = operand();
  return add({.kind = Expr::Kind::Negate,
              .flex = flex_of(inner),
              .span = span_from(sign.span.begin),
              .sign = sign.span,
              .a = inner});
}

ExprId Parser::negated_condition() {
  const Token& word = take();
  const Deeper deeper = nested();
  const ExprId inner = operators(kComparison);
  return add({.kind = Expr::Kind::Not, .span = span_from(word.span.begin), .sign = word.span, .a = inner});
}

/// The types in the brackets behind a name: the elements' of a list, those of a generic data type or
/// function.
Range Parser::types_behind(const Token& word) {
  if (!at(Tok::LeftBracket) || next().starts_line || word.kind != Tok::Name || at_arm_behind_blank())
    return {};
  const GenericVariant* const variant = declarations().generic_variant(word.payload);
  const bool is_list = Declarations::list_variant(source().text(word.span)).has_value();
  const bool is_function = functions_.contains(word.payload) && behind_brackets().kind == Tok::LeftParen;
  if (!is_list && variant == nullptr && !is_function) return {};
  const std::optional<std::vector<Type>> read = types_in_brackets();
  std::vector<std::optional<Type>> types;
  if (!read) {
    types.push_back(std::nullopt);
  } else if (variant != nullptr) {
    types.push_back(instance(*variant->type, *read, span_from(word.span.begin)));
  } else if (is_list) {
    if (read->size() > 1) report(span_from(word.span.begin), "expected one type for the elements of a list");
    types.push_back(declarations().list_of((*read)[0]));
  } else {
    types.assign(read->begin(), read->end());
  }
  return append<std::optional<Type>>(syntax_.types, types);
}

ExprId Parser::name_or_call() {
  const Token& word = take();
  const Symbol symbol = word.kind == Tok::Name ? word.payload : static_cast<Symbol>(word.kind);
  const Range types = types_behind(word);
  if (at(Tok::LeftParen) && !next().starts_line && !at_arm_behind_blank()) return call(symbol, word, types);
  return add({.kind = Expr::Kind::Name, .name = symbol, .span = span_from(word.span.begin), .types = types});
}

Flex Parser::arguments(Tok close, std::string_view expected, Named* named) {
  const Deeper deeper(brackets_);
  Flex flex = Flex::Integer;
  const std::size_t first = open_list_.size();
  while (!at(close)) {
    const bool is_rest = close == Tok::RightBracket && at(Tok::DotDot) && open_list_.size() > first;
    if (is_rest) return flex;
    if (named != nullptr && named->are_fields && at_name_of_value()) {
      named->fields.push_back(field_value());
    } else if (named != nullptr && at_name_of_value()) {
      named->attributes.push_back(attribute());
    } else {
      if (named != nullptr && !named->empty()) fail_expected("another 'name=value'");
      const bool is_open = named != nullptr && at_open_place();
      const ExprId argument = is_open ? open_place(named->places) : expression();
      flex = common_flex(flex, flex_of(argument));
      open_list_.push_back(argument);
    }
    if (!accept(Tok::Comma)) break;
  }
  expect(close, expected);
  return flex;
}

/// The value behind the name is pushed onto open_list_.
FieldName Parser::field_value() {
  const Token& name = take();
  take();
  const ExprId value = expression();
  open_list_.push_back(value);
  return {name.payload, name.span};
}

Attribute Parser::attribute() {
  const Token& name = take();
  take();
  Attribute read{.name = name.payload, .span = name.span, .is_list = at(Tok::LeftBracket)};
  std::vector<int64_t> values;
  bool known = true;
  const auto read_one = [&] {
    const std::optional<int64_t> value = constant();
    known = known && value.has_value();
    values.push_back(value.value_or(0));
  };
  if (!read.is_list) {
    read_one();
  } else {
    take();
    while (!at(Tok::RightBracket)) {
      read_one();
      if (!accept(Tok::Comma)) break;
    }
    expect(Tok::RightBracket, "an operator, ',' or ']' in a list of integers");
  }
  if (known) read.values = std::move(values);
  return read;
}

/// `::name(...)` is the operation, also where a function has its name.
ExprId Parser::operation_call() {
  take();
  take();
  const bool is_word = at(Tok::Name) || at(Tok::And) || at(Tok::Or);
  const Symbol symbol = at(Tok::Name) ? next().payload : static_cast<Symbol>(next().kind);
  if (!is_word || (operations_.find_shadowed(symbol) == nullptr && !makes_filled(source().text(next().span))))
    fail_expected("an operation after '::'");
  const Token& word = take();
  if (!at(Tok::LeftParen)) fail_expected("'(' and the operands");
  return call(symbol, word, {}, true);
}

ExprId Parser::call(Symbol symbol, const Token& word, Range types, bool of_catalog) {
  const Deeper deeper = nested();
  take();
  const std::size_t first = open_list_.size();
  const std::size_t first_expression = syntax_.exprs.size();
  Named named{.are_fields = declarations().is_variant(symbol), .attributes = {}, .fields = {}, .places = {}};
  const Flex flex = arguments(Tok::RightParen, "an operator, ',' or ')' in the arguments", &named);
  const Range attributes = append<Attribute>(syntax_.attributes, named.attributes);
  const Operation* operation = of_catalog ? operations_.find_shadowed(symbol) : operations_.find(symbol);
  const bool passes_type = operation != nullptr && operation->keeps_type && open_list_.size() > first;
  const std::string_view name = source().text(word.span);
  const bool takes_any_float = name == "zeros" || name == "ones";
  Expr read{.kind = Expr::Kind::Call,
            .flex = passes_type       ? flex
                    : takes_any_float ? Flex::Float
                                      : Flex::Rigid,
            .of_catalog = of_catalog,
            .name = symbol,
            .span = span_from(word.span.begin),
            .sign = word.span,
            .list = {},
            .attributes = attributes,
            .fields = append<FieldName>(syntax_.fields, named.fields),
            .types = types};
  if (!named.places.empty()) return with_open_places(read, first, named.places, first_expression);
  read.list = close_list(first);
  return add(read);
}

/// `x[i, j]` is x[i][j].
ExprId Parser::indexed(ExprId expr) {
  const Deeper deeper = nested();
  const Deeper inside(brackets_);
  const Token& open = take();
  if (at(Tok::RightBracket)) fail_expected("an index between '[' and ']'");
  const std::size_t first = open_list_.size();
  while (!at(Tok::RightBracket)) {
    const ExprId position = index_position();
    open_list_.push_back(position);
    if (!accept(Tok::Comma)) break;
  }
  expect(Tok::RightBracket, "an operator, ':', ',' or ']' after an index");
  return add({.kind = Expr::Kind::Index,
              .span = span_from(syntax_[expr].span.begin),
              .sign = {open.span.begin, span_from(open.span.begin).end},
              .a = expr,
              .list = close_list(first)});
}

/// An index or a range.
ExprId Parser::index_position() {
  const uint32_t begin = next().span.begin;
  const bool has_begin = !at(Tok::Colon) || after_next().kind == Tok::Colon;
  const ExprId from = has_begin ? expression() : ExprId();
  if (!accept(Tok::Colon)) return from;
  const bool has_end = !at(Tok::Comma) && !at(Tok::RightBracket);
  const ExprId to = has_end ? expression() : ExprId();
  return add({.kind = Expr::Kind::Range, .span = span_from(begin), .a = from, .b = to});
}

ExprId Parser::field(ExprId expr) {
  take();
  const Token& name = expect(Tok::Name, "the name of a field after '.'");
  return add({.kind = Expr::Kind::Field,
              .name = name.payload,
              .span = span_from(syntax_[expr].span.begin),
              .sign = name.span,
              .a = expr});
}

ExprId Parser::update(ExprId expr) {
  const Deeper deeper = nested();
  const Token& word = take();
  if (at(Tok::LeftBracket)) return update_at_place(expr, word.span);
  const std::size_t first = open_list_.size();
  std::vector<FieldName> fields;
  do {
    if (!at_name_of_value()) fail_expected("the name of a field, '=' and its value");
    fields.push_back(field_value());
  } while (at_all({Tok::Comma, Tok::Name, Tok::Assign}) && accept(Tok::Comma));
  return add({.kind = Expr::Kind::Update,
              .span = span_from(syntax_[expr].span.begin),
              .sign = word.span,
              .a = expr,
              .list = close_list(first),
              .fields = append<FieldName>(syntax_.fields, fields)});
}

/// `x with [i, j] = value`: an update without fields, whose list ends with the value.
ExprId Parser::update_at_place(ExprId expr, Span word) {
  const std::size_t first = open_list_.size();
  {
    const Deeper inside(brackets_);
    take();
    do open_list_.push_back(expression());
    while (accept(Tok::Comma));
    expect(Tok::RightBracket, "an operator, ',' or ']' after an index");
  }
  expect(Tok::Assign, "'=' and the value that is to stand there");
  open_list_.push_back(expression());
  return add({.kind = Expr::Kind::Update,
              .span = span_from(syntax_[expr].span.begin),
              .sign = word,
              .a = expr,
              .list = close_list(first)});
}

/// `[a, b, ..xs]` is Cons(a, Cons(b, xs)).
ExprId Parser::onto_list(std::size_t first, const Token& open) {
  take();
  const Deeper deeper(brackets_);
  ExprId made = expression();
  expect(Tok::RightBracket, "an operator or ']' after the rest of the list");
  const std::vector<ExprId> elements(open_list_.begin() + static_cast<std::ptrdiff_t>(first),
                                     open_list_.end());
  open_list_.resize(first);
  if (elements.size() > static_cast<std::size_t>(kMaxNesting - nesting_)) fail_nesting();
  for (auto element = elements.rbegin(); element != elements.rend(); ++element) {
    open_list_.insert(open_list_.end(), {*element, made});
    made = add({.kind = Expr::Kind::Call,
                .name = declarations().symbols().cons(),
                .span = span_from(open.span.begin),
                .sign = open.span,
                .list = close_list(first)});
  }
  return made;
}

ExprId Parser::list() {
  const Deeper deeper = nested();
  const Token& open = take();
  const std::size_t first = open_list_.size();
  const Flex flex = arguments(Tok::RightBracket, "an operator, ',' or ']' after an element", nullptr);
  if (at(Tok::DotDot)) return onto_list(first, open);
  return add({.kind = Expr::Kind::List,
              .flex = open_list_.size() > first ? flex : Flex::Rigid,
              .span = span_from(open.span.begin),
              .list = close_list(first)});
}

ExprId Parser::learned() {
  const Token& word = take();
  const Token& name = take();
  return add({.kind = Expr::Kind::Parameter,
              .name = name.payload,
              .span = span_from(word.span.begin),
              .sign = name.span});
}

Range Parser::close_list(std::size_t first) {
  const Range range = append(syntax_.lists, std::span<const ExprId>(open_list_).subspan(first));
  open_list_.resize(first);
  return range;
}

/// One value in parentheses is that value; several are a tuple.
ExprId Parser::parenthesized() {
  const Deeper deeper = nested();
  const Deeper inside(brackets_);
  const Token& open = take();
  if (at(Tok::RightParen)) fail_expected("an expression between '(' and ')'");
  const std::size_t first = open_list_.size();
  const ExprId inner = expression();
  if (!at(Tok::Comma)) {
    expect(Tok::RightParen, "an operator, ',' or ')'");
    return inner;
  }
  open_list_.push_back(inner);
  while (accept(Tok::Comma)) {
    if (at(Tok::RightParen)) break;
    const ExprId element = expression();
    open_list_.push_back(element);
  }
  expect(Tok::RightParen, "an operator, ',' or ')'");
  return add({.kind = Expr::Kind::Tuple, .span = span_from(open.span.begin), .list = close_list(first)});
}

ExprId Parser::conditional() {
  const Deeper deeper = nested();
  const Token& word = take();
  const ExprId condition = expression();
  expect(Tok::Then, "an operator or 'then'");
  const ExprId then = expression();
  if (!at(Tok::Else) && (at_declaration() || at(Tok::End)))
    fail_expected("an operator or 'else' (an 'if' is a value, which both branches give)");
  expect(Tok::Else, "an operator or 'else'");
  const ExprId otherwise = expression();
  return add({.kind = Expr::Kind::If,
              .flex = common_flex(flex_of(then), flex_of(otherwise)),
              .span = span_from(word.span.begin),
              .sign = word.span,
              .a = condition,
              .b = then,
              .c = otherwise});
}

ExprId Parser::loop() {
  const Deeper deeper = nested();
  const Token& word = take();
  Loop read;
  std::vector<TakenApart> taken;
  loop_states(read, taken);
  if (accept(Tok::For)) {
    read.counts = true;
    read.counter = pattern("the name of the counter");
    expect(Tok::In, "'in' and the range of the counter");
    read.begin = operators(kSum);
    expect(Tok::DotDot, "an operator or '..' and the end of the range");
    read.end = operators(kSum);
  } else {
    expect(Tok::While,
           at(Tok::With) ? "',', 'while' or 'for' after a loop variable (a value with other fields stands in "
                           "parentheses here)"
                         : "an operator, ',', 'while' or 'for' after a loop variable");
    const std::size_t arms_before = syntax_.arms.size();
    read.condition = with_taken_apart(expression(), taken, arms_before);
  }
  expect(Tok::Do, "an operator or 'do' and the next values of the loop variables");
  const std::size_t arms_before = syntax_.arms.size();
  read.body = with_taken_apart(expression(), taken, arms_before);
  syntax_.loops.push_back(std::move(read));
  return add({.kind = Expr::Kind::Loop,
              .span = span_from(word.span.begin),
              .sign = word.span,
              .index = static_cast<uint32_t>(syntax_.loops.size() - 1)});
}

void Parser::loop_states(Loop& loop, std::vector<TakenApart>& taken) {
  do {
    const Pattern pattern = pattern_taking_apart("the name of a loop variable", taken);
    expect(Tok::Assign, "'=' and the first value of the loop variable");
    const ExprId initial = expression();
    loop.states.push_back({pattern, initial});
  } while (accept(Tok::Comma));
}

ExprId Parser::placed() {
  const Deeper deeper = nested();
  const Token& word = take();
  const Token& place = expect(Tok::String, "a place in quotes, such as \"process:0\"");
  const ExprId inner = operand();
  return add({.kind = Expr::Kind::On,
              .flex = flex_of(inner),
              .span = span_from(word.span.begin),
              .a = inner,
              .index = place.payload});
}

}  // namespace hiaton::lang
