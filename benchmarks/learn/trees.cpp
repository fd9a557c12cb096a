// How fast models/treelstm.hia and models/treernn.hia train and predict, beside the peak of this machine's
// single-precision matrix products, measured in turns in one run.
//
//   learn_trees MODEL TREES [--hidden=128] [--embedding=128] [--batch=25] [--workers=1] [--rounds=5]
//                  [--steps=20] [--json]
//
// TREES: a file of bracketed trees, or "generated". Prints medians over the rounds.
#include "hiaton/trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "hiaton/error.h"
#include "hiaton/train.h"
#include "kernels/gemm.h"
#include "hiaton/learner.h"
#include "train/optimizer.h"

namespace {

using namespace hiaton::train;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string model;
  std::string trees;
  int64_t hidden = 128;
  int64_t embedding = 128;
  std::size_t batch = 25;
  int workers = 1;
  std::size_t rounds = 5;
  std::size_t steps = 20;
  bool batching = true;
  bool json = false;
};

Options parse(int argc, char** argv) {
  Options options;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const auto number = [&] { return std::stoll(text.substr(equals + 1)); };
    if (!text.starts_with("--")) {
      files.push_back(text);
    } else if (name == "--hidden") {
      options.hidden = number();
    } else if (name == "--embedding") {
      options.embedding = number();
    } else if (name == "--batch") {
      options.batch = static_cast<std::size_t>(number());
    } else if (name == "--workers") {
      options.workers = static_cast<int>(number());
    } else if (name == "--rounds") {
      options.rounds = static_cast<std::size_t>(number());
    } else if (name == "--steps") {
      options.steps = static_cast<std::size_t>(number());
    } else if (name == "--no-batching") {
      options.batching = false;
    } else if (name == "--json") {
      options.json = true;
    } else {
      throw std::invalid_argument("unknown option " + name);
    }
  }
  if (files.size() != 2) throw std::invalid_argument("expected MODEL and TREES");
  options.model = files[0];
  options.trees = files[1];
  return options;
}

double seconds_of(const auto& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Floating-point operations a second of one large product on each of so many threads.
double peak(int threads) {
  constexpr int64_t kSize = 768;
  const auto product = [] {
    static thread_local std::vector<float> a(kSize * kSize, 0.5F), b(kSize * kSize, 0.25F), c(kSize * kSize);
    for (int i = 0; i < 3; ++i) {
      hiaton::kernels::gemm<float>(hiaton::kernels::Transpose::No, hiaton::kernels::Transpose::No, kSize,
                                   kSize, kSize, 1, a.data(), kSize, b.data(), kSize, 0, c.data(), kSize);
    }
  };
  const double seconds = seconds_of([&] {
    std::vector<std::thread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back(product);
    product();
    for (std::thread& other : others) other.join();
  });
  return threads * 3 * 2.0 * kSize * kSize * kSize / seconds;
}

bool is_lstm(const Options& options) {
  return options.model.find("lstm") != std::string::npos;
}

/// Of all matrix products of the forward path.
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

int run(const Options& options) {
  Treebank bank;
  if (options.trees == "generated") {
    bank = generate_listops({.min_depth = 2, .max_depth = 4}, 2000, 10).train;
  } else {
    bank = read_trees(std::filesystem::path(options.trees));
  }
  const Vocabulary vocabulary = Vocabulary::of(bank);
  const int32_t classes = bank.class_count();
  const std::vector<Tree> trees = encode(std::move(bank.trees), bank.words, vocabulary);
  std::map<std::string, int64_t> sizes{{"d", options.hidden}};
  if (is_lstm(options)) sizes["e"] = options.embedding;
  const std::unique_ptr<Learner> learner = make_learner({.model = options.model,
                                                         .classes = classes,
                                                         .vocabulary_size = vocabulary.size(),
                                                         .sizes = sizes,
                                                         .seed = 1,
                                                         .workers = options.workers,
                                                         .batching = options.batching ? "on" : "off"});
  Optimizer optimizer({}, learner->parameters());
  std::vector<Gradient> gradients(learner->parameters().size());
  std::vector<const Tree*> used;
  std::size_t next = 0;
  const auto batch = [&] {
    std::vector<const Tree*> taken;
    for (std::size_t i = 0; i < options.batch; ++i) taken.push_back(&trees[next++ % trees.size()]);
    used.insert(used.end(), taken.begin(), taken.end());
    return taken;
  };
  double loss = 0;
  const auto train_step = [&] {
    const std::vector<const Tree*> taken = batch();
    loss = learner->loss_and_gradients(taken, gradients);
    optimizer.step(learner->parameters(), gradients, 1e-3, 1.0 / static_cast<double>(taken.size()));
  };
  for (std::size_t i = 0; i < 3; ++i) train_step();
  double flops = 0;
  std::vector<double> training_rates, inference_rates, training_shares, inference_shares, peaks;
  for (std::size_t round = 0; round < options.rounds; ++round) {
    used.clear();
    const double training = seconds_of([&] {
      for (std::size_t i = 0; i < options.steps; ++i) train_step();
    });
    flops = forward_flops(used, options, classes);
    const double roofline = peak(options.workers);
    const double trees_done = static_cast<double>(used.size());
    const double inference = seconds_of([&] {
      for (std::size_t begin = 0; begin < used.size(); begin += options.batch) {
        learner->predict(std::span<const Tree* const>(used).subspan(begin, options.batch));
      }
    });
    training_rates.push_back(trees_done / training);
    inference_rates.push_back(trees_done / inference);
    training_shares.push_back(3 * flops / training / roofline);
    inference_shares.push_back(flops / inference / roofline);
    peaks.push_back(roofline);
  }
  if (options.json) {
    fmt::print(
        "{{\"hidden\": {}, \"embedding\": {}, \"batch\": {}, \"workers\": {}, \"training_trees_per_second\": "
        "{:.1f}, "
        "\"training_share_of_peak\": {:.3f}, \"inference_trees_per_second\": {:.1f}, "
        "\"inference_share_of_peak\": {:.3f}, \"peak_gflops\": {:.1f}}}\n",
        options.hidden, options.embedding, options.batch, options.workers, median(training_rates),
        median(training_shares), median(inference_rates), median(inference_shares), median(peaks) * 1e-9);
  } else {
    fmt::print("hidden {}, embedding {}, batch {}, {} worker{}; peak {:.1f} GFLOP/s; loss {:.2f}\n",
               options.hidden, options.embedding, options.batch, options.workers,
               options.workers == 1 ? "" : "s", median(peaks) * 1e-9, loss);
    fmt::print("  training  {:8.0f} trees/s  {:4.1f} % of the peak\n", median(training_rates),
               100 * median(training_shares));
    fmt::print("  inference {:8.0f} trees/s  {:4.1f} % of the peak\n", median(inference_rates),
               100 * median(inference_shares));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse(argc, argv));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
