// Values: what tokens carry.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hiaton/type.h"

namespace hiaton {

/// Eight bytes that hold one scalar; which member counts is known from the DType beside it.
/// Unused bytes are zero, so equal scalars have equal `bits`.
union Slot {
  uint64_t bits;
  bool boolean;
  int32_t i32;
  int64_t i64;
  float f32;
  double f64;

  constexpr Slot() : bits(0) {}
};
static_assert(sizeof(Slot) == 8);

template <class T>
struct ScalarTraits;
template <>
struct ScalarTraits<bool> {
  static constexpr DType dtype = DType::Bool;
  static constexpr bool Slot::*member = &Slot::boolean;
};
template <>
struct ScalarTraits<int32_t> {
  static constexpr DType dtype = DType::I32;
  static constexpr int32_t Slot::*member = &Slot::i32;
};
template <>
struct ScalarTraits<int64_t> {
  static constexpr DType dtype = DType::I64;
  static constexpr int64_t Slot::*member = &Slot::i64;
};
template <>
struct ScalarTraits<float> {
  static constexpr DType dtype = DType::F32;
  static constexpr float Slot::*member = &Slot::f32;
};
template <>
struct ScalarTraits<double> {
  static constexpr DType dtype = DType::F64;
  static constexpr double Slot::*member = &Slot::f64;
};

template <class T>
inline T get(const Slot& slot) {
  return slot.*ScalarTraits<T>::member;
}
template <class T>
inline Slot make_slot(T scalar) {
  Slot slot;
  slot.*ScalarTraits<T>::member = scalar;
  return slot;
}

/// A scalar with its type. Immutable.
class Value {
 public:
  Value() : Value(int64_t{0}) {}
  template <class T>
  requires requires { ScalarTraits<T>::dtype; }
  Value(T scalar)  // NOLINT(google-explicit-constructor): a scalar is a value
      : dtype_(ScalarTraits<T>::dtype), slot_(make_slot(scalar)) {}
  Value(DType dtype, Slot slot) : dtype_(dtype), slot_(slot) {}

  DType dtype() const { return dtype_; }
  Type type() const { return Type(dtype_); }
  const Slot& slot() const { return slot_; }
  /// The scalar; T must be the C++ type of dtype().
  template <class T>
  T as() const {
    return get<T>(slot_);
  }

  /// Same type and same bits: NaN equals itself, 0.0 differs from -0.0.
  friend bool operator==(const Value& a, const Value& b) {
    return a.dtype_ == b.dtype_ && a.slot_.bits == b.slot_.bits;
  }

 private:
  DType dtype_;
  Slot slot_;
};

/// For people: the shortest text that reads back as the same value ("3", "0.1", "nan", "true").
std::string to_string(const Value& value);

/// Reads a scalar of the given type from text that holds nothing else. Throws ProgramError that says what was
/// expected and found, also where a number is out of the type's range.
Value parse_value(DType dtype, std::string_view text);

/// 0, 0.0 or false.
Value zero_of(DType dtype);

}  // namespace hiaton
