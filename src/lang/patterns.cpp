// Parser: `match` and its patterns.
#include <fmt/format.h>

#include "lang/parser.h"

namespace hiaton::lang {

/// What may also begin an expression, the last one of a block, begins an arm where an arrow or a condition
/// comes behind it.
bool Parser::at_arm() const {
  switch (next().kind) {
    case Tok::Underscore:
      return true;
    case Tok::Integer:
    case Tok::Float:
    case Tok::True:
    case Tok::False:
    case Tok::String:
      return ends_pattern(after_next());
    case Tok::Name:
      return at_capitalized_name() || after_next().kind == Tok::At || ends_pattern(after_next());
    case Tok::LeftParen:
    case Tok::LeftBracket:
      return is_apart() && ends_pattern(behind_brackets());
    case Tok::Minus:
      return at_negative_arm();
    default:
      return false;
  }
}

bool Parser::at_arm_behind_blank() const {
  const bool opens = at(Tok::LeftParen) || at(Tok::LeftBracket);
  return opens && !open_matches_.empty() && is_apart() && ends_pattern(behind_brackets());
}

bool Parser::at_negative_arm() const {
  const auto at_number_before = [&](Tok behind) {
    return at_all({Tok::Minus, Tok::Integer, behind}) || at_all({Tok::Minus, Tok::Float, behind});
  };
  return next().starts_line && !open_matches_.empty() &&
         (at_number_before(Tok::Arrow) || at_number_before(Tok::If));
}

ExprId Parser::match() {
  const Deeper deeper = nested();
  const Token& word = take();
  const auto place = [&](const Token& token) { return source().locate(token.span.begin); };
  open_matches_.push_back({place(word).line, 0, brackets_});
  const ExprId matched = operators(kOr);
  std::vector<Arm> arms;
  if (!at_arm()) fail_expected("an operator or an arm ('Variant(names) -> expression' or '_ -> expression')");
  if (next().starts_line) open_matches_.back().arm_column = place(next()).column;
  Flex flex = Flex::Float;
  while (at_arm() && (arms.empty() || !at_swallowed_arm())) {
    arms.push_back(arm());
    const Flex own = flex_of(arms.back().body);
    flex = arms.size() == 1 ? own : common_flex(flex, own);
  }
  open_matches_.pop_back();
  if (!at_arm() && after_next().kind == Tok::Arrow) fail_expected("an arm that begins with a pattern");
  return add({.kind = Expr::Kind::Match,
              .flex = flex,
              .span = span_from(word.span.begin),
              .sign = word.span,
              .a = matched,
              .list = append<Arm>(syntax_.arms, arms)});
}

bool Parser::at_swallowed_arm() {
  if (!next().starts_line) return false;
  const OpenMatch& inner = open_matches_.back();
  const uint32_t column = source().locate(next().span.begin).column;
  if (column == inner.arm_column) return false;
  const auto has_it = [&](const OpenMatch& outer) {
    return outer.arm_column == column && outer.brackets == inner.brackets;
  };
  if (std::none_of(open_matches_.begin(), open_matches_.end(), has_it)) return false;
  if (swallowed_ != position()) {
    report(next().span,
           fmt::format("this arm belongs to the 'match' of line {}, for arms go on until the end "
                       "of the expression; put that 'match' in parentheses",
                       inner.line));
  }
  swallowed_ = position();
  return true;
}

Arm Parser::arm() {
  Arm read{.pattern = arm_pattern(), .guard = {}, .body = {}};
  if (at(Tok::If)) read.guard = guard();
  expect(Tok::Arrow, "'->' and the value of the arm");
  const std::size_t arms_before = syntax_.arms.size();
  read.body = expression();
  read.holds_match = syntax_.arms.size() > arms_before;
  return read;
}

/// The next token is 'let'. Names, with or without types, stand in parentheses that hold no others.
bool Parser::at_let_taking_apart() {
  const std::size_t begin = position();
  take();
  bool takes_apart = at(Tok::LeftBracket) || at_variant_with_parts();
  if (at(Tok::LeftParen)) {
    int open = 0;
    bool begins_part = false;
    do {
      const bool is_pattern =
          at(Tok::LeftParen) || at(Tok::LeftBracket) || at_capitalized_name() || at_all({Tok::Name, Tok::At});
      takes_apart = takes_apart || (open == 1 && begins_part && is_pattern);
      begins_part = at(Tok::Comma) || at(Tok::LeftParen);
      if (at(Tok::LeftParen) || at(Tok::LeftBracket)) ++open;
      if (at(Tok::RightParen) || at(Tok::RightBracket)) --open;
      take();
    } while (open > 0 && !at(Tok::End));
  }
  go_to(begin);
  return takes_apart;
}

/// What the 'let' is for is the arm.
ExprId Parser::let_taking_apart() {
  const Deeper deeper = nested();
  const uint32_t begin = take().span.begin;
  const ArmPattern pattern = arm_pattern();
  expect(Tok::Assign, "'=' and the value of the 'let'");
  const ExprId bound = let_bound();
  accept(Tok::In);
  if (at_declaration() || at(Tok::End)) fail_without_result(begin);
  const std::size_t arms_before = syntax_.arms.size();
  const ExprId body = expression();
  return taken_apart(bound, pattern, body, arms_before);
}

ExprId Parser::taken_apart(ExprId matched, const ArmPattern& pattern, ExprId body, std::size_t arms_before) {
  const Arm arm{
      .pattern = pattern, .guard = {}, .body = body, .holds_match = syntax_.arms.size() > arms_before};
  return add({.kind = Expr::Kind::Match,
              .flex = flex_of(body),
              .op = Tok::Let,
              .span = syntax_[body].span,
              .sign = pattern.span,
              .a = matched,
              .list = append<Arm>(syntax_.arms, {&arm, 1})});
}

/// A parameter or loop variable.
Pattern Parser::pattern_taking_apart(std::string_view what, std::vector<TakenApart>& taken) {
  if (!at_taking_apart()) return pattern_with_type(what);
  const ArmPattern pattern = arm_pattern();
  if (taken.size() + 1 == Symbols::kHidden)
    fail(pattern.span, fmt::format("expected at most {} patterns here", Symbols::kHidden - 1));
  const Symbol name = declarations().symbols().hidden(taken.size() + 1);
  taken.push_back({{.name = name, .type = std::nullopt, .span = pattern.span}, pattern});
  return taken.back().name;
}

ExprId Parser::with_taken_apart(ExprId body, std::span<const TakenApart> taken, std::size_t arms_before) {
  for (std::size_t i = taken.size(); i-- > 0;) {
    const Pattern& name = taken[i].name;
    const ExprId matched = add({.kind = Expr::Kind::Name, .name = *name.name, .span = name.span});
    body = taken_apart(matched, taken[i].pattern, body, arms_before);
  }
  return body;
}

/// Several decisions may come to one guard, each with a copy of it.
ExprId Parser::guard() {
  take();
  const std::size_t arms_before = syntax_.arms.size();
  const uint32_t begin = next().span.begin;
  const ExprId condition = operators(kOr);
  if (syntax_.arms.size() > arms_before) {
    report(span_from(begin), "expected a condition without 'match' for an arm; a function can hold it");
  }
  return condition;
}

ArmPattern Parser::arm_pattern() {
  const Deeper deeper = nested();
  if (at_all({Tok::Name, Tok::At})) {
    const Token& name = take();
    take();
    ArmPattern read = arm_pattern();
    if (read.whole || read.kind == ArmPattern::Kind::Name) {
      report(name.span, "expected one name for a value, found two");
    }
    read.whole = name.payload;
    if (read.kind != ArmPattern::Kind::Literal) read.sign = name.span;
    read.span = span_from(name.span.begin);
    return read;
  }
  switch (next().kind) {
    case Tok::Underscore:
      return {.kind = ArmPattern::Kind::Any, .span = take().span};
    case Tok::LeftParen:
      return tuple_pattern();
    case Tok::LeftBracket:
      return list_pattern();
    case Tok::Integer:
    case Tok::Float:
    case Tok::True:
    case Tok::False:
    case Tok::String:
    case Tok::Minus:
      return literal_pattern();
    default:
      return variant_pattern();
  }
}

ArmPattern Parser::variant_pattern() {
  const bool is_variant = at_capitalized_name();
  const Token& name = expect(Tok::Name, "a variant, a name, a number, a string, '[', '(' or '_'");
  ArmPattern read{.kind = is_variant ? ArmPattern::Kind::Variant : ArmPattern::Kind::Name,
                  .name = name.payload,
                  .span = name.span};
  if (!is_variant || !accept(Tok::LeftParen)) return read;
  std::vector<ArmPattern> parts;
  while (!at(Tok::RightParen)) {
    parts.push_back(arm_pattern());
    if (!accept(Tok::Comma)) break;
  }
  expect(Tok::RightParen, "',' or ')' in a pattern");
  read.span = span_from(name.span.begin);
  read.has_parts = true;
  read.parts = append<ArmPattern>(syntax_.arm_patterns, parts);
  return read;
}

ArmPattern Parser::literal_pattern() {
  const uint32_t begin = next().span.begin;
  const bool negative = accept(Tok::Minus);
  if (negative && !at(Tok::Integer) && !at(Tok::Float)) fail_expected("a number after '-' in a pattern");
  const Token& token = take();
  return {.kind = ArmPattern::Kind::Literal,
          .negative = negative,
          .literal = token.kind,
          .string = token.kind == Tok::String ? token.payload : 0,
          .suffix = token.suffix,
          .span = span_from(begin),
          .sign = token.span};
}

/// `[a, b, ..rest]` is Cons(a, Cons(b, rest)).
ArmPattern Parser::list_pattern() {
  const uint32_t begin = take().span.begin;
  std::vector<ArmPattern> elements;
  ArmPattern list{.kind = ArmPattern::Kind::Nil};
  bool has_rest = false;
  while (!at(Tok::RightBracket) && !has_rest) {
    has_rest = accept(Tok::DotDot);
    if (has_rest) {
      list = at(Tok::RightBracket) ? ArmPattern{.kind = ArmPattern::Kind::Any, .span = span_from(begin)}
                                   : arm_pattern();
    } else {
      elements.push_back(arm_pattern());
    }
    if (has_rest || !accept(Tok::Comma)) break;
  }
  expect(Tok::RightBracket, has_rest ? "']' after the rest of the list" : "',', '..' or ']' in a pattern");
  const Span span = span_from(begin);
  if (!has_rest) list.span = span;
  if (has_rest && elements.empty()) report(span, "expected an element before the rest of the list");
  while (!elements.empty()) {
    const std::array parts = {elements.back(), list};
    elements.pop_back();
    list = {.kind = ArmPattern::Kind::Cons,
            .has_parts = true,
            .span = span,
            .parts = append<ArmPattern>(syntax_.arm_patterns, parts)};
  }
  return list;
}

/// One pattern in parentheses is that pattern.
ArmPattern Parser::tuple_pattern() {
  const uint32_t begin = take().span.begin;
  std::vector<ArmPattern> parts;
  do {
    if (at(Tok::RightParen) && !parts.empty()) break;
    parts.push_back(arm_pattern());
  } while (accept(Tok::Comma));
  expect(Tok::RightParen, "',' or ')' in a pattern");
  if (parts.size() == 1) return parts[0];
  return {.kind = ArmPattern::Kind::Tuple,
          .has_parts = true,
          .span = span_from(begin),
          .parts = append<ArmPattern>(syntax_.arm_patterns, parts)};
}

}  // namespace hiaton::lang
