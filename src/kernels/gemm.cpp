#include "kernels/gemm.h"

#include <algorithm>
#include <cstring>

#include "base/per_thread.h"
#include "kernels/gemm_kernels.h"
#include "kernels/launch_helpers.h"

namespace hiaton::kernels {

template <class T>
const GemmKernels<T>& gemm_kernels(InstructionSet set) {
#if defined(__x86_64__)
  if (set == InstructionSet::Avx512) return made_once<avx512::gemm_kernels<T>>();
  if (set == InstructionSet::Avx2) return made_once<avx2::gemm_kernels<T>>();
#endif
  return made_once<portable::gemm_kernels<T>>();
}
template const GemmKernels<float>& gemm_kernels(InstructionSet);
template const GemmKernels<double>& gemm_kernels(InstructionSet);

namespace {

template <class T>
const GemmKernels<T>& best_kernels() {
  static const GemmKernels<T>& best = gemm_kernels<T>(instruction_set());
  return best;
}

/// What a call needs beside its operands, kept for the next one.
template <class T>
struct Memory {
  PackedMatrix<T> right;
  AlignedBuffer<T> left;
  AlignedBuffer<T> outer;
};
template <class T>
Memory<T>& memory_of_thread() {
  static PerThread<Memory<T>> memory;
  return memory.get();
}

/// Packs columns [0, count) of w into one panel. Element (i, c) stands at w[i * row + c * column].
template <class T>
void pack_panel(const T* w, int64_t row, int64_t column, int64_t depth, int64_t count, T* panel) {
  constexpr int64_t kColumns = PackedMatrix<T>::kPanelColumns;
  if (column == 1 && count == kColumns) {
    for (int64_t i = 0; i < depth; ++i) std::memcpy(panel + i * kColumns, w + i * row, kColumns * sizeof(T));
    return;
  }
  if (count < kColumns) std::fill_n(panel, depth * kColumns, T{});
  for (int64_t i = 0; i < depth; ++i)
    for (int64_t c = 0; c < count; ++c) panel[i * kColumns + c] = w[i * row + c * column];
}

/// So many rows are enough for the ranges of several threads; of fewer, the panels are cut.
constexpr int64_t kRowsToCut = 64;
/// A range has whole blocks of rows, or of panels, but for its last ones.
constexpr int64_t kRowsOfRange = 30;
constexpr int64_t kPanelsOfRange = 8;

template <class T>
MultiplyArguments<T> rows_of(MultiplyArguments<T> args, int64_t begin, int64_t end) {
  args.x += begin * args.x_stride;
  args.out += begin * args.out_stride;
  args.rows = end - begin;
  return args;
}

template <class T>
MultiplyArguments<T> panels_of(MultiplyArguments<T> args, int64_t begin, int64_t end) {
  constexpr int64_t kColumns = PackedMatrix<T>::kPanelColumns;
  args.w += begin * args.panel_stride;
  args.out += begin * kColumns;
  if (args.bias != nullptr) args.bias += begin * kColumns;
  args.columns = std::min(args.columns - begin * kColumns, (end - begin) * kColumns);
  return args;
}

template <class T>
void multiply_packed(const T* x, int64_t n, int64_t x_stride, const PackedMatrix<T>& w, bool accumulate,
                     const T* bias, T* out, int64_t out_stride) {
  constexpr int64_t kColumns = PackedMatrix<T>::kPanelColumns;
  const MultiplyArguments<T> all{.x = x,
                                 .x_stride = x_stride,
                                 .rows = n,
                                 .depth = w.depth(),
                                 .w = w.panels(),
                                 .panel_stride = w.depth() * kColumns,
                                 .step = kColumns,
                                 .columns = w.columns(),
                                 .accumulate = accumulate,
                                 .bias = bias,
                                 .out = out,
                                 .out_stride = out_stride};
  const GemmKernels<T>& kernels = best_kernels<T>();
  const int64_t work = n * w.depth() * w.columns();
  if (!is_worth_cutting(work)) return kernels.multiply(all);
  if (n >= kRowsToCut) {
    in_ranges(n, kRowsOfRange, work,
              [&](int64_t begin, int64_t end) { kernels.multiply(rows_of(all, begin, end)); });
  } else {
    const int64_t panels = (w.columns() + kColumns - 1) / kColumns;
    in_ranges(panels, kPanelsOfRange, work,
              [&](int64_t begin, int64_t end) { kernels.multiply(panels_of(all, begin, end)); });
  }
}

/// c *= beta; with beta = 0 whatever stands in c goes.
template <class T>
void scale(T* c, int64_t rows, int64_t columns, int64_t stride, T beta) {
  for (int64_t r = 0; r < rows; ++r) {
    T* const row = c + r * stride;
    if (beta == T{0})
      std::fill_n(row, columns, T{0});
    else
      for (int64_t j = 0; j < columns; ++j) row[j] *= beta;
  }
}

/// alpha a[m, k], or that of the transposed of a[k, m], row after row.
template <class T>
void copy_scaled(Transpose transpose, T alpha, const T* a, int64_t m, int64_t k, int64_t stride, T* to) {
  const int64_t row = transpose == Transpose::Yes ? 1 : stride;
  const int64_t column = transpose == Transpose::Yes ? stride : 1;
  constexpr int64_t kTile = 32;
  for (int64_t start = 0; start < m; start += kTile)
    for (int64_t j = 0; j < k; ++j)
      for (int64_t r = start; r < std::min(start + kTile, m); ++r)
        to[r * k + j] = alpha * a[r * row + j * column];
}

}  // namespace

template <class T>
void PackedMatrix<T>::pack(Transpose transpose, const T* w, int64_t depth, int64_t columns, int64_t stride) {
  const int64_t panels = (columns + kPanelColumns - 1) / kPanelColumns;
  panels_.reserve(panels * depth * kPanelColumns);
  depth_ = depth;
  columns_ = columns;
  if (depth == 0) return;
  const int64_t row = transpose == Transpose::Yes ? 1 : stride;
  const int64_t column = transpose == Transpose::Yes ? stride : 1;
  in_ranges(panels, 1, kWorkOfElement * depth * columns, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const int64_t first = p * kPanelColumns;
      pack_panel(w + first * column, row, column, depth, std::min(kPanelColumns, columns - first),
                 panels_.data() + first * depth);
    }
  });
}

