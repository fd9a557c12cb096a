#include "lang/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ir/names.h"
#include "lang/suggest.h"

namespace hiaton::lang {

/// A `param` without a type behind it is an expression, and `size` and the like are names like others.
bool Reader::begins_declaration(const Token* token) const {
  switch (token->kind) {
    case Tok::Fn:  // what has no name is a function type or a lambda
      return token[1].kind != Tok::LeftParen && (token == first_ || token[-1].kind != Tok::Let);
    case Tok::Data:  // what has no name behind it may have been meant as a name
      return token->starts_line || token[1].kind == Tok::Name;
    case Tok::Param:
      return token[1].kind == Tok::Name && token[2].kind == Tok::Colon;
    case Tok::Name:
      return declaration_by_name(token) != Declared::Nothing;
    default:
      return false;
  }
}

Reader::Declared Reader::declaration_by_name(const Token* token) const {
  if (!token->starts_line || token->kind != Tok::Name) return Declared::Nothing;
  const bool is_import = token[1].kind == Tok::String;
  if (!is_import && token[1].kind != Tok::Name) return Declared::Nothing;
  const std::string_view word = source_.text(token->span);
  if (is_import) return word == "import" ? Declared::Import : Declared::Nothing;
  const Tok behind = token[2].kind;
  if (word == "size" && behind == Tok::Assign) return Declared::Size;
  if (word == "const" && (behind == Tok::Assign || behind == Tok::Colon)) return Declared::Constant;
  if (word == "type" && (behind == Tok::Assign || behind == Tok::LeftBracket)) return Declared::Alias;
  return Declared::Nothing;
}

bool Reader::begins_file(const Token* token) const {
  const std::vector<Source::File>& files = source_.files();
  return files.size() > 1 && token != first_ && token->starts_line && token->kind != Tok::End &&
         token[-1].span.end <= source_.file_at(token->span.begin).begin;
}

bool Reader::at_all(std::initializer_list<Tok> kinds) const {
  const Token* token = next_;  // none of the kinds is the End, which is the last one
  for (const Tok kind : kinds) {
    if (token->kind != kind) return false;
    ++token;
  }
  return true;
}

const Token& Reader::behind_brackets() const {
  const Token* token = next_;
  int open = 0;
  do {
    if (token->kind == Tok::End || (token != next_ && begins_declaration(token))) return *token;
    if (token->kind == Tok::LeftParen || token->kind == Tok::LeftBracket) ++open;
    if (token->kind == Tok::RightParen || token->kind == Tok::RightBracket) --open;
    ++token;
  } while (open > 0);
  return *token;
}

bool Reader::at_loop() const {
  int open = 0;
  for (const Token* token = next_ + 1; token->kind != Tok::End && !begins_declaration(token); ++token) {
    switch (token->kind) {
      case Tok::LeftParen:
      case Tok::LeftBracket:
        ++open;
        break;
      case Tok::RightParen:
      case Tok::RightBracket:
        if (--open < 0) return false;
        break;
      case Tok::While:
      case Tok::For:
        if (open == 0) return true;
        break;
      case Tok::With:
        if (open == 0) return false;
        break;
      default:
        break;
    }
  }
  return false;
}

const Token* Reader::last_minus_at_a_line(uint32_t begin) const {
  for (const Token* token = next_; token != first_ && token[-1].span.begin >= begin; --token) {
    if (token[-1].starts_line) return token[-1].kind == Tok::Minus ? token - 1 : nullptr;
  }
  return nullptr;
}

void Reader::refuse_files_that_continue() {
  const std::vector<Source::File>& files = source_.files();
  for (std::size_t i = 1; i < files.size(); ++i) {
    const auto first =
        std::lower_bound(tokens_.tokens.begin(), tokens_.tokens.end(), files[i].begin,
                         [](const Token& token, uint32_t begin) { return token.span.begin < begin; });
    const bool is_empty = first->kind == Tok::End || &source_.file_at(first->span.begin) != &files[i];
    if (is_empty || first->kind == Tok::Error || begins_declaration(&*first)) continue;
    report(first->span,
           fmt::format("expected a declaration at the beginning of a file, found {}", describe(*first)));
  }
}

void Reader::skip_to_declaration() {
  while (!at(Tok::End) && !at_declaration()) ++next_;
}

bool Reader::at_capitalized_name() const {
  return at(Tok::Name) && ir::is_capitalized(source_.text(next_->span));
}

GradientOf Reader::gradient_of(const std::function<ExprId()>& lambda,
                               const std::function<Symbol()>& operand) {
  GradientOf read;
  while (at_gradient()) {
    if (read.steps.size() == kMaxNesting) fail(next_->span, "expected fewer gradients of gradients");
    read.steps.push_back({.kind = *gradient_kind(take().kind)});
    expect(Tok::LeftParen, "'(' and the name of a function");
  }
  std::reverse(read.steps.begin(), read.steps.end());
  const uint32_t begin = next_->span.begin;
  if (at_all({Tok::Fn, Tok::LeftParen})) {
    read.lambda = lambda();
  } else if (at(Tok::Name) && !at_name_alone()) {
    read.function = operand();
  } else {
    read.function = expect(Tok::Name, "the name of a function or fn(x) -> ...").payload;
  }
  read.span = span_from(begin);
  for (GradientOf::Step& step : read.steps) {
    if (accept(Tok::Comma)) step.wrt = gradient_wrt();
    expect(Tok::RightParen, step.wrt.empty() ? "')' or ', wrt=' after the name of a function"
                                             : "')' after what the gradient is by");
  }
  return read;
}

/// `wrt=0`, `wrt=(0, W)`
std::vector<GradientOf::Wrt> Reader::gradient_wrt() {
  constexpr std::string_view kWhat = "'wrt=' and what the gradient is by";
  const bool is_wrt = at(Tok::Name) && source_.text(next_->span) == "wrt";
  if (!is_wrt && after_next().kind != Tok::Assign) {
    fail(next_->span, fmt::format("expected {}, found {}; arguments stand in parentheses of their own: "
                                  "grad(f)(x)",
                                  kWhat, describe(*next_)));
  }
  if (!is_wrt) fail_expected(kWhat);
  take();
  expect(Tok::Assign, kWhat);
  if (!accept(Tok::LeftParen)) return {gradient_by()};
  std::vector<GradientOf::Wrt> wrt;
  do {
    if (at(Tok::RightParen) && !wrt.empty()) break;
    wrt.push_back(gradient_by());
  } while (accept(Tok::Comma));
  expect(Tok::RightParen, "',' or ')' after what the gradient is by");
  return wrt;
}

GradientOf::Wrt Reader::gradient_by() {
  constexpr std::string_view kWhat =
      "the number or the name of a parameter, from 0 on, or the name of a learned parameter";
  const uint32_t begin = next_->span.begin;
  GradientOf::Wrt by;
  if (at(Tok::Integer) && !next_->suffix) {
    const std::string_view digits = source_.text(take().span);
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      fail(next_[-1].span, fmt::format("expected {}, found the number {}", kWhat, digits));
    }
    by.number = number;
  } else {
    by.is_learned = accept(Tok::Param);
    by.name = expect(Tok::Name, kWhat).payload;
  }
  by.span = span_from(begin);
  return by;
}

