// Training and inference, beside the peak of this machine's single-precision matrix products, measured in
// turns.
#include <barrier>
#include <thread>

#include "commands.h"
#include "hiaton/optimizer.h"
#include "kernels/gemm.h"
#include "measure.h"
#include "train/example_batch.h"

namespace hiaton::benchmarks {
namespace {

using train::Node;
using train::Tree;

/// Floating-point operations a second of one large product on each of so many threads, which have their
/// memory before the clock starts.
double peak(int threads) {
  constexpr int64_t kSize = 768;
  const auto product = [](int times) {
    static thread_local std::vector<float> a(kSize * kSize, 0.5F), b(kSize * kSize, 0.25F), c(kSize * kSize);
    for (int i = 0; i < times; ++i) {
      kernels::gemm<float>(kernels::Transpose::No, kernels::Transpose::No, kSize, kSize, kSize, 1, a.data(),
                           kSize, b.data(), kSize, 0, c.data(), kSize);
    }
  };
  constexpr int kTimes = 3;
  std::barrier ready(threads);
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) {
    others.emplace_back([&] {
      product(1);
      ready.arrive_and_wait();
      product(kTimes);
    });
  }
  product(1);
  ready.arrive_and_wait();
  const double seconds = seconds_of([&] {
    product(kTimes);
    for (std::thread& other : others) other.join();
  });
  return threads * kTimes * 2.0 * kSize * kSize * kSize / seconds;
}

/// The floating-point operations of all matrix products of the forward path.
double forward_flops(const std::vector<const Tree*>& trees, const Options& options, int64_t classes) {
  const auto hidden = static_cast<double>(options.hidden);
  const double leaf = is_lstm(options) ? 2.0 * static_cast<double>(options.embedding) * 3 * hidden : 0;
  const double inner = 2.0 * 2 * hidden * (is_lstm(options) ? 5 : 1) * hidden;
  double flops = 0;
  for (const Tree* tree : trees) {
    for (const Node& node : tree->nodes) {
      flops += node.child_count == 0 ? leaf : inner;
      if (node.label >= 0) flops += 2.0 * hidden * static_cast<double>(classes);
    }
  }
  return flops;
}

}  // namespace

nlohmann::json measure_speed(const Options& options) {
  const Corpus corpus = corpus_of(options);
  train::BatchRunner runner(model_of(options, corpus), 1, {.workers = options.workers});
  const train::TreeExamples trees(runner.model(), corpus.trees, corpus.classes);
  const auto batch_of = [&](std::span<const uint32_t> chosen) {
    return train::ExampleBatch(trees, chosen, std::nullopt);
  };
  train::Optimizer optimizer({}, runner.parameters());
  std::vector<train::Gradient> gradients(runner.parameters().size());
  std::vector<const Tree*> used;
  Batches batches(corpus, options.batch);
  const auto indices_of = [&](std::span<const Tree* const> taken) {
    std::vector<uint32_t> indices;
    for (const Tree* tree : taken) indices.push_back(static_cast<uint32_t>(tree - corpus.trees.data()));
    return indices;
  };
  const auto train_step = [&] {
    const std::vector<const Tree*> taken = batches.next();
    used.insert(used.end(), taken.begin(), taken.end());
    const std::vector<uint32_t> chosen = indices_of(taken);
    runner.loss_and_gradients(batch_of(chosen), gradients);
    optimizer.step(runner.parameters(), gradients, 1e-3, 1.0 / static_cast<double>(taken.size()),
                   runner.pool());
  };
  for (std::size_t i = 0; i < 3; ++i) train_step();
  std::vector<double> training_rates, inference_rates, training_shares, inference_shares, peaks;
  for (std::size_t round = 0; round < options.rounds; ++round) {
    used.clear();
    const double training = seconds_of([&] {
      for (std::size_t i = 0; i < options.steps; ++i) train_step();
    });
    const double flops = forward_flops(used, options, corpus.classes);
    const double roofline = peak(options.workers);
    const auto trees_done = static_cast<double>(used.size());
    const double inference = seconds_of([&] {
      for (std::size_t begin = 0; begin < used.size(); begin += options.batch) {
        const std::vector<uint32_t> chosen =
            indices_of(std::span<const Tree* const>(used).subspan(begin, options.batch));
        runner.run(runner.model().predict_program(), batch_of(chosen),
                   [&](std::size_t i, const std::vector<Value>& results) {
                     trees.prediction_in(results[0], chosen[i]);
                   });
      }
    });
    training_rates.push_back(trees_done / training);
    inference_rates.push_back(trees_done / inference);
    training_shares.push_back(3 * flops / training / roofline);
    inference_shares.push_back(flops / inference / roofline);
    peaks.push_back(roofline);
  }
  return {{"training_examples_per_second", median(training_rates)},
          {"training_share_of_peak", median(training_shares)},
          {"inference_examples_per_second", median(inference_rates)},
          {"inference_share_of_peak", median(inference_shares)},
          {"peak_flops_per_second", median(peaks)}};
}

}  // namespace hiaton::benchmarks
