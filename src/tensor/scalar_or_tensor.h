// What a number and a tensor have in common: rows, and memory for them.
#pragma once

#include <cstdint>
#include <utility>

#include "hiaton/value.h"

namespace hiaton {

/// How many rows a tensor has. One without dimensions is a row of one element.
inline int64_t row_count(const Tensor& tensor) {
  return tensor.dims().empty() ? 1 : tensor.dims()[0];
}

/// A tensor as a value. One without dimensions is the number that it holds.
inline Value scalar_or_tensor(Tensor tensor) {
  if (tensor.dims().empty()) return element_of(tensor, 0);
  return Value(std::move(tensor));
}

}  // namespace hiaton
