// One training step, taken apart: what it takes beyond its kernels, its time and memory by node.
#include <malloc.h>

#include <fstream>

#include "commands.h"
#include "measure.h"
#include "trainee.h"

namespace hiaton::benchmarks {
namespace {

using train::Node;
using train::Tree;

std::vector<const Tree*> first_trees(const Corpus& corpus, std::size_t count) {
  std::vector<const Tree*> trees;
  for (std::size_t i = 0; i < count; ++i) trees.push_back(&corpus.trees[i % corpus.trees.size()]);
  return trees;
}

/// The values of models/treelstm.hia that its backward path reads, each once. Of a leaf: the gates i and o,
/// u, tanh(c), h, c, the scores of the classes, and what is multiplied with W; of an inner node also its two
/// forget gates, and what is multiplied with U. Not the c of a root. With `copies` false not what is
/// multiplied, which is copied from the embedding and from the h of the children.
int64_t needed_bytes(const std::vector<const Tree*>& trees, const Options& options, int64_t classes,
                     bool copies) {
  int64_t floats = 0;
  for (const Tree* tree : trees) {
    for (const Node& node : tree->nodes) {
      const bool leaf = node.child_count == 0;
      floats += (leaf ? 6 : 8) * options.hidden;
      if (copies) floats += leaf ? options.embedding : 2 * options.hidden;
      if (node.label >= 0) floats += classes;
    }
    floats -= options.hidden;
  }
  return floats * static_cast<int64_t>(sizeof(float));
}

/// The largest memory of this process since forget_peak, in bytes; of Linux alone.
int64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    int64_t kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

/// What is free goes back to the system, and the peak is what there is now.
void forget_peak() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << 5;
}

}  // namespace

nlohmann::json measure_overhead(const Options& options) {
  const Corpus corpus = corpus_of(options);
  Trainee trainee(model_of(options, corpus));
  const std::vector<const Tree*> trees = first_trees(corpus, options.batch);
  for (int i = 0; i < 3; ++i) trainee.step(trees);
  RunStats stats;
  trainee.options().stats = &stats;
  trainee.options().time_kernels = true;
  std::vector<double> run, kernels, beyond;
  for (std::size_t round = 0; round < options.rounds * options.steps; ++round) {
    stats = {};
    trainee.step(trees);
    run.push_back(stats.seconds);
    kernels.push_back(stats.kernel_seconds);
    beyond.push_back(stats.seconds - stats.kernel_seconds);
  }
  uint64_t firings = 0;
  uint64_t launches = 0;
  int64_t regions = 0;
  for (const RegionStats& region : stats.regions) {
    if (region.launches == 0) continue;
    firings += region.firings;
    launches += region.launches;
    ++regions;
  }
  return {{"nodes", nodes_in(trees)},
          {"regions", regions},
          {"firings", firings},
          {"launches", launches},
          {"run_seconds", median(run)},
          {"kernel_seconds", median(kernels)},
          {"seconds_beyond_per_node", median(beyond) / static_cast<double>(nodes_in(trees))},
          {"seconds_beyond_per_firing", median(beyond) / static_cast<double>(firings)}};
}

nlohmann::json measure_step(const Options& options) {
  const Corpus corpus = corpus_of(options);
  Trainee trainee(model_of(options, corpus));
  const std::vector<const Tree*> trees = first_trees(corpus, options.nodes > 0 ? 1 : options.batch);
  const Tree small = random_tree(3, Form::Balanced, corpus.vocabulary, corpus.classes, 1);
  trainee.step(std::vector<const Tree*>{&small});  // makes what is as large as the parameters
  forget_peak();
  const int64_t before = resident_bytes();
  trainee.step(trees);
  const int64_t bytes = peak_bytes() - before;
  std::vector<double> seconds;
  for (std::size_t round = 0; round < options.rounds; ++round)
    seconds.push_back(seconds_of([&] { trainee.step(trees); }));
  const auto nodes = static_cast<double>(nodes_in(trees));
  nlohmann::json report{{"nodes", nodes_in(trees)},
                        {"seconds_per_node", median(seconds) / nodes},
                        {"bytes_per_node", static_cast<double>(bytes) / nodes},
                        {"bytes", bytes}};
  if (options.model == "treelstm") {
    report["needed_bytes"] = needed_bytes(trees, options, corpus.classes, true);
    report["least_bytes"] = needed_bytes(trees, options, corpus.classes, false);
  }
  return report;
}

}  // namespace hiaton::benchmarks
