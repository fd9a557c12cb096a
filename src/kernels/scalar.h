// What the scalar operations compute: one function object an operation, and the plain function the executors
// call.
//
// A function object takes its operands by value and either returns the result, or, where it can fail, returns
// a Fault and writes the result through its last parameter. Float arithmetic follows IEEE 754 and never
// fails.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>
#include <utility>

#include "hiaton/error.h"
#include "hiaton/value.h"
#include "kernels/arithmetic.h"

namespace hiaton::kernels {

/// NaN if either operand is NaN; -0.0 is less than 0.0, so that the order of the operands does not matter.
struct Min {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a)) return a;
      if (std::isnan(b)) return b;
      if (a == b) return std::signbit(a) ? a : b;
    }
    return b < a ? b : a;
  }
};
struct Max {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a)) return a;
      if (std::isnan(b)) return b;
      if (a == b) return std::signbit(a) ? b : a;
    }
    return a < b ? b : a;
  }
};

struct Eq {
  template <class T>
  bool operator()(T a, T b) const {
    return a == b;
  }
};
struct Ne {
  template <class T>
  bool operator()(T a, T b) const {
    return a != b;
  }
};
struct Lt {
  template <class T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};
struct Le {
  template <class T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
};
struct Gt {
  template <class T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};
struct Ge {
  template <class T>
  bool operator()(T a, T b) const {
    return a >= b;
  }
};

struct IsNan {
  template <class T>
  bool operator()(T a) const {
    return std::isnan(a);
  }
};
struct IsInf {
  template <class T>
  bool operator()(T a) const {
    return std::isinf(a);
  }
};
struct IsFinite {
  template <class T>
  bool operator()(T a) const {
    return std::isfinite(a);
  }
};

struct And {
  bool operator()(bool a, bool b) const { return a && b; }
};
struct Or {
  bool operator()(bool a, bool b) const { return a || b; }
};
struct Not {
  bool operator()(bool a) const { return !a; }
};
struct Assume {
  Fault operator()(bool a, bool& out) const {
    out = a;
    return a ? Fault::None : Fault::Assumption;
  }
};

struct Neg {
  template <class T>
  T operator()(T a) const {
    if constexpr (std::is_integral_v<T>)
      return Sub{}(T{0}, a);
    else
      return -a;
  }
};
struct TrapNeg {
  template <class T>
  Fault operator()(T a, T& out) const {
    return TrapSub{}(T{0}, a, out);
  }
};
struct Abs {
  template <class T>
  T operator()(T a) const {
    if constexpr (std::is_integral_v<T>)
      return is_negative(a) ? Neg{}(a) : a;
    else
      return std::abs(a);
  }
};
struct TrapAbs {
  template <class T>
  Fault operator()(T a, T& out) const {
    if (is_negative(a)) return TrapNeg{}(a, out);
    out = a;
    return Fault::None;
  }
};
struct Sign {
  template <class T>
  T operator()(T a) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a)) return a;
    }
    return static_cast<T>((a > T{0}) - is_negative(a));
  }
};
struct Identity {
  template <class T>
  T operator()(T a) const {
    return a;
  }
};

#define HIATON_MATH_FUNCTION(Name, function) \
  struct Name {                              \
    template <class T>                       \
    T operator()(T a) const {                \
      return std::function(a);               \
    }                                        \
  };
HIATON_MATH_FUNCTION(Sqrt, sqrt)
HIATON_MATH_FUNCTION(Exp, exp)
HIATON_MATH_FUNCTION(Log, log)
HIATON_MATH_FUNCTION(Sin, sin)
HIATON_MATH_FUNCTION(Cos, cos)
HIATON_MATH_FUNCTION(Tan, tan)
HIATON_MATH_FUNCTION(Asin, asin)
HIATON_MATH_FUNCTION(Acos, acos)
HIATON_MATH_FUNCTION(Atan, atan)
HIATON_MATH_FUNCTION(Sinh, sinh)
HIATON_MATH_FUNCTION(Cosh, cosh)
HIATON_MATH_FUNCTION(Tanh, tanh)
HIATON_MATH_FUNCTION(Erf, erf)
HIATON_MATH_FUNCTION(Expm1, expm1)
HIATON_MATH_FUNCTION(Log1p, log1p)
HIATON_MATH_FUNCTION(Log2, log2)
HIATON_MATH_FUNCTION(Log10, log10)
HIATON_MATH_FUNCTION(Asinh, asinh)
HIATON_MATH_FUNCTION(Acosh, acosh)
HIATON_MATH_FUNCTION(Atanh, atanh)
HIATON_MATH_FUNCTION(Floor, floor)
HIATON_MATH_FUNCTION(Ceil, ceil)
HIATON_MATH_FUNCTION(Round, round)
HIATON_MATH_FUNCTION(Trunc, trunc)
#undef HIATON_MATH_FUNCTION

