#include "kernels/rows.h"

#include <cstring>

#include "kernels/elementwise.h"

namespace hiaton::kernels {
namespace {

template <class Index>
int64_t find_outside(std::span<const Index> indices, int64_t count) {
  for (size_t i = 0; i < indices.size(); ++i)
    if (indices[i] < 0 || indices[i] >= count) return static_cast<int64_t>(i);
  return -1;
}

void copy_bytes(void* to, const void* from, int64_t size) {
  if (size > 0) std::memcpy(to, from, static_cast<size_t>(size));
}

/// Rows ahead of the one in hand whose beginnings are fetched: they may be anywhere in memory.
constexpr size_t kAhead = 4;

}  // namespace

int64_t first_outside(std::span<const int64_t> indices, int64_t count) {
  return find_outside(indices, count);
}
int64_t first_outside(std::span<const int32_t> indices, int64_t count) {
  return find_outside(indices, count);
}

template <class Index>
void gather_rows(std::span<const Index> indices, int64_t size, const void* table, void* out) {
  const char* const from = static_cast<const char*>(table);
  char* to = static_cast<char*>(out);
  for (size_t r = 0; r < indices.size(); ++r, to += size) {
    if (r + kAhead < indices.size()) __builtin_prefetch(from + int64_t{indices[r + kAhead]} * size);
    copy_bytes(to, from + int64_t{indices[r]} * size, size);
  }
}
template void gather_rows(std::span<const int32_t>, int64_t, const void*, void*);
template void gather_rows(std::span<const int64_t>, int64_t, const void*, void*);

void gather_rows(std::span<const void* const> rows, int64_t size, void* out, int64_t stride) {
  char* to = static_cast<char*>(out);
  for (size_t r = 0; r < rows.size(); ++r, to += stride) {
    if (r + kAhead < rows.size()) __builtin_prefetch(rows[r + kAhead]);
    copy_bytes(to, rows[r], size);
  }
}

void scatter_rows(const void* x, int64_t stride, int64_t size, std::span<void* const> rows) {
  const char* from = static_cast<const char*>(x);
  for (void* const row : rows) {
    copy_bytes(row, from, size);
    from += stride;
  }
}

template <class T, class Index>
void scatter_add_rows(std::span<const Index> indices, int64_t columns, const T* x, int64_t stride, T* table) {
  const BinaryKernel<T> add = binary_kernel<T>(BinaryFunction::Add);
  for (const Index index : indices) {
    T* const row = table + int64_t{index} * columns;
    add(columns, row, x, row);
    x += stride;
  }
}
template void scatter_add_rows(std::span<const int32_t>, int64_t, const float*, int64_t, float*);
template void scatter_add_rows(std::span<const int64_t>, int64_t, const float*, int64_t, float*);
template void scatter_add_rows(std::span<const int32_t>, int64_t, const double*, int64_t, double*);
template void scatter_add_rows(std::span<const int64_t>, int64_t, const double*, int64_t, double*);

template <class T>
void scatter_add_rows(std::span<T* const> rows, int64_t columns, const T* x, int64_t stride) {
  const BinaryKernel<T> add = binary_kernel<T>(BinaryFunction::Add);
  for (T* const row : rows) {
    add(columns, row, x, row);
    x += stride;
  }
}
template void scatter_add_rows(std::span<float* const>, int64_t, const float*, int64_t);
template void scatter_add_rows(std::span<double* const>, int64_t, const double*, int64_t);

}  // namespace hiaton::kernels
