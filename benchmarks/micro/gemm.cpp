// Matrix products on the shapes of recursive models: n rows times [depth, columns]; items are floating-point
// operations.
#include "kernels/gemm.h"

#include <benchmark/benchmark.h>

#include <utility>
#include <vector>

namespace hiaton::kernels {
namespace {

template <class T>
struct Operands {
  explicit Operands(const benchmark::State& state)
      : n(state.range(0)), depth(state.range(1)), columns(state.range(2)) {
    x.resize(static_cast<size_t>(n * depth), T{0.25});
    w.resize(static_cast<size_t>(depth * columns), T{0.5});
    out.resize(static_cast<size_t>(n * columns));
  }
  void report(benchmark::State& state) const {
    state.SetItemsProcessed(state.iterations() * 2 * n * depth * columns);
  }
  int64_t n, depth, columns;
  std::vector<T> x, w, out;
};

void shapes(benchmark::internal::Benchmark* benchmark) {
  for (const auto& [depth, columns] : std::vector<std::pair<int64_t, int64_t>>{
           {256, 640}, {640, 256}, {128, 384}, {300, 600}, {128, 5}, {70, 35}})
    for (const int64_t n : {1, 2, 4, 8, 16, 25, 50, 100, 200, 500, 1000})
      benchmark->Args({n, depth, columns});
}

template <class T>
void multiply_packed(benchmark::State& state) {
  Operands<T> o(state);
  const PackedMatrix<T> w(Transpose::No, o.w.data(), o.depth, o.columns, o.columns);
  for (auto _ : state) {
    multiply(o.x.data(), o.n, o.depth, w, o.out.data(), o.columns, false);
    benchmark::ClobberMemory();
  }
  o.report(state);
}
BENCHMARK(multiply_packed<float>)->Apply(shapes)->Args({1000, 1000, 1000});
BENCHMARK(multiply_packed<double>)->Apply(shapes)->Args({1000, 1000, 1000});

template <class T>
void outer_products(benchmark::State& state) {
  Operands<T> o(state);
  for (auto _ : state) {
    accumulate_outer(o.x.data(), o.depth, o.out.data(), o.columns, o.n, o.depth, o.columns, o.w.data(),
                     o.columns);
    benchmark::ClobberMemory();
  }
  o.report(state);
}
BENCHMARK(outer_products<float>)->Apply(shapes);
BENCHMARK(outer_products<double>)->Apply(shapes);

template <Transpose kTranspose>
void pack(benchmark::State& state) {
  Operands<float> o(state);
  PackedMatrix<float> w;
  for (auto _ : state) {
    w.pack(kTranspose, o.w.data(), o.depth, o.columns, kTranspose == Transpose::Yes ? o.depth : o.columns);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * o.depth * o.columns * int64_t{sizeof(float)});
}
BENCHMARK(pack<Transpose::No>)->Args({0, 256, 640});
BENCHMARK(pack<Transpose::Yes>)->Args({0, 256, 640});

}  // namespace
}  // namespace hiaton::kernels
