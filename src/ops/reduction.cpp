#include "ops/reduction.h"

#include "kernels/strided.h"

namespace hiaton::ops {
namespace {

std::vector<int64_t> dense_strides(std::span<const int64_t> dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t stride = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  return strides;
}

}  // namespace

Reduced arrange(std::span<const int64_t> dims, const std::vector<bool>& chosen) {
  kernels::AxisLayout layout;
  bool scattered = false;
  int64_t between = 1;  // what is kept behind the first chosen axis: behind the last one, or scattered
  bool any = false;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (chosen[i] && dims[i] != 1) {
      scattered = scattered || between != 1;
      layout.axis *= dims[i];
      any = true;
    } else if (!chosen[i]) {
      (any ? between : layout.outer) *= dims[i];
    }
  }
  layout.inner = between;
  if (!any) return {.layout = {.outer = 1, .axis = 1, .inner = layout.outer}};
  if (!scattered) return {.layout = layout};
  Reduced reduced{.layout = {.outer = layout.outer * between, .axis = layout.axis, .inner = 1}};
  const std::vector<int64_t> strides = dense_strides(dims);
  for (const bool last : {false, true}) {
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (chosen[i] != last) continue;
      reduced.permuted_dims.push_back(dims[i]);
      reduced.strides.push_back(strides[i]);
    }
  }
  return reduced;
}

void permute(const Reduced& reduced, DType dtype, const std::byte* from, std::byte* to) {
  kernels::copy_strided(static_cast<int64_t>(size_of(dtype)), reduced.permuted_dims, from, reduced.strides,
                        to, dense_strides(reduced.permuted_dims));
}

void permute_back(const Reduced& reduced, DType dtype, const std::byte* from, std::byte* to) {
  kernels::copy_strided(static_cast<int64_t>(size_of(dtype)), reduced.permuted_dims, from,
                        dense_strides(reduced.permuted_dims), to, reduced.strides);
}

}  // namespace hiaton::ops
