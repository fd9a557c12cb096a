// Normalisation beside oneDNN, on one thread and the shapes of BERT and ResNet; items are elements. oneDNN
// makes its primitive before the time counts, and like ours computes the means and variances of what it is
// given.
#include <benchmark/benchmark.h>

#include <dnnl.hpp>
#include <vector>

#include "kernels/reduce.h"

/// A function of the library that runs the threads of oneDNN.
extern "C" void omp_set_num_threads(int);

namespace hiaton::kernels {
namespace {

constexpr float kEpsilon = 1e-5F;

/// x [images, channels, size] or [rows, length], with a gain and a bias for each of the second axis.
struct Scaled {
  explicit Scaled(const benchmark::State& state, int64_t size)
      : outer(state.range(0)),
        channels(state.range(1)),
        size(size),
        x(static_cast<std::size_t>(outer * channels * size)),
        y(x.size()),
        gain(static_cast<std::size_t>(channels), 0.5F),
        bias(static_cast<std::size_t>(channels), 0.25F),
        scale_and_shift(gain) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 1009);
    scale_and_shift.insert(scale_and_shift.end(), bias.begin(), bias.end());
  }
  void report(benchmark::State& state) const {
    state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(x.size()));
  }

  int64_t outer, channels, size;
  std::vector<float> x, y, gain, bias;
  std::vector<float> scale_and_shift;  ///< one behind the other, as oneDNN takes them
};

void rows(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"rows", "length"});
  benchmark->Args({64, 64})->Args({128, 768})->Args({512, 1024});
}
void images(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"images", "channels", "size"});
  benchmark->Args({32, 64, 784})->Args({8, 64, 3136})->Args({32, 512, 49});
}

void layer_norm(benchmark::State& state) {
  Scaled given(state, 1);
  for (auto _ : state) {
    normalize_rows(given.outer, given.channels, given.x.data(), kEpsilon, given.gain.data(),
                   given.bias.data(), given.y.data());
    benchmark::ClobberMemory();
  }
  given.report(state);
}
BENCHMARK(layer_norm)->Apply(rows);

void batch_norm(benchmark::State& state) {
  Scaled given(state, state.range(2));
  for (auto _ : state) {
    normalize_channels(given.outer, given.channels, given.size, given.x.data(), kEpsilon, given.gain.data(),
                       given.bias.data(), given.y.data());
    benchmark::ClobberMemory();
  }
  given.report(state);
}
BENCHMARK(batch_norm)->Apply(images);

void layer_norm_of_onednn(benchmark::State& state) {
  omp_set_num_threads(1);
  Scaled given(state, 1);
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const dnnl::memory::desc layout({given.outer, given.channels}, dnnl::memory::data_type::f32,
                                  dnnl::memory::format_tag::ab);
  const dnnl::memory::desc factors({2, given.channels}, dnnl::memory::data_type::f32,
                                   dnnl::memory::format_tag::ab);
  const dnnl::layer_normalization_forward norm(dnnl::layer_normalization_forward::primitive_desc(
      {dnnl::prop_kind::forward_inference, layout, kEpsilon, dnnl::normalization_flags::use_scale_shift},
      engine));
  dnnl::memory x(layout, engine, given.x.data());
  dnnl::memory y(layout, engine, given.y.data());
  dnnl::memory of_rows(factors, engine, given.scale_and_shift.data());
  for (auto _ : state) {
    norm.execute(stream, {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}, {DNNL_ARG_SCALE_SHIFT, of_rows}});
    stream.wait();
    benchmark::ClobberMemory();
  }
  given.report(state);
}
BENCHMARK(layer_norm_of_onednn)->Apply(rows);

void batch_norm_of_onednn(benchmark::State& state) {
  omp_set_num_threads(1);
  Scaled given(state, state.range(2));
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const dnnl::memory::desc layout({given.outer, given.channels, 1, given.size}, dnnl::memory::data_type::f32,
                                  dnnl::memory::format_tag::nchw);
  const dnnl::memory::desc factors({2, given.channels}, dnnl::memory::data_type::f32,
                                   dnnl::memory::format_tag::ab);
  const dnnl::batch_normalization_forward::primitive_desc made(
      {dnnl::prop_kind::forward_training, layout, kEpsilon, dnnl::normalization_flags::use_scale_shift},
      engine);
  const dnnl::batch_normalization_forward norm(made);
  dnnl::memory x(layout, engine, given.x.data());
  dnnl::memory y(layout, engine, given.y.data());
  dnnl::memory of_channels(factors, engine, given.scale_and_shift.data());
  dnnl::memory mean(made.mean_desc(), engine);
  dnnl::memory variance(made.variance_desc(), engine);
  for (auto _ : state) {
    norm.execute(stream, {{DNNL_ARG_SRC, x},
                          {DNNL_ARG_DST, y},
                          {DNNL_ARG_SCALE_SHIFT, of_channels},
                          {DNNL_ARG_MEAN, mean},
                          {DNNL_ARG_VARIANCE, variance}});
    stream.wait();
    benchmark::ClobberMemory();
  }
  given.report(state);
}
BENCHMARK(batch_norm_of_onednn)->Apply(images);

}  // namespace
}  // namespace hiaton::kernels
