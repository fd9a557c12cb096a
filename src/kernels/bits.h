// What the operations on bits of integers compute. Shifts take their count modulo the width.
#pragma once

#include <bit>

#include "kernels/scalar.h"

namespace hiaton::kernels {

struct BitAnd {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct BitOr {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct BitXor {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};
struct BitInvert {
  template <class T>
  T operator()(T a) const {
    return static_cast<T>(~a);
  }
};
template <class T>
constexpr int shift_count(T count) {
  return static_cast<int>(count & static_cast<T>(sizeof(T) * 8 - 1));
}
struct ShiftLeft {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(Unsigned<T>(a) << shift_count(b));
  }
};
struct ShiftRight {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a >> shift_count(b));
  }
};
struct ShiftRightLogical {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(Unsigned<T>(a) >> shift_count(b));
  }
};
struct RotateLeft {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(std::rotl(Unsigned<T>(a), shift_count(b)));
  }
};

}  // namespace hiaton::kernels
