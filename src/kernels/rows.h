// Rows taken from and added to places that are known only while running, for one thread.
//
// A row is `size` bytes or `columns` elements side by side. Indices are not checked here: see first_outside.
#pragma once

#include <cstdint>
#include <span>

namespace hiaton::kernels {

/// The place of the first index that is not in [0, count), or -1.
int64_t first_outside(std::span<const int64_t> indices, int64_t count);
int64_t first_outside(std::span<const int32_t> indices, int64_t count);

/// out[r] = table[indices[r]], for dense rows of `size` bytes. Index: int32_t or int64_t.
template <class Index>
void gather_rows(std::span<const Index> indices, int64_t size, const void* table, void* out);

/// out[r] = *rows[r]: packs rows from anywhere into one block, `stride` bytes from one to the next.
void gather_rows(std::span<const void* const> rows, int64_t size, void* out, int64_t stride);

/// *rows[r] = x[r]: the way back.
void scatter_rows(const void* x, int64_t stride, int64_t size, std::span<void* const> rows);

/// table[indices[r]] += x[r] for r = 0, 1, ... in this order, also where an index comes several times. T:
/// float, double.
template <class T, class Index>
void scatter_add_rows(std::span<const Index> indices, int64_t columns, const T* x, int64_t stride, T* table);

/// *rows[r] += x[r] in this order.
template <class T>
void scatter_add_rows(std::span<T* const> rows, int64_t columns, const T* x, int64_t stride);

}  // namespace hiaton::kernels
