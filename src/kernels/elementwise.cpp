#include "kernels/elementwise.h"

#include "kernels/elementwise_kernels.h"

namespace hiaton::kernels {

template <class T>
const ElementwiseKernels<T>& elementwise_kernels(InstructionSet set) {
#if defined(__x86_64__)
  if (set == InstructionSet::Avx512) return made_once<avx512::elementwise_kernels<T>>();
  if (set == InstructionSet::Avx2) return made_once<avx2::elementwise_kernels<T>>();
#endif
  return made_once<portable::elementwise_kernels<T>>();
}

namespace {

template <class T>
const ElementwiseKernels<T>& best_kernels() {
  static const ElementwiseKernels<T>& best = elementwise_kernels<T>(instruction_set());
  return best;
}

}  // namespace

template <class T>
UnaryKernel<T> unary_kernel(UnaryFunction function) {
  return best_kernels<T>().unary[static_cast<int>(function)];
}
template <class T>
BinaryKernel<T> binary_kernel(BinaryFunction function) {
  return best_kernels<T>().binary[static_cast<int>(function)];
}
template <class T>
BinaryScalarKernel<T> binary_scalar_kernel(BinaryFunction function) {
  return best_kernels<T>().binary_scalar[static_cast<int>(function)];
}
template <class T>
ScalarBinaryKernel<T> scalar_binary_kernel(BinaryFunction function) {
  return best_kernels<T>().scalar_binary[static_cast<int>(function)];
}
template <class T>
MultiplyAddKernel<T> multiply_add_kernel() {
  return best_kernels<T>().multiply_add;
}
template <class T>
AddScaledKernel<T> add_scaled_kernel() {
  return best_kernels<T>().add_scaled;
}

#define HIATON_INSTANTIATE(T)                                                \
  template const ElementwiseKernels<T>& elementwise_kernels(InstructionSet); \
  template UnaryKernel<T> unary_kernel<T>(UnaryFunction);                    \
  template BinaryKernel<T> binary_kernel<T>(BinaryFunction);                 \
  template BinaryScalarKernel<T> binary_scalar_kernel<T>(BinaryFunction);    \
  template ScalarBinaryKernel<T> scalar_binary_kernel<T>(BinaryFunction);    \
  template MultiplyAddKernel<T> multiply_add_kernel<T>();                    \
  template AddScaledKernel<T> add_scaled_kernel<T>();
HIATON_INSTANTIATE(float)
HIATON_INSTANTIATE(double)
#undef HIATON_INSTANTIATE

}  // namespace hiaton::kernels