std::string Reader::describe(const Token& token) const {
  constexpr std::size_t kLongest = 40;
  const std::string_view text = source_.text(token.span).substr(0, kLongest);
  switch (token.kind) {
    case Tok::End:
      return "the end of the program";
    case Tok::Name:
      return fmt::format("the name '{}'", text);
    case Tok::Integer:
    case Tok::Float:
      return fmt::format("the number {}", text);
    case Tok::String:
      return "a string";
    default:
      return fmt::format("'{}'", text);
  }
}

void Reader::fail(Span span, std::string message) {
  report(span, std::move(message));
  throw Unreadable();
}

const Token* Reader::open_bracket() const {
  const Token* begin = next_;
  while (begin != first_ && !begins_declaration(begin - 1)) --begin;
  std::vector<const Token*> open;
  for (const Token* token = begin; token != next_; ++token) {
    if (token->kind == Tok::LeftParen || token->kind == Tok::LeftBracket) open.push_back(token);
    const bool closes = token->kind == Tok::RightParen || token->kind == Tok::RightBracket;
    if (closes && !open.empty()) open.pop_back();
  }
  return open.empty() ? nullptr : open.back();
}

bool Reader::follows_print() const {
  const Token* token = next_;
  while (token != first_ && !token[-1].starts_line) --token;
  return token != first_ && token[-1].kind == Tok::Name && source_.text(token[-1].span) == "print" &&
         token->kind == Tok::LeftParen;
}

