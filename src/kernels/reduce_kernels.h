// What the reductions need of each instruction set; reduce_<instruction set>.cpp fill it in.
#pragma once

#include "kernels/cpu.h"
#include "kernels/reduce.h"

namespace hiaton::kernels {

/// The functions of reduce.h by the same names.
template <class T>
struct ReduceKernels {
  void (*sum)(const AxisLayout&, const T* x, T* out);
  void (*max)(const AxisLayout&, const T* x, T* out);
  void (*logsumexp)(const AxisLayout&, const T* x, T* out);
  void (*softmax)(const AxisLayout&, const T* x, T* out);
  void (*log_softmax)(const AxisLayout&, const T* x, T* out);
  void (*softmax_gradient)(const AxisLayout&, const T* y, const T* g, T* out);
  void (*log_softmax_gradient)(const AxisLayout&, const T* y, const T* g, T* out);
  void (*cross_entropy)(int64_t rows, int64_t classes, const T* logits, const int64_t* labels, T* loss);
  void (*cross_entropy_gradient)(int64_t rows, int64_t classes, const T* logits, const int64_t* labels,
                                 const T* g, T* out);
  void (*add_rows)(int64_t rows, int64_t columns, const T* x, int64_t stride, T* out);
  void (*normalize)(const AxisLayout&, const T* x, T epsilon, T* out);
  void (*normalize_rows)(int64_t rows, int64_t length, const T* x, T epsilon, const T* gain, const T* bias,
                         T* out);
  void (*normalize_channels)(int64_t images, int64_t channels, int64_t size, const T* x, T epsilon,
                             const T* gain, const T* bias, T* out);
};

/// The kernels for one instruction set, which this machine must have.
template <class T>
const ReduceKernels<T>& reduce_kernels(InstructionSet set);

namespace portable {
template <class T>
ReduceKernels<T> reduce_kernels();
}
namespace avx2 {
template <class T>
ReduceKernels<T> reduce_kernels();
}
namespace avx512 {
template <class T>
ReduceKernels<T> reduce_kernels();
}

}  // namespace hiaton::kernels
