#include "lang/size_formula.h"

#include <limits>

namespace hiaton::lang {

std::optional<int64_t> combined(Tok op, int64_t a, int64_t b) {
  int64_t result = 0;
  bool fails = true;
  if (op == Tok::Plus) fails = __builtin_add_overflow(a, b, &result);
  if (op == Tok::Minus) fails = __builtin_sub_overflow(a, b, &result);
  if (op == Tok::Star) fails = __builtin_mul_overflow(a, b, &result);
  if (op == Tok::Slash || op == Tok::Percent) {
    fails = b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min());
    if (!fails) result = op == Tok::Slash ? a / b : a % b;
  }
  return fails ? std::nullopt : std::optional(result);
}

void SizeFormula::append(const SizeFormula& other) {
  if (other.steps_.empty()) {
    steps_.push_back({.kind = Step::Kind::Number, .number = other.number_});
  } else {
    steps_.insert(steps_.end(), other.steps_.begin(), other.steps_.end());
  }
}

SizeFormula SizeFormula::of(Tok op, SizeFormula a, const SizeFormula& b) {
  if (a.steps_.empty()) a.append(SizeFormula(a.number_));
  a.append(b);
  a.steps_.push_back({.kind = Step::Kind::Operator, .op = op});
  return a;
}

std::optional<int64_t> SizeFormula::value(
    const std::function<std::optional<int64_t>(Symbol)>& value_of) const {
  if (steps_.empty()) return number_;
  std::vector<int64_t> stack;
  for (const Step& step : steps_) {
    std::optional<int64_t> next = step.number;
    if (step.kind == Step::Kind::Symbol) next = value_of(step.symbol);
    if (step.kind == Step::Kind::Operator) {
      const int64_t b = stack.back();
      stack.pop_back();
      next = combined(step.op, stack.back(), b);
      stack.pop_back();
    }
    if (!next) return std::nullopt;
    stack.push_back(*next);
  }
  return stack.back();
}

}  // namespace hiaton::lang
