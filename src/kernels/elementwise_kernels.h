// What the elementwise functions need of each instruction set; elementwise_<instruction set>.cpp fill it in.
#pragma once

#include "kernels/cpu.h"
#include "kernels/elementwise.h"

namespace hiaton::kernels {

template <class T>
struct ElementwiseKernels {
  UnaryKernel<T> unary[kUnaryFunctions];
  BinaryKernel<T> binary[kBinaryFunctions];
  BinaryScalarKernel<T> binary_scalar[kBinaryFunctions];
  ScalarBinaryKernel<T> scalar_binary[kBinaryFunctions];
  MultiplyAddKernel<T> multiply_add;
  AddScaledKernel<T> add_scaled;
};

/// The kernels for one instruction set, which this machine must have.
template <class T>
const ElementwiseKernels<T>& elementwise_kernels(InstructionSet set);

namespace portable {
template <class T>
ElementwiseKernels<T> elementwise_kernels();
}
namespace avx2 {
template <class T>
ElementwiseKernels<T> elementwise_kernels();
}
namespace avx512 {
template <class T>
ElementwiseKernels<T> elementwise_kernels();
}

}  // namespace hiaton::kernels
