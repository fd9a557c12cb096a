// What the matrix products need of each instruction set; gemm_<instruction set>.cpp fill it in.
#pragma once

#include <cstdint>

#include "kernels/aligned.h"
#include "kernels/cpu.h"

namespace hiaton::kernels {

/// Bytes of one row of a panel.
constexpr int64_t kPanelBytes = kCacheLine;

/// out[rows, columns] = x[rows, depth] w + bias, or adds all that. Panel p of w stands at w + p *
/// panel_stride, and its row i at i * step from there; each row of a panel has kPanelBytes, also the last
/// one's.
template <class T>
struct MultiplyArguments {
  const T* x;
  int64_t x_stride;
  int64_t rows;
  int64_t depth;
  const T* w;
  int64_t panel_stride;
  int64_t step;
  int64_t columns;
  bool accumulate;
  const T* bias;  ///< the bias of every row; null: zeros
  T* out;
  int64_t out_stride;
};

/// out[depth, columns] += the transposed of x[rows, depth], times g[rows, columns].
template <class T>
struct OuterArguments {
  const T* x;
  int64_t x_stride;
  const T* g;
  int64_t g_stride;
  int64_t rows;
  int64_t depth;
  int64_t columns;
  T* out;
  int64_t out_stride;
  T* memory;  ///< room during the call: as many elements as outer_memory says
};

template <class T>
struct GemmKernels {
  void (*multiply)(const MultiplyArguments<T>&);
  void (*accumulate_outer)(const OuterArguments<T>&);
  int64_t (*outer_memory)(int64_t depth);
};

/// The kernels for one instruction set, which this machine must have.
template <class T>
const GemmKernels<T>& gemm_kernels(InstructionSet set);

namespace portable {
template <class T>
GemmKernels<T> gemm_kernels();
}
namespace avx2 {
template <class T>
GemmKernels<T> gemm_kernels();
}
namespace avx512 {
template <class T>
GemmKernels<T> gemm_kernels();
}

}  // namespace hiaton::kernels
