#include "lang/reader.h"

#include <fmt/format.h>

#include "ir/names.h"

namespace hiaton::lang {

/// A `param` without a type behind it is an expression, and `size` is a name like others.
bool Reader::at_declaration() const {
  switch (next_->kind) {
    case Tok::Fn:
    case Tok::Data:
      return true;
    case Tok::Param:
      return next_[1].kind == Tok::Name && next_[2].kind == Tok::Colon;
    case Tok::Name:
      return next_->starts_line && next_[1].kind == Tok::Name && next_[2].kind == Tok::Assign &&
             source_.text(next_->span) == "size";
    default:
      return false;
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
