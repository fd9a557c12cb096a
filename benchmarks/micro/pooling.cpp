// Pooling of images beside oneDNN, on one thread and the shapes of LeNet and ResNet; items are elements of
// windows. oneDNN makes its primitive before the time counts.
#include "kernels/pooling.h"

#include <benchmark/benchmark.h>

#include <dnnl.hpp>
#include <vector>

/// A function of the library that runs the threads of oneDNN.
extern "C" void omp_set_num_threads(int);

namespace hiaton::kernels {
namespace {

struct Images {
  explicit Images(const benchmark::State& state)
      : shape{.planes = state.range(0),
              .height = state.range(1),
              .width = state.range(1),
              .size = {state.range(2), state.range(2)},
              .stride = {state.range(3), state.range(3)}} {
    x.resize(static_cast<std::size_t>(shape.planes * shape.height * shape.width));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 1009);
    y.resize(static_cast<std::size_t>(shape.planes * shape.out_height() * shape.out_width()));
  }
  void report(benchmark::State& state) const {
    const auto windows = static_cast<int64_t>(y.size());
    state.SetItemsProcessed(state.iterations() * windows * shape.size[0] * shape.size[1]);
  }

  Pooling shape;
  std::vector<float> x, y;
};

void pooled_shapes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"planes", "width", "size", "stride"});
  benchmark->Args({6, 24, 2, 2})->Args({256, 28, 2, 2})->Args({512, 56, 3, 2})->Args({512, 28, 3, 1});
}

void max_pool(benchmark::State& state) {
  Images images(state);
  for (auto _ : state) {
    take_largest(images.shape, images.x.data(), images.x.data(), images.y.data());
    benchmark::ClobberMemory();
  }
  images.report(state);
}
BENCHMARK(max_pool)->Apply(pooled_shapes);

void mean_pool(benchmark::State& state) {
  Images images(state);
  for (auto _ : state) {
    average_pool(images.shape, images.x.data(), images.y.data());
    benchmark::ClobberMemory();
  }
  images.report(state);
}
BENCHMARK(mean_pool)->Apply(pooled_shapes);

void pool_by_onednn(benchmark::State& state, dnnl::algorithm algorithm) {
  omp_set_num_threads(1);
  Images images(state);
  const Pooling& shape = images.shape;
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const auto layout = [&](int64_t height, int64_t width) {
    return dnnl::memory::desc({1, shape.planes, height, width}, dnnl::memory::data_type::f32,
                              dnnl::memory::format_tag::nchw);
  };
  const dnnl::memory::desc in = layout(shape.height, shape.width);
  const dnnl::memory::desc out = layout(shape.out_height(), shape.out_width());
  const dnnl::memory::dims stride{shape.stride[0], shape.stride[1]};
  const dnnl::memory::dims size{shape.size[0], shape.size[1]};
  const dnnl::pooling_forward pool(dnnl::pooling_forward::primitive_desc(
      {dnnl::prop_kind::forward_inference, algorithm, in, out, stride, size, {0, 0}, {0, 0}}, engine));
  dnnl::memory x(in, engine, images.x.data());
  dnnl::memory y(out, engine, images.y.data());
  for (auto _ : state) {
    pool.execute(stream, {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}});
    stream.wait();
    benchmark::ClobberMemory();
  }
  images.report(state);
}
void max_pool_of_onednn(benchmark::State& state) {
  pool_by_onednn(state, dnnl::algorithm::pooling_max);
}
BENCHMARK(max_pool_of_onednn)->Apply(pooled_shapes);
void mean_pool_of_onednn(benchmark::State& state) {
  pool_by_onednn(state, dnnl::algorithm::pooling_avg_include_padding);
}
BENCHMARK(mean_pool_of_onednn)->Apply(pooled_shapes);

}  // namespace
}  // namespace hiaton::kernels
