// How kernels reduce a tensor along some of its axes.
#pragma once

#include <vector>

#include "kernels/reduce.h"
#include "ops/instances.h"

namespace hiaton::ops {

/// The operand of a reduction with the chosen axes side by side.
struct Reduced {
  kernels::AxisLayout layout;            ///< the axes of one instance
  std::vector<int64_t> permuted_dims{};  ///< the dimensions to bring into that order; empty: they stand so
  std::vector<int64_t> strides{};        ///< strides of the permuted dimensions in the operand
};

Reduced arrange(std::span<const int64_t> dims, const std::vector<bool>& chosen);
/// Brings an instance into the order of `reduced`.
void permute(const Reduced& reduced, DType dtype, const std::byte* from, std::byte* to);
/// Brings an instance in the order of `reduced` back into its own.
void permute_back(const Reduced& reduced, DType dtype, const std::byte* from, std::byte* to);

/// Calls f(layout, x, out) for the instances of operand x, together where they stand together. T: of x, Out:
/// of the result.
template <class T, class Out, class F>
void reduce(const KernelCall& call, const TensorArgument& x, const std::vector<bool>& chosen, F f) {
  Reduced reduced = arrange(x.dims, chosen);
  const int64_t size = call.result.size();
  Out* out = call.result.at<Out>(0);
  if (!reduced.permuted_dims.empty()) {
    std::vector<T> arranged(static_cast<std::size_t>(x.size()));
    for (int64_t i = 0; i < call.batch; ++i) {
      permute(reduced, x.dtype, bytes_at(x, i), reinterpret_cast<std::byte*>(arranged.data()));
      f(reduced.layout, arranged.data(), out + i * size);
    }
    return;
  }
  if (is_dense(call, x)) {
    reduced.layout.outer *= call.batch;
    return f(reduced.layout, x.at<T>(0), out);
  }
  for (int64_t i = 0; i < call.batch; ++i) f(reduced.layout, x.at<T>(i), out + i * size);
}

}  // namespace hiaton::ops
