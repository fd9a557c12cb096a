// Functions of single elements over whole arrays, in single and double precision, for one thread.
//
// An element's result has the same bits at any place of any array. Exp, Log, Tanh, Sigmoid and Erf are within
// 4 units in the last place, and right for NaN, infinities, zeros of both signs and denormal numbers. Arrays
// need no alignment; a result may stand where an operand stood, but not overlap it in part. T is float or
// double.
#pragma once

#include <cstdint>

namespace hiaton::kernels {

enum class UnaryFunction : uint8_t { Negate, Absolute, Exp, Log, Sqrt, Tanh, Sigmoid, Erf, Relu };
constexpr int kUnaryFunctions = static_cast<int>(UnaryFunction::Relu) + 1;

enum class BinaryFunction : uint8_t {
  Add,
  Subtract,
  Multiply,
  Divide,
  Min,  ///< NaN if either is NaN; -0.0 is smaller than 0.0
  Max,
  // Gradients of a function's operand, from that of its result g and the result itself y:
  TanhGradient,     ///< g (1 - y y)
  SigmoidGradient,  ///< g y (1 - y)
  ReluGradient,     ///< g where y > 0, else 0
};
constexpr int kBinaryFunctions = static_cast<int>(BinaryFunction::ReluGradient) + 1;

/// out[i] = f(x[i]) for i in [0, n).
template <class T>
using UnaryKernel = void (*)(int64_t n, const T* x, T* out);

/// out[i] = f(a[i], b[i]) for i in [0, n).
template <class T>
using BinaryKernel = void (*)(int64_t n, const T* a, const T* b, T* out);

/// The same where one operand is one element for all i.
template <class T>
using BinaryScalarKernel = void (*)(int64_t n, const T* a, T b, T* out);
template <class T>
using ScalarBinaryKernel = void (*)(int64_t n, T a, const T* b, T* out);

/// out[i] += a[i] * b[i], rounded once where the machine can.
template <class T>
using MultiplyAddKernel = void (*)(int64_t n, const T* a, const T* b, T* out);

/// out[i] += scale * x[i], rounded once where the machine can.
template <class T>
using AddScaledKernel = void (*)(int64_t n, T scale, const T* x, T* out);

/// The best kernels for this machine; valid forever.
template <class T>
UnaryKernel<T> unary_kernel(UnaryFunction function);
template <class T>
BinaryKernel<T> binary_kernel(BinaryFunction function);
template <class T>
BinaryScalarKernel<T> binary_scalar_kernel(BinaryFunction function);
template <class T>
ScalarBinaryKernel<T> scalar_binary_kernel(BinaryFunction function);
template <class T>
MultiplyAddKernel<T> multiply_add_kernel();
template <class T>
AddScaledKernel<T> add_scaled_kernel();

}  // namespace hiaton::kernels
