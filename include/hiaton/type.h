// Element types, shapes and the types of values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hiaton {

enum class DType : uint8_t { Bool, I32, I64, F32, F64 };

constexpr bool is_integer(DType dtype) {
  return dtype == DType::I32 || dtype == DType::I64;
}
constexpr bool is_float(DType dtype) {
  return dtype == DType::F32 || dtype == DType::F64;
}
constexpr bool is_number(DType dtype) {
  return dtype != DType::Bool;
}

/// "bool", "i32", "i64", "f32", "f64".
std::string_view name_of(DType dtype);
std::optional<DType> dtype_from_name(std::string_view name);

/// One dimension of a tensor: a size, or a symbol that stands for one size throughout a function's type.
struct Dim {
  int64_t size = -1;   ///< -1: symbolic
  std::string symbol;  ///< empty: fixed

  friend bool operator==(const Dim&, const Dim&) = default;
};

/// The type of a value: an element type and a shape. A scalar has the empty shape.
struct Type {
  DType dtype = DType::I64;
  std::vector<Dim> shape;

  Type() = default;
  Type(DType element) : dtype(element) {}  // NOLINT(google-explicit-constructor): a DType is a scalar type
  bool is_scalar() const { return shape.empty(); }
  friend bool operator==(const Type&, const Type&) = default;
};

/// As written in programs: "i64", "f32[2, d]".
std::string to_string(const Type& type);

}  // namespace hiaton
