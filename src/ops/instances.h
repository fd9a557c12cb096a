// What tensor kernels share: the element types, and the instances of a batch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "hiaton/op.h"
#include "hiaton/tensor.h"

namespace hiaton::ops {

/// Calls f(T{}) for the element type float or double.
template <class F>
auto for_float(DType dtype, F f) {
  return dtype == DType::F64 ? f(double{}) : f(float{});
}

/// Calls f(T{}) for the element type of a number.
template <class F>
auto for_number(DType dtype, F f) {
  switch (dtype) {
    case DType::U8:
      return f(uint8_t{});
    case DType::I32:
      return f(int32_t{});
    case DType::I64:
      return f(int64_t{});
    case DType::F64:
      return f(double{});
    default:
      return f(float{});
  }
}

/// The product of sizes.
inline int64_t product(std::span<const int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes) result *= size;
  return result;
}

/// Whether the instances are contiguous, so that they are one larger array.
inline bool is_dense(const KernelCall& call, const TensorArgument& argument) {
  return call.batch == 1 || argument.stride == argument.size();
}

/// An instance of any element type.
inline std::byte* bytes_at(const TensorArgument& argument, int64_t instance) {
  return argument.elements + instance * argument.stride * static_cast<int64_t>(size_of(argument.dtype));
}
inline int64_t bytes_of(const TensorArgument& argument) {
  return argument.size() * static_cast<int64_t>(size_of(argument.dtype));
}

}  // namespace hiaton::ops
