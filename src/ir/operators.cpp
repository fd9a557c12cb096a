// C++ operators on values that are being built.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "hiaton/builder.h"
#include "hiaton/error.h"

namespace hiaton {
namespace {

/// What the operator is on two values of one data type, strings among them; nothing where it is none on
/// these.
std::optional<Var> on_data(std::string_view symbol, Var a, Var b) {
  if (!a.type().is_data() || !(a.type() == b.type())) return std::nullopt;
  FunctionBuilder& f = a.builder();
  if (symbol == "+" && is_string(a.type())) return f.op("string_join", {a, b});
  if (symbol == "==") return f.equal(a, b);
  if (symbol == "!=") return !f.equal(a, b);
  if (!is_ordered(a.type())) return std::nullopt;
  // All of one order, so that two comparisons of the same values compare them once.
  if (symbol == "<") return f.order(a, b) < int64_t{0};
  if (symbol == ">") return f.order(a, b) > int64_t{0};
  if (symbol == "<=") return f.order(a, b) <= int64_t{0};
  if (symbol == ">=") return f.order(a, b) >= int64_t{0};
  return std::nullopt;
}

Var infix(std::string_view symbol, Var a, Var b) {
  if (const std::optional<Var> made = on_data(symbol, a, b)) return *made;
  return a.builder().op(*catalog().find_symbol(symbol, 2), {a, b});
}

template <class T, class Number>
bool can_hold(Number number) {
  if constexpr (std::is_integral_v<Number>) {
    return std::in_range<T>(number);
  } else {
    constexpr auto kLeast = static_cast<double>(std::numeric_limits<T>::min());
    constexpr T kHalf = std::numeric_limits<T>::max() / 2 + 1;
    constexpr double kEnd = 2.0 * static_cast<double>(kHalf);  // one past the largest
    return number >= kLeast && number < kEnd && number == std::trunc(number);
  }
}

template <class Number>
Var number_like(Var like, Number number) {
  const auto whole = [&]<class T>(T) {
    if (!can_hold<T>(number)) {
      throw ProgramError(fmt::format("{} does not fit in {}", number, to_string(like.type())));
    }
    return like.builder().constant(Value(static_cast<T>(number)));
  };
  switch (like.type().dtype) {
    case DType::U8:
      return whole(uint8_t{});
    case DType::I32:
      return whole(int32_t{});
    case DType::I64:
      return whole(int64_t{});
    case DType::F32:
      return like.builder().constant(Value(static_cast<float>(number)));
    case DType::F64:
      return like.builder().constant(Value(static_cast<double>(number)));
    case DType::Bool:
      break;
  }
  throw ProgramError(fmt::format("expected a bool beside a bool, found the number {}", number));
}

}  // namespace

Var operator+(Var a, Var b) {
  return infix("+", a, b);
}
Var operator-(Var a, Var b) {
  return infix("-", a, b);
}
Var operator*(Var a, Var b) {
  return infix("*", a, b);
}
Var operator/(Var a, Var b) {
  return infix("/", a, b);
}
Var operator%(Var a, Var b) {
  return infix("%", a, b);
}
Var operator-(Var a) {
  return a.builder().op(*catalog().find_symbol("-", 1), {a});
}
Var operator!(Var a) {
  return a.builder().op(*catalog().find_symbol("not", 1), {a});
}
Var operator==(Var a, Var b) {
  return infix("==", a, b);
}
Var operator!=(Var a, Var b) {
  return infix("!=", a, b);
}
Var operator<(Var a, Var b) {
  return infix("<", a, b);
}
Var operator<=(Var a, Var b) {
  return infix("<=", a, b);
}
Var operator>(Var a, Var b) {
  return infix(">", a, b);
}
Var operator>=(Var a, Var b) {
  return infix(">=", a, b);
}

Var constant_like(Var like, double number) {
  return number_like(like, number);
}
Var constant_like(Var like, int64_t number) {
  return number_like(like, number);
}
Var constant_like(Var like, uint64_t number) {
  return number_like(like, number);
}

}  // namespace hiaton
