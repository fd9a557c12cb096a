// Matrix products in single and double precision; large ones are cut for threads that idle
// (launch_helpers.h).
//
// Matrices are row-major; a stride is the distance between the beginnings of two rows, in elements, at least
// the number of columns. Results must not overlap operands. T is float or double throughout.
//
// Each element of a result is one chain of multiply-adds in the order of the summed index. Hence a row of a
// result has the same bits alone as in any batch and at any place of it, a sum over rows the same bits
// however the rows are cut into calls, and all of it the same bits on any number of threads.
#pragma once

#include <cstdint>

#include "kernels/aligned.h"

namespace hiaton::kernels {

/// Whether a matrix is taken as it stands or transposed.
enum class Transpose : bool { No, Yes };

/// A matrix [depth, columns] in the order in which `multiply` reads it, as right-hand side. Packing takes
/// about as long as multiplying two rows.
template <class T>
class PackedMatrix {
 public:
  /// Columns that stand together: the matrix is kept in panels [depth, kPanelColumns], the last one filled up
  /// with zeros.
  static constexpr int64_t kPanelColumns = kCacheLine / int64_t{sizeof(T)};

  PackedMatrix() = default;
  PackedMatrix(Transpose transpose, const T* w, int64_t depth, int64_t columns, int64_t stride) {
    pack(transpose, w, depth, columns, stride);
  }

  /// Takes over w[depth, columns], or the transposed of w[columns, depth]. Reuses the memory held so far.
  void pack(Transpose transpose, const T* w, int64_t depth, int64_t columns, int64_t stride);

  int64_t depth() const { return depth_; }
  int64_t columns() const { return columns_; }
  const T* panels() const { return panels_.data(); }

 private:
  AlignedBuffer<T> panels_;
  int64_t depth_ = 0;
  int64_t columns_ = 0;
};

/// out[n, columns] = x[n, depth] w, or out += x w.
template <class T>
void multiply(const T* x, int64_t n, int64_t x_stride, const PackedMatrix<T>& w, T* out, int64_t out_stride,
              bool accumulate);

/// out[n, columns] = x[n, depth] w + bias[columns] in every row.
template <class T>
void multiply_bias(const T* x, int64_t n, int64_t x_stride, const PackedMatrix<T>& w, const T* bias, T* out,
                   int64_t out_stride);

/// dw[depth, columns] += the transposed of x[n, depth], times g[n, columns].
template <class T>
void accumulate_outer(const T* x, int64_t x_stride, const T* g, int64_t g_stride, int64_t n, int64_t depth,
                      int64_t columns, T* dw, int64_t dw_stride);

/// c[m, n] = alpha a[m, k] b[k, n] + beta c, where a and b may be given transposed: a[k, m], b[n, k]. With
/// beta = 0, c may hold anything before.
template <class T>
void gemm(Transpose transpose_a, Transpose transpose_b, int64_t m, int64_t n, int64_t k, T alpha, const T* a,
          int64_t a_stride, const T* b, int64_t b_stride, T beta, T* c, int64_t c_stride);

/// The sum of a[i] * b[i] for i in [0, n). Its bits depend on the elements and on n alone.
template <class T>
T dot(int64_t n, const T* a, const T* b);

}  // namespace hiaton::kernels
