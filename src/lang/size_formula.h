// Sizes that follow from the symbols of a function's signature: `n + 1`.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "lang/token.h"

namespace hiaton::lang {

/// What an arithmetic operator gives for integers that are known. Empty where the result is out of range, and
/// for a division by zero.
std::optional<int64_t> combined(Tok op, int64_t a, int64_t b);

/// An integer of numbers and symbols, as a program for a stack.
class SizeFormula {
 public:
  struct Step {
    enum class Kind : uint8_t { Number, Symbol, Operator };
    Kind kind;
    Tok op = Tok::Error;
    int64_t number = 0;
    Symbol symbol = 0;
    Span span{};  ///< where the symbol stands
  };

  explicit SizeFormula(int64_t number) : number_(number) {}
  SizeFormula(Symbol symbol, Span span) {
    steps_.push_back({.kind = Step::Kind::Symbol, .symbol = symbol, .span = span});
  }

  /// Empty where it has symbols.
  std::optional<int64_t> number() const { return steps_.empty() ? std::optional(number_) : std::nullopt; }
  /// None where it is a number.
  const std::vector<Step>& steps() const { return steps_; }
  /// One of the two at least has symbols.
  static SizeFormula of(Tok op, SizeFormula a, const SizeFormula& b);
  /// Empty where a symbol has no value, and where the result has none.
  std::optional<int64_t> value(const std::function<std::optional<int64_t>(Symbol)>& value_of) const;

 private:
  void append(const SizeFormula& other);

  int64_t number_ = 0;
  std::vector<Step> steps_;
};

}  // namespace hiaton::lang
