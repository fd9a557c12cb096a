#include "lang/reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/names.h"

namespace hiaton::lang {

/// A `param` without a type behind it is an expression, and `size` and the like are names like others.
bool Reader::begins_declaration(const Token* token) const {
  switch (token->kind) {
    case Tok::Fn:  // what has no name is a function type or a lambda
      return token[1].kind != Tok::LeftParen;
    case Tok::Data:
      return true;
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
    if (token->kind == Tok::End) return *token;
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

GradientOf Reader::gradient_of() {
  std::vector<bool> from_outside;
  while (at(Tok::Grad) || at(Tok::ValueAndGrad)) {
    if (from_outside.size() == kMaxNesting) fail(next_->span, "expected fewer gradients of gradients");
    from_outside.push_back(take().kind == Tok::ValueAndGrad);
    expect(Tok::LeftParen, "'(' and the name of a function");
  }
  const Token& name = expect(Tok::Name, "the name of a function");
  for (std::size_t i = 0; i < from_outside.size(); ++i) {
    expect(Tok::RightParen, "')' after the name of a function");
  }
  return {name.payload, name.span, {from_outside.rbegin(), from_outside.rend()}};
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

void Reader::fail_expected(std::string_view what) {
  if (at(Tok::Error)) throw Unreadable();  // reported by the lexer
  if (begins_file(next_)) {
    const uint32_t end = next_[-1].span.end;
    fail({end, end}, fmt::format("expected {}, found the end of the file", what));
  }
  const bool wants_name = what.find("name") != std::string_view::npos;
  const bool wants_operator = what.find("an operator") != std::string_view::npos;
  std::string_view hint;
  if (next_->kind < Tok::Name && wants_name) {
    hint = ", a keyword";
  } else if (at(Tok::Assign) && wants_operator) {
    hint = "; equality is written '=='";
  } else if (at(Tok::Bar) && wants_operator) {
    hint = "; logic is written 'and', 'or', 'not'";
  }
  fail(next_->span, fmt::format("expected {}, found {}{}", what, describe(*next_), hint));
}

}  // namespace hiaton::lang
