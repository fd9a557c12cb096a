// Loops over arrays. Included once by each elementwise_<instruction set>.cpp, inside a namespace of its own,
// hence without guard. That file defines kVectorBytes.
//
// The last elements go through the same vector code as all others, so that they get the same bits.

#include "kernels/math.inc.h"

/// out[i] = f(x[i]...) over arrays, or elements that are the same for all i.
template <class T, class Function, class... Operands>
[[gnu::always_inline]] inline void for_each(int64_t n, T* out, Function f, Operands... x) {
  using V = Vector<T>;
  int64_t i = 0;
  for (; i + V::kLanes <= n; i += V::kLanes) V::store(out + i, f(x.load(i)...));
  if (i < n) V::store_some(out + i, f(x.load_some(i, n - i)...), n - i);
}

template <class T>
struct Array {
  const T* x;
  [[gnu::always_inline]] auto load(int64_t i) const { return Vector<T>::load(x + i); }
  [[gnu::always_inline]] auto load_some(int64_t i, int64_t count) const {
    return Vector<T>::load_some(x + i, count, T{1});
  }
};
template <class T>
struct Same {
  T x;
  [[gnu::always_inline]] auto load(int64_t) const { return Math<T>::fill(x); }
  [[gnu::always_inline]] auto load_some(int64_t, int64_t) const { return Math<T>::fill(x); }
};

template <class T, UnaryFunction kFunction>
[[gnu::always_inline]] inline typename Vector<T>::Register apply(typename Vector<T>::Register x) {
  using M = Math<T>;
  switch (kFunction) {
    case UnaryFunction::Negate:
      return -x;
    case UnaryFunction::Absolute:
      return M::absolute(x);
    case UnaryFunction::Exp:
      return M::exp(x);
    case UnaryFunction::Log:
      return M::log(x);
    case UnaryFunction::Sqrt:
      for (int64_t i = 0; i < Vector<T>::kLanes; ++i) x[i] = __builtin_sqrt(x[i]);
      return x;
    case UnaryFunction::Tanh:
      return M::tanh(x);
    case UnaryFunction::Sigmoid:
      return M::sigmoid(x);
    case UnaryFunction::Erf:
      return M::erf(x);
    case UnaryFunction::Relu:
      return x <= T{0} ? M::fill(T{0}) : x;
  }
}

template <class T, BinaryFunction kFunction>
[[gnu::always_inline]] inline typename Vector<T>::Register apply(typename Vector<T>::Register a,
                                                                 typename Vector<T>::Register b) {
  using M = Math<T>;
  switch (kFunction) {
    case BinaryFunction::Add:
      return a + b;
    case BinaryFunction::Subtract:
      return a - b;
    case BinaryFunction::Multiply:
      return a * b;
    case BinaryFunction::Divide:
      return a / b;
    case BinaryFunction::Min:
      return M::min(a, b);
    case BinaryFunction::Max:
      return M::max(a, b);
    case BinaryFunction::TanhGradient:
      return a * (T{1} - b * b);
    case BinaryFunction::SigmoidGradient:
      return a * (b * (T{1} - b));
    case BinaryFunction::ReluGradient:
      return b > T{0} ? a : M::fill(T{0});
  }
}

template <class T, UnaryFunction kFunction>
void unary(int64_t n, const T* x, T* out) {
  for_each(
      n, out, [](auto a) { return apply<T, kFunction>(a); }, Array<T>{x});
}
template <class T, BinaryFunction kFunction>
void binary(int64_t n, const T* a, const T* b, T* out) {
  for_each(
      n, out, [](auto x, auto y) { return apply<T, kFunction>(x, y); }, Array<T>{a}, Array<T>{b});
}
template <class T, BinaryFunction kFunction>
void binary_scalar(int64_t n, const T* a, T b, T* out) {
  for_each(
      n, out, [](auto x, auto y) { return apply<T, kFunction>(x, y); }, Array<T>{a}, Same<T>{b});
}
template <class T, BinaryFunction kFunction>
void scalar_binary(int64_t n, T a, const T* b, T* out) {
  for_each(
      n, out, [](auto x, auto y) { return apply<T, kFunction>(x, y); }, Same<T>{a}, Array<T>{b});
}
template <class T>
void multiply_add(int64_t n, const T* a, const T* b, T* out) {
  for_each(
      n, out, [](auto x, auto y, auto sum) { return x * y + sum; }, Array<T>{a}, Array<T>{b}, Array<T>{out});
}
template <class T>
void add_scaled(int64_t n, T scale, const T* x, T* out) {
  for_each(
      n, out, [](auto a, auto y, auto sum) { return a * y + sum; }, Same<T>{scale}, Array<T>{x},
      Array<T>{out});
}

constexpr int kTableSize = kUnaryFunctions < kBinaryFunctions ? kBinaryFunctions : kUnaryFunctions;

/// Fills in the tables for the functions numbered from kIndex on.
template <class T, int kIndex = 0>
void fill_tables(ElementwiseKernels<T>& kernels) {
  if constexpr (kIndex < kUnaryFunctions) kernels.unary[kIndex] = unary<T, UnaryFunction{kIndex}>;
  if constexpr (kIndex < kBinaryFunctions) {
    kernels.binary[kIndex] = binary<T, BinaryFunction{kIndex}>;
    kernels.binary_scalar[kIndex] = binary_scalar<T, BinaryFunction{kIndex}>;
    kernels.scalar_binary[kIndex] = scalar_binary<T, BinaryFunction{kIndex}>;
  }
  if constexpr (kIndex < kTableSize) fill_tables<T, kIndex + 1>(kernels);
}

template <class T>
ElementwiseKernels<T> elementwise_kernels() {
  ElementwiseKernels<T> kernels{};
  fill_tables(kernels);
  kernels.multiply_add = multiply_add<T>;
  kernels.add_scaled = add_scaled<T>;
  return kernels;
}
template ElementwiseKernels<float> elementwise_kernels();
template ElementwiseKernels<double> elementwise_kernels();