/// "; arguments of a function stand in parentheses: f(...)", where one stands behind a name.
std::string Reader::hint_at_argument(std::string_view what) const {
  const bool is_behind_name = next_ != first_ && next_[-1].kind == Tok::Name;
  const bool may_be_argument = at(Tok::Name) || at(Tok::Integer) || at(Tok::Float) || at(Tok::String);
  const bool is_behind_function =
      is_behind_name && next_ - 1 != first_ && next_[-2].kind != Tok::Fn && !next_->starts_line;
  const bool is_call =
      may_be_argument && is_behind_function && what.find("an operator") != std::string_view::npos;
  if (!is_call) return "";
  const std::string_view function = source_.text(next_[-1].span);
  if (!written_here(function).empty() || !written_here(source_.text(next_->span)).empty()) return "";
  return fmt::format("; arguments of a function stand in parentheses: {}(...)", function);
}

/// What may have been meant by what stands here instead of `what`; often nothing.
std::string Reader::hint_at(std::string_view what) const {
  const auto wants = [&](std::string_view part) { return what.find(part) != std::string_view::npos; };
  const bool wants_operator = wants("an operator");
  const bool ends_here = at(Tok::End) || begins_declaration(next_);
  if (const Token* open = (wants("')'") || wants("']'")) && ends_here ? open_bracket() : nullptr;
      open != nullptr)
    return fmt::format("; the '{}' at {} is not closed", source_.text(open->span),
                       source_.place_of(open->span.begin));
  const bool is_in_list = at(Tok::For) && wants("after an element");
  if (!is_in_list && (at(Tok::For) || at(Tok::While)))
    return "; a loop gives a value: with sum = 0 for i in 0..n do sum + i";
  if (next_->kind < Tok::Name && wants("name")) return ", a keyword";
  const bool is_behind_name = next_ != first_ && next_[-1].kind == Tok::Name;
  if (is_behind_name && source_.text(next_[-1].span) == "return")
    return "; the result of a function is its expression, without 'return'";
  const std::string_view notation = written_instead_of_notation(what, first_, next_);
  if (!notation.empty()) return fmt::format("; {}", notation);
  if (std::string argument = hint_at_argument(what); !argument.empty()) return argument;
  const bool is_behind_sign =
      next_ != first_ && next_[-1].kind >= Tok::Plus && next_[-1].kind <= Tok::Percent;
  if (at(Tok::Assign) && is_behind_sign && wants("an expression"))
    return "; nothing is assigned: another value gets a name by 'let'";
  if (at(Tok::Assign) && wants_operator) {
    const bool may_assign = next_ != first_ && next_[-1].kind == Tok::Name && next_[-1].starts_line;
    return may_assign ? "; nothing is assigned: a value gets a name by 'let', and equality is written '=='"
                      : "; equality is written '=='";
  }
  if (!wants_operator) return "";
  if (at(Tok::String) && is_behind_name) return "; str(x) is the text of a value, and a + b joins two texts";
  const bool ends_parameters =
      at(Tok::Colon) && is_behind_name && next_ - 1 != first_;  // of a lambda of Python
  for (const Token* word : {next_, is_behind_name ? next_ - 1 : next_, ends_parameters ? next_ - 2 : next_}) {
    const std::string here = word->kind == Tok::Name ? written_here(source_.text(word->span)) : "";
    if (!here.empty()) return here;
  }
  const bool begins_expression = at(Tok::Name) || at(Tok::Integer) || at(Tok::Float);
  if (!next_->starts_line || !begins_expression) return "";
  return follows_print()
             ? "; what is only printed has no name: let _ = print(x)"
             : "; a function is one expression, and values that it needs before get names by 'let'";
}

void Reader::fail_expected(std::string_view what) {
  if (at(Tok::Error)) throw Unreadable();  // reported by the lexer
  if (begins_file(next_)) {
    const uint32_t end = next_[-1].span.end;
    fail({end, end}, fmt::format("expected {}, found the end of the file", what));
  }
  fail(next_->span, fmt::format("expected {}, found {}{}", what, describe(*next_), hint_at(what)));
}

}  // namespace hiaton::lang
