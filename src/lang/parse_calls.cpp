// Parser: local functions, lambdas, gradients, calls of what an expression gives, and functions of what a
// call leaves open.
#include <fmt/format.h>

#include <algorithm>

#include "lang/parser.h"

namespace hiaton::lang {

/// The next token is 'fn'. All expressions of its body stand behind each other.
uint32_t Parser::local_function() {
  take();
  LocalFunction read;
  const Token& name = expect(Tok::Name, "the name of a function after 'let fn'");
  read.name = {.name = name.payload, .type = std::nullopt, .span = name.span};
  expect(Tok::LeftParen, "'(' and the parameters");
  std::vector<Pattern> params;
  while (!at(Tok::RightParen)) {
    Pattern param = pattern("the name of a parameter");
    expect(Tok::Colon, "':' and the type of the parameter");
    param.type = type();
    params.push_back(std::move(param));
    if (!accept(Tok::Comma)) break;
  }
  expect(Tok::RightParen, "',' or ')' after a parameter");
  read.params = append<Pattern>(syntax_.patterns, params);
  expect(Tok::Arrow, "'->' and the type of the result");
  if (accept(Tok::LeftParen)) {
    do {
      if (at(Tok::RightParen) && !read.results.empty()) break;
      read.results.push_back(type());
    } while (accept(Tok::Comma));
    expect(Tok::RightParen, "',' or ')' after the type of a result");
  } else {
    read.results.push_back(type());
  }
  expect(Tok::Assign, "'=' and the body of the function");
  read.first = static_cast<uint32_t>(syntax_.exprs.size());
  read.body = let_bound();
  syntax_.functions.push_back(std::move(read));
  return static_cast<uint32_t>(syntax_.functions.size() - 1);
}

/// A number or a tuple is no function, what stands before an arrow is a pattern, and what stands apart is
/// another expression.
bool Parser::may_be_called(ExprId expr) const {
  if (is_apart()) return false;
  switch (syntax_[expr].kind) {
    case Expr::Kind::Call:
    case Expr::Kind::Apply:
    case Expr::Kind::Field:
    case Expr::Kind::Index:
    case Expr::Kind::Name:
    case Expr::Kind::Lambda:
    case Expr::Kind::If:
    case Expr::Kind::Match:
    case Expr::Kind::Block:
    case Expr::Kind::Gradient:
      return !ends_pattern(behind_brackets());
    default:
      return false;
  }
}

ExprId Parser::applied(ExprId callee) {
  const Deeper deeper = nested();
  const Token& open = take();
  const std::size_t first = open_list_.size();
  arguments(Tok::RightParen, "an operator, ',' or ')' in the arguments", nullptr);
  return add({.kind = Expr::Kind::Apply,
              .span = span_from(syntax_[callee].span.begin),
              .sign = {open.span.begin, span_from(open.span.begin).end},
              .a = callee,
              .list = close_list(first)});
}

bool Parser::at_open_place() const {
  return at(Tok::Underscore) && (after_next().kind == Tok::Comma || after_next().kind == Tok::RightParen);
}

ExprId Parser::open_place(std::vector<Pattern>& places) {
  const Token& token = take();
  if (places.size() == Symbols::kPlaces) {
    fail(token.span, fmt::format("expected at most {} open places in a call", Symbols::kPlaces));
  }
  const Symbol name = declarations().symbols().place(places.size());
  places.push_back({.name = name, .type = std::nullopt, .span = token.span});
  return add({.kind = Expr::Kind::Name, .name = name, .span = token.span});
}

/// Literals, lists and functions stay where they are, for the places tell their types.
ExprId Parser::with_open_places(Expr call, std::size_t first, const std::vector<Pattern>& places,
                                std::size_t first_expression) {
  std::vector<Let> lets;
  bool keeps_some = false;
  std::size_t made = places.size();
  std::vector<std::size_t> copied;
  for (std::size_t i = first; i < open_list_.size(); ++i) {
    const Expr& argument = syntax_[open_list_[i]];
    const bool is_short = argument.kind == Expr::Kind::Name || argument.kind == Expr::Kind::Number ||
                          argument.kind == Expr::Kind::Bool || argument.kind == Expr::Kind::Parameter;
    const bool stays = argument.flex != Flex::Rigid || argument.kind == Expr::Kind::List ||
                       argument.kind == Expr::Kind::Lambda || argument.kind == Expr::Kind::Broken ||
                       (argument.kind == Expr::Kind::Gradient && !argument.is_called);
    if (is_short) {
      copied.push_back(i);
    } else if (stays) {
      keeps_some = true;
    } else if (made == Symbols::kPlaces) {
      fail(argument.span, fmt::format("expected at most {} arguments beside open places", Symbols::kPlaces));
    } else {
      const Pattern name{
          .name = declarations().symbols().place(made++), .type = std::nullopt, .span = argument.span};
      lets.push_back({.patterns = append<Pattern>(syntax_.patterns, {&name, 1}),
                      .bound = open_list_[i],
                      .function = {}});
      open_list_[i] = ExprId();
    }
  }
  const auto begin = static_cast<uint32_t>(keeps_some ? first_expression : syntax_.exprs.size());
  for (const std::size_t i : copied) open_list_[i] = add(Expr(syntax_[open_list_[i]]));
  std::size_t next = 0;
  for (std::size_t i = first; i < open_list_.size(); ++i) {
    if (open_list_[i].valid()) continue;
    const Pattern& name = syntax_.patterns[lets[next++].patterns.begin];
    open_list_[i] = add({.kind = Expr::Kind::Name, .name = *name.name, .span = name.span});
  }
  call.flex = Flex::Rigid;
  call.list = close_list(first);
  const ExprId body = add(call);
  const ExprId function = add({.kind = Expr::Kind::Lambda,
                               .span = call.span,
                               .sign = call.sign,
                               .a = body,
                               .list = append<Pattern>(syntax_.patterns, places),
                               .index = begin});
  if (lets.empty()) return function;
  return add(
      {.kind = Expr::Kind::Block, .span = call.span, .a = function, .list = append<Let>(syntax_.lets, lets)});
}

/// Without arguments behind it, it is a function.
ExprId Parser::gradient() {
  const Deeper deeper = nested();
  const uint32_t begin = next().span.begin;
  std::vector<Let> lets;
  const auto operand = [&] {
    const uint32_t first = next().span.begin;
    const ExprId bound = expression();
    const Pattern name{
        .name = declarations().symbols().hidden(0), .type = std::nullopt, .span = span_from(first)};
    lets.push_back({.patterns = append<Pattern>(syntax_.patterns, {&name, 1}), .bound = bound});
    return *name.name;
  };
  GradientOf read = gradient_of([&] { return lambda(); }, operand);
  Expr expr{.kind = Expr::Kind::Gradient,
            .is_called = at(Tok::LeftParen) && !next().starts_line && !at_arm_behind_blank(),
            .name = read.function,
            .sign = read.span,
            .index = static_cast<uint32_t>(syntax_.gradients.size())};
  syntax_.gradients.push_back(std::move(read));
  if (expr.is_called) {
    take();
    const std::size_t first = open_list_.size();
    arguments(Tok::RightParen, "an operator, ',' or ')' in the arguments", nullptr);
    expr.list = close_list(first);
  }
  expr.span = span_from(begin);
  const ExprId gradient = add(expr);
  if (lets.empty()) return gradient;
  return add(
      {.kind = Expr::Kind::Block, .span = expr.span, .a = gradient, .list = append<Let>(syntax_.lets, lets)});
}

/// All expressions of its body stand behind each other.
ExprId Parser::lambda() {
  const Deeper deeper = nested();
  const Token& word = take();
  take();
  std::vector<Pattern> params;
  std::vector<TakenApart> taken;
  while (!at(Tok::RightParen)) {
    params.push_back(pattern_taking_apart("the name of a parameter", taken));
    if (!accept(Tok::Comma)) break;
  }
  expect(Tok::RightParen, "',' or ')' after a parameter");
  expect(Tok::Arrow, "'->' and the value of the function");
  const auto first = static_cast<uint32_t>(syntax_.exprs.size());
  const std::size_t arms_before = syntax_.arms.size();
  const ExprId body = with_taken_apart(expression(), taken, arms_before);
  if (at(Tok::Assign)) {
    fail_expected(
        "the end of a lambda, which has no result type: fn(x) -> value; a function with one is "
        "let fn name(x: type) -> type = value");
  }
  return add({.kind = Expr::Kind::Lambda,
              .span = span_from(word.span.begin),
              .sign = word.span,
              .a = body,
              .list = append<Pattern>(syntax_.patterns, params),
              .index = first});
}

}  // namespace hiaton::lang