struct Rsqrt {
  template <class T>
  T operator()(T a) const {
    return T{1} / std::sqrt(a);
  }
};
struct Pow {
  template <class T>
  T operator()(T a, T b) const {
    return std::pow(a, b);
  }
};
struct Atan2 {
  template <class T>
  T operator()(T a, T b) const {
    return std::atan2(a, b);
  }
};

struct Sigmoid {
  template <class T>
  T operator()(T a) const {
    const T e = std::exp(-std::abs(a));  // at most 1: nothing overflows
    return (a < T{0} ? e : T{1}) / (T{1} + e);
  }
};
struct Relu {
  template <class T>
  T operator()(T a) const {
    return a <= T{0} ? T{0} : a;
  }
};

struct LeakyRelu {
  template <class T>
  T operator()(T a, T slope) const {
    return a > T{0} ? a : slope * a;
  }
};
/// Computed from the complement of the error function, which loses no digits where a is far below 0 but for
/// the rounding of its operand, which f32 is spared.
struct Gelu {
  template <class T>
  T operator()(T a) const {
    return static_cast<T>(0.5 * a * std::erfc(-a / std::numbers::sqrt2));
  }
};
struct Softplus {
  template <class T>
  T operator()(T a) const {
    return std::max(a, T{0}) + std::log1p(std::exp(-std::abs(a)));  // at most 1: nothing overflows
  }
};

// Gradients of a function's operand, from its result y and the gradient g of that.

struct TanhGradient {
  template <class T>
  T operator()(T y, T g) const {
    return g * (T{1} - y * y);
  }
};
struct SigmoidGradient {
  template <class T>
  T operator()(T y, T g) const {
    return g * (y * (T{1} - y));
  }
};
struct ReluGradient {
  template <class T>
  T operator()(T y, T g) const {
    return y > T{0} ? g : T{0};
  }
};

struct Zero {
  template <class T>
  T operator()(T) const {
    return T{0};
  }
};
struct One {
  template <class T>
  T operator()(T) const {
    return T{1};
  }
};
/// The first of two operands; the second matters to shapes alone.
struct First {
  template <class T>
  T operator()(T a, T) const {
    return a;
  }
};

/// Between integers the low bits are kept; bool becomes 0 or 1; a number becomes (number != 0) as bool.
template <class To>
struct Cast {
  template <class From>
  To operator()(From a) const {
    if constexpr (std::is_same_v<To, bool>)
      return a != From{0};
    else
      return static_cast<To>(a);
  }
};
/// Float to integer rounds toward zero; NaN and what does not fit is a Fault.
template <class To>
struct CastFloatToInt {
  template <class From>
  Fault operator()(From a, To& out) const {
    constexpr From kLeast = static_cast<From>(std::numeric_limits<To>::min());
    constexpr To kHalf = std::numeric_limits<To>::max() / 2 + 1;
    constexpr From kEnd = From{2} * static_cast<From>(kHalf);
    const From rounded = std::trunc(a);
    if (!(rounded >= kLeast && rounded < kEnd)) return Fault::InvalidCast;
    out = static_cast<To>(rounded);
    return Fault::None;
  }
};
template <class To>
struct TrapCast {
  template <class From>
  Fault operator()(From a, To& out) const {
    if (!std::in_range<To>(a)) return Fault::Overflow;
    out = static_cast<To>(a);
    return Fault::None;
  }
};

/// Whether F, called with operands of type In, can fail: it then reports a Fault and has an out parameter.
template <class F, class Out, class... In>
inline constexpr bool can_fail = std::is_invocable_r_v<Fault, F, In..., Out&>;

template <class F, class In, class Out>
[[gnu::always_inline]] inline Fault compute(Slot a, Slot& out) {
  if constexpr (can_fail<F, Out, In>) {
    Out result{};
    if (const Fault fault = F{}(get<In>(a), result); fault != Fault::None) return fault;
    out = make_slot<Out>(result);
  } else {
    out = make_slot<Out>(F{}(get<In>(a)));
  }
  return Fault::None;
}

template <class F, class In, class Out>
[[gnu::always_inline]] inline Fault compute(Slot a, Slot b, Slot& out) {
  if constexpr (can_fail<F, Out, In, In>) {
    Out result{};
    if (const Fault fault = F{}(get<In>(a), get<In>(b), result); fault != Fault::None) return fault;
    out = make_slot<Out>(result);
  } else {
    out = make_slot<Out>(F{}(get<In>(a), get<In>(b)));
  }
  return Fault::None;
}

template <class F, class In, class Out>
Fault unary(const Slot* operands, Slot* out) {
  return compute<F, In, Out>(operands[0], *out);
}

template <class F, class In, class Out>
Fault binary(const Slot* operands, Slot* out) {
  return compute<F, In, Out>(operands[0], operands[1], *out);
}

}  // namespace hiaton::kernels
