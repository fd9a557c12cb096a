// Addition, subtraction, multiplication and division of scalars, as function objects (scalar.h).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "hiaton/error.h"

namespace hiaton::kernels {

template <class T>
using Unsigned = std::make_unsigned_t<T>;

// Integer arithmetic wraps around (two's complement) unless the operation is one of the Trap family.

template <class T>
constexpr bool is_negative(T a) {
  if constexpr (std::is_signed_v<T>)
    return a < T{0};
  else
    return false;
}
template <class T>
constexpr bool is_minus_one(T a) {
  if constexpr (std::is_signed_v<T>)
    return a == T{-1};
  else
    return false;
}

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(Unsigned<T>(a) + Unsigned<T>(b));
    else
      return a + b;
  }
};
struct Sub {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(Unsigned<T>(a) - Unsigned<T>(b));
    else
      return a - b;
  }
};
struct Mul {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(Unsigned<T>(a) * Unsigned<T>(b));
    else
      return a * b;
  }
};
struct TrapAdd {
  template <class T>
  Fault operator()(T a, T b, T& out) const {
    return __builtin_add_overflow(a, b, &out) ? Fault::Overflow : Fault::None;
  }
};
struct TrapSub {
  template <class T>
  Fault operator()(T a, T b, T& out) const {
    return __builtin_sub_overflow(a, b, &out) ? Fault::Overflow : Fault::None;
  }
};
struct TrapMul {
  template <class T>
  Fault operator()(T a, T b, T& out) const {
    return __builtin_mul_overflow(a, b, &out) ? Fault::Overflow : Fault::None;
  }
};

/// Integer division rounds toward zero; the smallest number divided by -1 wraps to itself.
struct DivInt {
  template <class T>
  Fault operator()(T a, T b, T& out) const {
    if (b == 0) return Fault::DivisionByZero;
    out = is_minus_one(b) ? Sub{}(T{0}, a) : static_cast<T>(a / b);
    return Fault::None;
  }
};
struct TrapDivInt {
  template <class T>
  Fault operator()(T a, T b, T& out) const {
    if (is_minus_one(b) && a == std::numeric_limits<T>::min()) return Fault::Overflow;
    return DivInt{}(a, b, out);
  }
};
struct DivFloat {
  template <class T>
  T operator()(T a, T b) const {
    return a / b;
  }
};
/// The remainder has the sign of the dividend: a == (a / b) * b + a % b.
struct RemInt {
  template <class T>
  Fault operator()(T a, T b, T& out) const {
    if (b == 0) return Fault::DivisionByZero;
    out = is_minus_one(b) ? T{0} : static_cast<T>(a % b);
    return Fault::None;
  }
};
struct RemFloat {
  template <class T>
  T operator()(T a, T b) const {
    return std::fmod(a, b);
  }
};

/// Whether a remainder of a division by `b` has the other sign, so that the quotient is above its floor.
template <class T>
constexpr bool is_above_floor(T remainder, T b) {
  return remainder != T{0} && is_negative(remainder) != is_negative(b);
}
struct FloorDivInt {
  template <class T>
  Fault operator()(T a, T b, T& out) const {
    const Fault fault = DivInt{}(a, b, out);
    if (fault == Fault::None && !is_minus_one(b) && is_above_floor(static_cast<T>(a % b), b)) --out;
    return fault;
  }
};
struct TrapFloorDivInt {
  template <class T>
  Fault operator()(T a, T b, T& out) const {
    if (is_minus_one(b) && a == std::numeric_limits<T>::min()) return Fault::Overflow;
    return FloorDivInt{}(a, b, out);
  }
};
struct FloorModInt {
  template <class T>
  Fault operator()(T a, T b, T& out) const {
    const Fault fault = RemInt{}(a, b, out);
    if (fault == Fault::None && is_above_floor(out, b)) out = static_cast<T>(out + b);
    return fault;
  }
};
struct FloorModFloat {
  template <class T>
  T operator()(T a, T b) const {
    const T remainder = std::fmod(a, b);
    if (is_above_floor(remainder, b)) return remainder + b;
    return remainder == T{0} ? std::copysign(T{0}, b) : remainder;
  }
};
/// The difference to the remainder is a multiple of b but for rounding, so that the quotient rounds to the
/// floor.
struct FloorDivFloat {
  template <class T>
  T operator()(T a, T b) const {
    if (b == T{0} || std::isinf(a)) return a / b;
    const T remainder = std::fmod(a, b);
    const T quotient = std::round((a - remainder) / b);
    return is_above_floor(remainder, b) ? quotient - T{1} : quotient;
  }
};

}  // namespace hiaton::kernels
