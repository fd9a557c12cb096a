// Elementwise functions on an array that the first-level cache holds; items are elements.
#include "kernels/elementwise.h"

#include <benchmark/benchmark.h>

#include <vector>

namespace hiaton::kernels {
namespace {

constexpr int64_t kCount = 1000;

template <class T>
void unary(benchmark::State& state, UnaryFunction function) {
  std::vector<T> x(kCount), out(kCount);
  for (size_t i = 0; i < kCount; ++i) x[i] = static_cast<T>(i) / kCount + T{0.01};
  const UnaryKernel<T> kernel = unary_kernel<T>(function);
  for (auto _ : state) {
    kernel(kCount, x.data(), out.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kCount);
}
const auto unary_f32 = unary<float>;
const auto unary_f64 = unary<double>;
BENCHMARK_CAPTURE(unary_f32, exp, UnaryFunction::Exp);
BENCHMARK_CAPTURE(unary_f32, log, UnaryFunction::Log);
BENCHMARK_CAPTURE(unary_f32, tanh, UnaryFunction::Tanh);
BENCHMARK_CAPTURE(unary_f32, sigmoid, UnaryFunction::Sigmoid);
BENCHMARK_CAPTURE(unary_f32, relu, UnaryFunction::Relu);
BENCHMARK_CAPTURE(unary_f32, sqrt, UnaryFunction::Sqrt);
BENCHMARK_CAPTURE(unary_f64, exp, UnaryFunction::Exp);
BENCHMARK_CAPTURE(unary_f64, log, UnaryFunction::Log);
BENCHMARK_CAPTURE(unary_f64, tanh, UnaryFunction::Tanh);
BENCHMARK_CAPTURE(unary_f64, sigmoid, UnaryFunction::Sigmoid);

template <class T>
void binary(benchmark::State& state, BinaryFunction function) {
  const std::vector<T> a(kCount, T{0.5}), b(kCount, T{0.25});
  std::vector<T> out(kCount);
  const BinaryKernel<T> kernel = binary_kernel<T>(function);
  for (auto _ : state) {
    kernel(kCount, a.data(), b.data(), out.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kCount);
}
const auto binary_f32 = binary<float>;
BENCHMARK_CAPTURE(binary_f32, add, BinaryFunction::Add);
BENCHMARK_CAPTURE(binary_f32, divide, BinaryFunction::Divide);
BENCHMARK_CAPTURE(binary_f32, max, BinaryFunction::Max);
BENCHMARK_CAPTURE(binary_f32, tanh_gradient, BinaryFunction::TanhGradient);

}  // namespace
}  // namespace hiaton::kernels
