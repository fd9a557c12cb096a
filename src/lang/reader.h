// Walking along the tokens: what reading heads and reading bodies share.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lang/declarations.h"
#include "lang/diagnostics.h"
#include "lang/syntax.h"

namespace hiaton::lang {

/// Thrown after a finding was reported, to the nearest place from which reading can go on.
struct Unreadable {
  bool skip_function = false;
};

/// One level more, for as long as it lives.
class Deeper {
 public:
  explicit Deeper(int& depth) : depth_(depth) { ++depth_; }
  ~Deeper() { --depth_; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;

 private:
  int& depth_;
};

class Reader {
 public:
  Reader(const Source& source, const TokenList& tokens, Declarations& declarations, Diagnostics& diagnostics)
      : source_(source),
        first_(tokens.tokens.data()),
        next_(first_),
        declarations_(declarations),
        diagnostics_(diagnostics) {}

 protected:
  bool at(Tok kind) const { return next_->kind == kind; }
  const Token& next() const { return *next_; }
  /// Behind the End there is nothing else.
  const Token& after_next() const { return at(Tok::End) ? *next_ : next_[1]; }
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
  /// Whether a function, data type, size or parameter begins here.
  bool at_declaration() const;
  void skip_to_declaration();
  /// From `begin` to the end of the last token taken.
  Span span_from(uint32_t begin) const { return {begin, next_[-1].span.end}; }

  [[noreturn]] void fail(Span span, std::string message);
  /// "expected `what`, found" the next token.
  [[noreturn]] void fail_expected(std::string_view what);
  void report(Span span, std::string message) { diagnostics_.add(span, std::move(message)); }

  // Types and what stands in them (types.cpp).
  /// Empty where the type is unknown, which is reported.
  std::optional<Type> type();
  /// An integer that follows from numbers and sizes alone. Empty where it has no value, which is reported.
  std::optional<int64_t> constant();
  /// From here on these are the symbols of the parameters of the function that is read.
  void begin_sizes(std::unordered_set<Symbol> of_parameters) {
    sizes_ = std::move(of_parameters);
    symbols_read_.clear();
  }
  /// The symbols of the types that were read since then.
  std::unordered_set<Symbol> sizes_read() const;
  /// Reports those of them that no parameter has, but whose names are nearly that of a size.
  void refuse_mistyped_sizes();
  Declarations& declarations() { return declarations_; }
  /// `grad(f)`, with `grad` as the next token.
  GradientOf gradient_of();
  /// Like `Leaf`, not like `leaf`.
  bool at_capitalized_name() const;

  const Source& source() const { return source_; }

 private:
  std::string describe(const Token& token) const;
  [[nodiscard]] Deeper inside_brackets();
  std::optional<Type> list_type();
  std::optional<Type> unknown_type(const Token& name);
  void report_unknown_type(const Token& name);
  std::optional<std::vector<Dim>> shape();
  std::optional<Dim> dimension();
  std::optional<int64_t> constant_product();
  std::optional<int64_t> constant_factor();
  std::optional<int64_t> constant_size(bool negative);
  std::optional<int64_t> combine(Tok op, std::optional<int64_t> a, std::optional<int64_t> b, Span span);

  const Source& source_;
  const Token* first_;
  const Token* next_;
  Declarations& declarations_;
  Diagnostics& diagnostics_;
  int depth_ = 0;                     ///< of brackets in a type or constant
  std::unordered_set<Symbol> sizes_;  ///< symbols of the parameters of the function that is read
  /// How many names are still compared: programs of any size are read in little time.
  std::size_t comparisons_left_ = 1'000'000;
  std::vector<const Token*> symbols_read_;  ///< in the types read since those are known
};

}  // namespace hiaton::lang
