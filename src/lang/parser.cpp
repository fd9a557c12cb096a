#include "lang/parser.h"

#include <fmt/format.h>

#include <algorithm>

namespace hiaton::lang {
namespace {

/// About how many nodes an expression becomes, parts not counted.
std::size_t nodes_of(Expr::Kind kind) {
  switch (kind) {
    case Expr::Kind::Broken:
    case Expr::Kind::Name:
    case Expr::Kind::Parameter:
    case Expr::Kind::Tuple:
    case Expr::Kind::Block:
    case Expr::Kind::On:
      return 0;
    case Expr::Kind::Logic:
      return 2;
    case Expr::Kind::Loop:
    case Expr::Kind::Match:
      return 4;
    default:
      return 1;
  }
}

}  // namespace

void Syntax::clear() {
  exprs.clear();
  lists.clear();
  patterns.clear();
  lets.clear();
  functions.clear();
  loops.clear();
  gradients.clear();
  attributes.clear();
  fields.clear();
  arms.clear();
  arm_patterns.clear();
  types.clear();
  nodes = 0;
}

Parser::Level Parser::level_of(Tok op) {
  switch (op) {
    case Tok::Or:
      return kOr;
    case Tok::And:
      return kAnd;
    case Tok::Equal:
    case Tok::NotEqual:
    case Tok::Less:
    case Tok::LessEqual:
    case Tok::Greater:
    case Tok::GreaterEqual:
      return kComparison;
    case Tok::Plus:
    case Tok::Minus:
      return kSum;
    case Tok::Star:
    case Tok::Slash:
    case Tok::Percent:
    case Tok::At:
      return kProduct;
    default:
      return kNone;
  }
}

void Parser::fail_nesting() {
  report(next().span,
         fmt::format("expected at most {} expressions inside each other, found more; a function or "
                     "a 'let' can hold the inner ones",
                     kMaxNesting));
  throw Unreadable{.skip_function = true};
}

ExprId Parser::read_body(const FunctionHead& head) {
  syntax_.clear();
  go_to(head.body);
  begin_sizes(head.sizes);
  begin_type_arguments(head.type_arguments);
  try {
    const ExprId body = expression();
    refuse_mistyped_sizes();
    if (!at_declaration() && !at(Tok::End)) fail_after_body();
    return body;
  } catch (const Unreadable&) {
    nesting_ = 0;
    open_matches_.clear();
    open_lets_.clear();
    open_list_.clear();
    return broken(head.span);
  }
}

void Parser::fail_after_body() {
  const bool opens = at(Tok::LeftParen) || at(Tok::LeftBracket);
  if (opens && next().starts_line) {
    fail_expected(fmt::format(
        "'fn' or the end of the program (a line that starts with '{}' does not continue the line before)",
        source().text(next().span)));
  }
  fail_expected("an operator, 'fn' or the end of the program");
}

/// Says that the block of which the first `let` stands at `begin` has no result. A line that begins with a
/// minus may have been meant as its result.
void Parser::fail_without_result(uint32_t begin) {
  if (const Token* minus = last_minus_at_a_line(begin)) {
    fail(minus->span,
         "this line continues the value of the 'let' before, for it begins with '-', and the 'let' has no "
         "expression "
         "that it is for; in parentheses, (-x), it is one of its own");
  }
  fail_expected("the expression that the 'let' before is for");
}

Pattern Parser::pattern(std::string_view what) {
  if (at(Tok::Underscore)) return {std::nullopt, std::nullopt, take().span};
  const Token& name = expect(Tok::Name, what);
  return {name.payload, std::nullopt, name.span};
}

Pattern Parser::pattern_with_type(std::string_view what) {
  Pattern read = pattern(what);
  if (accept(Tok::Colon)) read.type = type();
  return read;
}

ExprId Parser::add(const Expr& expr) {
  const ExprId id(syntax_.exprs.size());
  syntax_.nodes += nodes_of(expr.kind);
  syntax_.exprs.push_back(expr);
  return id;
}

ExprId Parser::expression() {
  return at(Tok::Let) ? block() : operators(kOr);
}

ExprId Parser::block() {
  const uint32_t begin = next().span.begin;
  const std::size_t first = open_lets_.size();
  while (at(Tok::Let) && !at_let_taking_apart()) {
    const Let read = let();
    open_lets_.push_back(read);
  }
  if (at_declaration() || at(Tok::End)) fail_without_result(begin);
  const ExprId last = at(Tok::Let) ? let_taking_apart() : operators(kOr);
  if (open_lets_.size() == first) return last;
  const Range lets = append(syntax_.lets, std::span<const Let>(open_lets_).subspan(first));
  open_lets_.resize(first);
  return add(
      {.kind = Expr::Kind::Block, .flex = flex_of(last), .span = span_from(begin), .a = last, .list = lets});
}

/// After something unreadable, goes on at the next `let` that is indented as this one is.
Let Parser::let() {
  const std::size_t start = position();
  const Span span = take().span;
  Let read;
  const std::size_t lists = open_list_.size();
  const std::size_t lets = open_lets_.size();
  const std::size_t matches = open_matches_.size();
  const int nesting = nesting_;
  try {
    if (at(Tok::Fn)) {
      read.function = local_function();
    } else {
      read.patterns = let_patterns();
      expect(Tok::Assign, "'=' and the value of the 'let'");
      read.bound = let_bound();
    }
    accept(Tok::In);
    return read;
  } catch (const Unreadable& unreadable) {
    if (unreadable.skip_function || !skip_to_let_like(start)) throw;
  }
  open_list_.resize(lists);
  open_lets_.resize(lets);
  open_matches_.resize(matches);
  nesting_ = nesting;
  if (read.patterns.count == 0) read.patterns = append<Pattern>(syntax_.patterns, patterns_);
  read.bound = broken(span);
  return read;
}

bool Parser::skip_to_let_like(std::size_t start) {
  const std::size_t stopped = position();
  go_to(start);
  const Token& pattern = take();
  const uint32_t column = source().locate(pattern.span.begin).column;
  for (go_to(stopped); pattern.starts_line && !at(Tok::End) && !at_declaration(); take()) {
    const bool like = at(Tok::Let) && next().starts_line;
    if (like && source().locate(next().span.begin).column == column) return true;
  }
  go_to(stopped);
  return false;
}

Range Parser::let_patterns() {
  std::vector<Pattern>& read = patterns_;
  read.clear();
  if (!accept(Tok::LeftParen)) {
    read.push_back(pattern_with_type("a name, '_' or '(' after 'let'"));
    return append<Pattern>(syntax_.patterns, read);
  }
  do {
    if (at(Tok::RightParen) && !read.empty()) break;
    read.push_back(pattern_with_type("a name or '_'"));
  } while (accept(Tok::Comma));
  expect(Tok::RightParen, "',' or ')' after a name");
  return append<Pattern>(syntax_.patterns, read);
}

ExprId Parser::let_bound() {
  if (!at(Tok::Let)) return operators(kOr);
  const Deeper deeper = nested();
  return block();
}

ExprId Parser::operators(int weakest) {
  ExprId left = operand();
  while (true) {
    const Level level = level_of(next().kind);
    if (level == kNone || level < weakest || at_negative_arm()) return left;
    const Token& op = take();
    left = level <= kAnd ? logic(left, op, level) : binary(left, op, level);
    if (level == kComparison && level_of(next().kind) == kComparison) {
      fail(next().span,
           fmt::format("expected one comparison, found a second one: '{}' and '{}' do not chain; "
                       "join two with 'and'",
                       spelling(op.kind), spelling(next().kind)));
    }
  }
}

ExprId Parser::logic(ExprId left, const Token& op, Level level) {
  const Deeper deeper = nested();
  const ExprId right = operators(level + 1);
  return add({.kind = Expr::Kind::Logic,
              .op = op.kind,
              .span = span_from(syntax_[left].span.begin),
              .sign = op.span,
              .a = left,
              .b = right});
}

ExprId Parser::binary(ExprId left, const Token& op, Level level) {
  const ExprId right = operators(level + 1);
  const bool compares = level == kComparison;
  return add({.kind = Expr::Kind::Binary,
              .flex = compares ? Flex::Rigid : common_flex(flex_of(left), flex_of(right)),
              .op = op.kind,
              .span = span_from(syntax_[left].span.begin),
              .sign = op.span,
              .a = left,
              .b = right});
}

}  // namespace hiaton::lang
