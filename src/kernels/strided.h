// Copies between arrays laid out in different ways: concatenation, slices, broadcasts, transpositions and any
// permutation of axes, for elements of any type. Large copies of blocks are cut for threads that idle
// (launch_helpers.h); all else runs on one thread.
#pragma once

#include <cstdint>
#include <span>

namespace hiaton::kernels {

/// Copies `count` blocks of `size` bytes, whose beginnings stand so many bytes apart. A tensor [outer, a + b,
/// inner] is concatenated from, or split into, [outer, a, inner] and [outer, b, inner] by one call for each.
void copy_blocks(int64_t count, int64_t size, const void* from, int64_t from_stride, void* to,
                 int64_t to_stride);

/// The most axes that copy_strided takes.
constexpr int kMaxCopyRank = 16;

/// to[i . to_strides] = from[i . from_strides] for all indices i of `shape`. Strides are in elements of
/// `element_size` (1, 2, 4 or 8) bytes, one for each axis, and may be negative, or 0 in `from_strides` to
/// broadcast. All elements of `to` named must be different. So with dense `to_strides` it makes a slice, a
/// broadcast or a permutation whole, and with dense `from_strides` it writes one.
void copy_strided(int64_t element_size, std::span<const int64_t> shape, const void* from,
                  std::span<const int64_t> from_strides, void* to, std::span<const int64_t> to_strides);

}  // namespace hiaton::kernels
