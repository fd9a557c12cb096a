#include "ops/blocks.h"

#include <algorithm>
#include <cstring>

#include "kernels/strided.h"
#include "ops/instances.h"
#include "ops/shapes.h"

namespace hiaton::ops {
namespace {

/// A tensor seen from an axis: `blocks` blocks of `steps` steps of `bytes` bytes.
struct AlongAxis {
  int64_t blocks;
  int64_t steps;
  int64_t bytes;

  int64_t block_bytes() const { return steps * bytes; }
};

AlongAxis along(const TensorArgument& tensor, std::size_t axis) {
  return {product(tensor.dims.first(axis)), tensor.dims[axis],
          product(tensor.dims.subspan(axis + 1)) * static_cast<int64_t>(size_of(tensor.dtype))};
}

/// Copies `bytes` bytes of every block of an operand into every block of the result.
void copy_piece(const KernelCall& call, const TensorArgument& operand, int64_t blocks, int64_t bytes,
                int64_t from, int64_t from_stride, int64_t to, int64_t to_stride) {
  const auto element = static_cast<int64_t>(size_of(operand.dtype));
  std::byte* out = call.result.elements + to;
  if (blocks == 1) {
    return kernels::copy_blocks(call.batch, bytes, operand.elements + from, operand.stride * element, out,
                                to_stride);
  }
  if (is_dense(call, operand)) {
    return kernels::copy_blocks(call.batch * blocks, bytes, operand.elements + from, from_stride, out,
                                to_stride);
  }
  for (int64_t i = 0; i < call.batch; ++i) {
    kernels::copy_blocks(blocks, bytes, bytes_at(operand, i) + from, from_stride,
                         out + i * blocks * to_stride, to_stride);
  }
}

/// Makes the operands contiguous in every block of the result, of which there are `blocks`.
Fault join(const KernelCall& call, int64_t blocks) {
  const int64_t to_stride = blocks == 0 ? 0 : bytes_of(call.result) / blocks;
  int64_t to = 0;
  for (const TensorArgument& part : call.operands) {
    const int64_t bytes = blocks == 0 ? 0 : bytes_of(part) / blocks;
    copy_piece(call, part, blocks, bytes, 0, bytes, to, to_stride);
    to += bytes;
  }
  return Fault::None;
}

Fault cut(const KernelCall& call, std::size_t axis, int64_t start, int64_t length) {
  const AlongAxis whole = along(call.operands[0], axis);
  const int64_t bytes = length * whole.bytes;
  copy_piece(call, call.operands[0], whole.blocks, bytes, start * whole.bytes, whole.block_bytes(), 0, bytes);
  return Fault::None;
}

/// Calls copy(instance, start) for each instance, or fails where a part that long is not in the whole.
template <class Copy>
Fault for_starts(const KernelCall& call, int64_t length, int64_t whole, Copy copy) {
  for (int64_t i = 0; i < call.batch; ++i) {
    const int64_t start = *call.operands[1].at<int64_t>(i);
    if (start < 0 || start > whole - length) return Fault::Index;
    copy(i, start);
  }
  return Fault::None;
}

}  // namespace

Fault concat_kernel(const KernelCall& call) {
  const std::size_t axis = axis_of(call.attributes[0], call.result.dims.size());
  return join(call, product(call.result.dims.first(axis)));
}

Fault slice_kernel(const KernelCall& call) {
  const std::size_t axis = axis_of(call.attributes[0], call.operands[0].dims.size());
  return cut(call, axis, call.attributes[1], call.attributes[2]);
}

Fault slice_like_kernel(const KernelCall& call) {
  const std::size_t axis = axis_of(call.attributes[0], call.operands[0].dims.size());
  return cut(call, axis, call.attributes[1], call.operands[1].dims[axis]);
}

Fault slice_at_kernel(const KernelCall& call) {
  const TensorArgument& x = call.operands[0];
  const std::size_t axis = axis_of(call.attributes[0], x.dims.size());
  const AlongAxis whole = along(x, axis);
  const AlongAxis part = along(call.result, axis);
  return for_starts(call, part.steps, whole.steps, [&](int64_t i, int64_t start) {
    kernels::copy_blocks(part.blocks, part.block_bytes(), bytes_at(x, i) + start * whole.bytes,
                         whole.block_bytes(), bytes_at(call.result, i), part.block_bytes());
  });
}

Fault pad_at_kernel(const KernelCall& call) {
  const TensorArgument& x = call.operands[0];
  const std::size_t axis = axis_of(call.attributes[0], x.dims.size());
  const AlongAxis part = along(x, axis);
  const AlongAxis whole = along(call.result, axis);
  std::fill_n(call.result.elements, call.batch * bytes_of(call.result), std::byte{0});
  return for_starts(call, part.steps, whole.steps, [&](int64_t i, int64_t start) {
    kernels::copy_blocks(part.blocks, part.block_bytes(), bytes_at(x, i), part.block_bytes(),
                         bytes_at(call.result, i) + start * whole.bytes, whole.block_bytes());
  });
}

Fault take_kernel(const KernelCall& call) {
  const std::size_t axis = axis_of(call.attributes[0], call.operands[0].dims.size());
  return cut(call, axis, call.attributes[1], 1);
}

Fault slice_half_kernel(const KernelCall& call) {
  const std::size_t axis = axis_of(call.attributes[0], call.operands[0].dims.size());
  const int64_t size = call.operands[0].dims[axis];
  const int64_t first = size / 2;
  return call.attributes[1] == 0 ? cut(call, axis, 0, first) : cut(call, axis, first, size - first);
}

Fault pad_kernel(const KernelCall& call) {
  const std::size_t axis = axis_of(call.attributes[0], call.result.dims.size());
  const AlongAxis part = along(call.operands[0], axis);
  const AlongAxis whole = along(call.result, axis);
  std::fill_n(call.result.elements, call.batch * bytes_of(call.result), std::byte{0});
  copy_piece(call, call.operands[0], part.blocks, part.block_bytes(), 0, part.block_bytes(),
             call.attributes[1] * whole.bytes, whole.block_bytes());
  return Fault::None;
}

Fault part_kernel(const KernelCall& call) {
  const std::size_t axis = axis_of(call.attributes[0], call.operands[0].dims.size());
  const auto index = static_cast<std::size_t>(call.attributes[1]);
  int64_t start = 0;
  for (std::size_t i = 1; i <= index; ++i) start += call.operands[i].dims[axis];
  return cut(call, axis, start, call.operands[index + 1].dims[axis]);
}

}  // namespace hiaton::ops