template <class T>
void multiply(const T* x, int64_t n, int64_t x_stride, const PackedMatrix<T>& w, T* out, int64_t out_stride,
              bool accumulate) {
  multiply_packed<T>(x, n, x_stride, w, accumulate, nullptr, out, out_stride);
}

template <class T>
void multiply_bias(const T* x, int64_t n, int64_t x_stride, const PackedMatrix<T>& w, const T* bias, T* out,
                   int64_t out_stride) {
  multiply_packed<T>(x, n, x_stride, w, false, bias, out, out_stride);
}

template <class T>
void accumulate_outer(const T* x, int64_t x_stride, const T* g, int64_t g_stride, int64_t n, int64_t depth,
                      int64_t columns, T* dw, int64_t dw_stride) {
  const auto of = [&](int64_t first_row, int64_t rows, int64_t first_column, int64_t some_columns) {
    const GemmKernels<T>& kernels = best_kernels<T>();
    AlignedBuffer<T>& memory = memory_of_thread<T>().outer;
    memory.reserve(kernels.outer_memory(rows));
    kernels.accumulate_outer({.x = x + first_row,
                              .x_stride = x_stride,
                              .g = g + first_column,
                              .g_stride = g_stride,
                              .rows = n,
                              .depth = rows,
                              .columns = some_columns,
                              .out = dw + first_row * dw_stride + first_column,
                              .out_stride = dw_stride,
                              .memory = memory.data()});
  };
  const int64_t work = n * depth * columns;
  if (!is_worth_cutting(work)) return of(0, depth, 0, columns);
  if (depth >= columns) {
    in_ranges(depth, kRowsOfRange, work,
              [&](int64_t begin, int64_t end) { of(begin, end - begin, 0, columns); });
  } else {
    in_ranges(columns, kPanelsOfRange * PackedMatrix<T>::kPanelColumns, work,
              [&](int64_t begin, int64_t end) { of(0, depth, begin, end - begin); });
  }
}

template <class T>
void gemm(Transpose transpose_a, Transpose transpose_b, int64_t m, int64_t n, int64_t k, T alpha, const T* a,
          int64_t a_stride, const T* b, int64_t b_stride, T beta, T* c, int64_t c_stride) {
  if (beta != T{0} && beta != T{1}) scale(c, m, n, c_stride, beta);
  if (transpose_a == Transpose::Yes && transpose_b == Transpose::No && alpha == T{1}) {
    if (beta == T{0}) scale(c, m, n, c_stride, beta);
    accumulate_outer(a, a_stride, b, b_stride, k, m, n, c, c_stride);
    return;
  }
  auto& [right, left, outer] = memory_of_thread<T>();
  right.pack(transpose_b, b, k, n, b_stride);
  if (transpose_a == Transpose::Yes || alpha != T{1}) {
    left.reserve(m * k);
    const int64_t row = transpose_a == Transpose::Yes ? 1 : a_stride;
    in_ranges(m, 32, kWorkOfElement * m * k, [&, from = a, to = left.data()](int64_t begin, int64_t end) {
      copy_scaled(transpose_a, alpha, from + begin * row, end - begin, k, a_stride, to + begin * k);
    });
    a = left.data();
    a_stride = k;
  }
  multiply(a, m, a_stride, right, c, c_stride, beta != T{0});
}

#define HIATON_INSTANTIATE(T)                                                                             \
  template class PackedMatrix<T>;                                                                         \
  template void multiply(const T*, int64_t, int64_t, const PackedMatrix<T>&, T*, int64_t, bool);          \
  template void multiply_bias(const T*, int64_t, int64_t, const PackedMatrix<T>&, const T*, T*, int64_t); \
  template void accumulate_outer(const T*, int64_t, const T*, int64_t, int64_t, int64_t, int64_t, T*,     \
                                 int64_t);                                                                \
  template void gemm(Transpose, Transpose, int64_t, int64_t, int64_t, T, const T*, int64_t, const T*,     \
                     int64_t, T, T*, int64_t);
HIATON_INSTANTIATE(float)
HIATON_INSTANTIATE(double)
#undef HIATON_INSTANTIATE

}  // namespace hiaton::kernels
