// Tensor kernels of elementwise operations that src/kernels has vector code for: f32 and f64; other element
// types go through `pointwise`.
#pragma once

#include <algorithm>

#include "kernels/elementwise.h"
#include "ops/family.h"
#include "ops/lines.h"

namespace hiaton::ops {

/// Whether all are scalars. Functions of which it is not known that the vector code rounds as the scalar
/// kernels do go through those then: a scalar has the same bits in a batch and alone.
inline bool on_scalars(const KernelCall& call) {
  return call.result.dims.empty();
}

constexpr bool rounds_like_scalar(kernels::UnaryFunction function) {
  using enum kernels::UnaryFunction;
  return function == Negate || function == Absolute || function == Sqrt || function == Relu;
}

/// Whether no operand is broadcast and the instances of each are contiguous.
inline bool is_one_line(const KernelCall& call) {
  const int64_t size = call.result.size();
  return std::ranges::all_of(call.operands, [&](const TensorArgument& operand) {
    return operand.size() == size && (call.batch == 1 || operand.stride == size);
  });
}

/// Calls f(begin, end) for ranges of the elements of such a call, on threads that idle too where they are
/// many.
template <class F>
void in_parts(const KernelCall& call, const F& f) {
  const int64_t size = call.batch * call.result.size();
  if (size < kernels::kLeastElements || !is_any_order(call)) return f(int64_t{0}, size);
  kernels::in_element_ranges(size, f);
}

template <class T>
Fault apply_unary(const KernelCall& call, kernels::UnaryKernel<T> kernel) {
  const T* x = call.operands[0].at<T>(0);
  T* out = call.result.at<T>(0);
  if (is_one_line(call)) {
    in_parts(call, [&](int64_t begin, int64_t end) { kernel(end - begin, x + begin, out + begin); });
    return Fault::None;
  }
  return Lines(call).for_each([&](const Line& line) {
    kernel(line.step[0] == 0 ? 1 : line.length, x + line.begin[0], out + line.out);
    if (line.step[0] == 0) std::fill_n(out + line.out, line.length, out[line.out]);
    return Fault::None;
  });
}

template <kernels::UnaryFunction function>
Fault vector_unary(const KernelCall& call) {
  const DType dtype = call.operands[0].dtype;
  if (!rounds_like_scalar(function) && on_scalars(call)) return pointwise(call);
  if (dtype == DType::F32) return apply_unary<float>(call, kernels::unary_kernel<float>(function));
  if (dtype == DType::F64) return apply_unary<double>(call, kernels::unary_kernel<double>(function));
  return pointwise(call);
}

template <class T, kernels::UnaryFunction function>
void unary_line(int64_t n, const std::byte* a, const std::byte*, std::byte* out) {
  static const auto kernel = kernels::unary_kernel<T>(function);
  kernel(n, reinterpret_cast<const T*>(a), reinterpret_cast<T*>(out));
}

template <kernels::UnaryFunction function>
LineKernel unary_lines(DType dtype) {
  if (dtype == DType::F32) return unary_line<float, function>;
  return dtype == DType::F64 ? unary_line<double, function> : nullptr;
}

template <class T>
Fault apply_binary(const KernelCall& call, kernels::BinaryFunction function) {
  const auto kernel = kernels::binary_kernel<T>(function);
  if (is_one_line(call)) {
    const T* a = call.operands[0].at<T>(0);
    const T* b = call.operands[1].at<T>(0);
    T* out = call.result.at<T>(0);
    in_parts(call,
             [&](int64_t begin, int64_t end) { kernel(end - begin, a + begin, b + begin, out + begin); });
    return Fault::None;
  }
  const auto with_scalar = kernels::binary_scalar_kernel<T>(function);
  const auto of_scalar = kernels::scalar_binary_kernel<T>(function);
  return Lines(call).for_each([&](const Line& line) {
    const T* a = call.operands[0].at<T>(0) + line.begin[0];
    const T* b = call.operands[1].at<T>(0) + line.begin[1];
    T* out = call.result.at<T>(0) + line.out;
    if (line.step[0] != 0 && line.step[1] != 0) {
      kernel(line.length, a, b, out);
    } else if (line.step[0] != 0) {
      with_scalar(line.length, a, *b, out);
    } else if (line.step[1] != 0) {
      of_scalar(line.length, *a, b, out);
    } else {
      kernel(1, a, b, out);
      std::fill_n(out, line.length, *out);
    }
    return Fault::None;
  });
}

constexpr bool rounds_like_scalar(kernels::BinaryFunction function) {
  using enum kernels::BinaryFunction;
  return function != TanhGradient && function != SigmoidGradient;
}

template <kernels::BinaryFunction function>
Fault vector_binary(const KernelCall& call) {
  const DType dtype = call.operands[0].dtype;
  if (!rounds_like_scalar(function) && on_scalars(call)) return pointwise(call);
  if (dtype == DType::F32) return apply_binary<float>(call, function);
  if (dtype == DType::F64) return apply_binary<double>(call, function);
  return pointwise(call);
}

template <class T, kernels::BinaryFunction function, bool swapped>
void binary_line(int64_t n, const std::byte* a, const std::byte* b, std::byte* out) {
  static const auto kernel = kernels::binary_kernel<T>(function);
  if (swapped) std::swap(a, b);
  kernel(n, reinterpret_cast<const T*>(a), reinterpret_cast<const T*>(b), reinterpret_cast<T*>(out));
}

template <kernels::BinaryFunction function, bool swapped = false>
LineKernel binary_lines(DType dtype) {
  if (dtype == DType::F32) return binary_line<float, function, swapped>;
  return dtype == DType::F64 ? binary_line<double, function, swapped> : nullptr;
}

/// For operands (y, g), which the vector code takes the other way round.
template <kernels::BinaryFunction function>
Fault vector_gradient(const KernelCall& call) {
  if (on_scalars(call)) return pointwise(call);
  const std::array<TensorArgument, 2> swapped{call.operands[1], call.operands[0]};
  KernelCall other = call;
  other.operands = swapped;
  return vector_binary<function>(other);
}

}  // namespace hiaton::ops
