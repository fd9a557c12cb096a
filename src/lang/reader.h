// Walking along the tokens: what reading heads and reading bodies share.
#pragma once

#include <string>
#include <string_view>

#include "lang/diagnostics.h"
#include "lang/syntax.h"

namespace hiaton::lang {

/// Thrown after a finding was reported, to the nearest place from which reading can go on.
struct Unreadable {
  bool skip_function = false;
};

class Reader {
 public:
  Reader(const Source& source, const TokenList& tokens, Diagnostics& diagnostics)
      : source_(source), first_(tokens.tokens.data()), next_(first_), diagnostics_(diagnostics) {}

 protected:
  bool at(Tok kind) const { return next_->kind == kind; }
  const Token& next() const { return *next_; }
  /// There is always an End behind the next token unless that is End.
  const Token& after_next() const { return next_[1]; }
  const Token& take() { return *next_++; }
  bool accept(Tok kind) {
    if (!at(kind)) return false;
    ++next_;
    return true;
  }
  const Token& expect(Tok kind, std::string_view what) {
    if (!at(kind)) fail_expected(what);
    return take();
  }
  std::size_t position() const { return static_cast<std::size_t>(next_ - first_); }
  void go_to(std::size_t position) { next_ = first_ + position; }
  void skip_to_function();
  /// From `begin` to the end of the last token taken.
  Span span_from(uint32_t begin) const { return {begin, next_[-1].span.end}; }

  [[noreturn]] void fail(Span span, std::string message);
  /// "expected `what`, found" the next token.
  [[noreturn]] void fail_expected(std::string_view what);
  void report(Span span, std::string message) { diagnostics_.add(span, std::move(message)); }

  /// Empty where the type is unknown, which is reported.
  std::optional<DType> type();

  const Source& source() const { return source_; }

 private:
  std::string describe(const Token& token) const;
  void shape(const Token& name);

  const Source& source_;
  const Token* first_;
  const Token* next_;
  Diagnostics& diagnostics_;
};

}  // namespace hiaton::lang
