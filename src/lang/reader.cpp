#include "lang/reader.h"

#include <fmt/format.h>

#include "lang/suggest.h"

namespace hiaton::lang {

void Reader::skip_to_function() {
  while (!at(Tok::End) && !at(Tok::Fn)) ++next_;
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
  std::string_view hint;
  if (next_->kind >= Tok::Data && next_->kind <= Tok::Grad) {
    hint = "; this word is kept for a later version of the language";
  } else if (next_->kind < Tok::Name && wants_name) {
    hint = ", a keyword";
  } else if (at(Tok::Assign)) {
    hint = "; equality is written '=='";
  }
  fail(next_->span, fmt::format("expected {}, found {}{}", what, describe(*next_), hint));
}

std::optional<DType> Reader::type() {
  const Token& name = expect(Tok::Name, "a type (bool, i32, i64, f32 or f64)");
  const std::string_view text = source_.text(name.span);
  std::optional<DType> dtype = dtype_from_name(text);
  if (!dtype) {
    Suggestion similar(text);
    for (DType known : {DType::Bool, DType::I32, DType::I64, DType::F32, DType::F64}) {
      similar.offer(name_of(known));
    }
    report(name.span,
           fmt::format("expected a type (bool, i32, i64, f32 or f64), found '{}'{}", text, similar.text()));
  }
  if (at(Tok::LeftBracket) && !next_->starts_line) {
    shape(name);
    dtype = std::nullopt;
  }
  return dtype;
}

void Reader::shape(const Token& name) {
  int open = 0;
  do {
    if (at(Tok::LeftBracket)) ++open;
    if (at(Tok::RightBracket)) --open;
    if (at(Tok::End) || at(Tok::Fn) || at(Tok::Assign)) fail_expected("']' after the shape of a type");
    ++next_;
  } while (open > 0);
  const Span span = span_from(name.span.begin);
  report(span, fmt::format("expected a scalar type, found {}: tensors are not supported so far",
                           source_.text(span)));
}

}  // namespace hiaton::lang
