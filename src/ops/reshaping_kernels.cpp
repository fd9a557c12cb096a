#include "ops/reshaping_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "kernels/strided.h"
#include "ops/reduction.h"
#include "ops/shapes.h"

namespace hiaton::ops {
namespace {

/// Copies the first operand into the result, one element of the result after the other; `strides` says how
/// far apart the elements of an instance of the operand stand along the axes of the result.
Fault copy_from(const KernelCall& call, std::vector<int64_t> strides) {
  const TensorArgument& from = call.operands[0];
  std::vector<int64_t> shape{call.batch};
  shape.insert(shape.end(), call.result.dims.begin(), call.result.dims.end());
  strides.insert(strides.begin(), from.stride);
  std::vector<int64_t> to_strides(shape.size());
  int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    to_strides[i] = stride;
    stride *= shape[i];
  }
  kernels::copy_strided(static_cast<int64_t>(size_of(from.dtype)), shape, from.elements, strides,
                        call.result.elements, to_strides);
  return Fault::None;
}

}  // namespace

Fault zeros_kernel(const KernelCall& call) {
  std::fill_n(call.result.elements, call.batch * bytes_of(call.result), std::byte{0});
  return Fault::None;
}

Fault ones_kernel(const KernelCall& call) {
  const int64_t count = call.batch * call.result.size();
  if (call.result.dtype == DType::Bool) {
    std::fill_n(call.result.at<bool>(0), count, true);
    return Fault::None;
  }
  return for_number(call.result.dtype, [&]<class T>(T) {
    std::fill_n(call.result.at<T>(0), count, T{1});
    return Fault::None;
  });
}

Fault iota_kernel(const KernelCall& call) {
  const std::span<const int64_t> dims = call.result.dims;
  const std::size_t axis = axis_of(call.attributes[0], dims.size());
  const int64_t inner = product(dims.subspan(axis + 1));
  auto* out = call.result.at<int64_t>(0);
  for (int64_t blocks = call.batch * product(dims.first(axis)); blocks > 0; --blocks) {
    for (int64_t place = 0; place < dims[axis]; ++place) out = std::fill_n(out, inner, place);
  }
  return Fault::None;
}

Fault copy_kernel(const KernelCall& call) {
  const TensorArgument& x = call.operands[0];
  const int64_t bytes = bytes_of(x);
  kernels::copy_blocks(call.batch, bytes, x.elements, x.stride * static_cast<int64_t>(size_of(x.dtype)),
                       call.result.elements, bytes);
  return Fault::None;
}

Fault broadcast_kernel(const KernelCall& call) {
  const std::span<const int64_t> dims = call.operands[0].dims;
  std::vector<int64_t> strides(call.result.dims.size());
  const std::size_t skipped = strides.size() - dims.size();
  int64_t stride = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    strides[skipped + i] = dims[i] == 1 ? 0 : stride;
    stride *= dims[i];
  }
  return copy_from(call, std::move(strides));
}

Fault expand_kernel(const KernelCall& call) {
  const std::size_t rank = call.result.dims.size();
  const std::vector<bool> chosen = axes_of(call.attributes, rank);
  std::vector<int64_t> strides(rank);
  int64_t stride = 1;
  for (std::size_t i = rank; i-- > 0;) {
    if (chosen[i]) continue;
    strides[i] = stride;
    stride *= call.result.dims[i];
  }
  return copy_from(call, std::move(strides));
}

std::vector<std::size_t> permutation_of(std::span<const int64_t> attributes, std::size_t rank) {
  std::vector<std::size_t> from;
  if (attributes.empty()) {
    for (std::size_t i = rank; i-- > 0;) from.push_back(i);
    return from;
  }
  axes_of(attributes, rank);
  if (attributes.size() != rank) {
    throw ProgramError(
        fmt::format("expected a permutation of {} axes, found {} axes", rank, attributes.size()));
  }
  for (int64_t axis : attributes) from.push_back(axis_of(axis, rank));
  return from;
}

Fault transpose_kernel(const KernelCall& call) {
  const std::span<const int64_t> dims = call.operands[0].dims;
  std::vector<int64_t> strides;
  for (std::size_t axis : permutation_of(call.attributes, dims.size())) {
    strides.push_back(product(dims.subspan(axis + 1)));
  }
  return copy_from(call, std::move(strides));
}

Fault size_kernel(const KernelCall& call) {
  const std::span<const int64_t> dims = call.operands[0].dims;
  std::fill_n(call.result.at<int64_t>(0), call.batch, dims[axis_of(call.attributes[0], dims.size())]);
  return Fault::None;
}

Fault sum_like_kernel(const KernelCall& call) {
  const TensorArgument& x = call.operands[0];
  std::vector<bool> chosen(x.dims.size(), true);
  const std::size_t skipped = x.dims.size() - call.result.dims.size();
  for (std::size_t i = skipped; i < chosen.size(); ++i) chosen[i] = call.result.dims[i - skipped] == 1;
  for_number(x.dtype, [&]<class T>(T) { reduce<T, T>(call, x, chosen, kernels::sum<T>); });
  return Fault::None;
}

}  // namespace hiaton::ops
