// The papers' table of TD-TreeLSTM: how fast trees grow in one style, with parameters that were learned
// before.
#include "commands.h"
#include "growth.h"
#include "measure.h"
#include "train/checkpoint.h"
#include "trainee.h"

namespace hiaton::benchmarks {

nlohmann::json train_parameters(const Options& options) {
  const Corpus corpus = corpus_of(options);
  Trainee trainee(model_of(options, corpus));
  Batches batches(corpus, options.batch);
  double loss = 0;
  for (std::size_t step = 0; step < options.steps; ++step) loss = trainee.step(batches.next());
  train::save_parameters(options.parameters, trainee.parameters());
  return {{"last_loss", loss / static_cast<double>(options.batch)}};
}

nlohmann::json measure_growth(const Options& options) {
  constexpr int64_t kCompared = 64;  // trees
  const Corpus corpus = corpus_of(options);
  const Model model = model_of(options, corpus);
  const std::vector<Value> parameters = train::load_values(options.parameters, model.parameters());
  const Growth growth(style_named(options.style), options.root, {.sizes = sizes_of(options, corpus)});
  const RunOptions run{.workers = options.workers, .parameters = parameters, .batching = options.batching};
  Batches batches(corpus, options.batch);
  int64_t number = 0;
  const auto grow_batch = [&] {
    std::vector<Seedling> seedlings;
    for (const train::Tree* tree : batches.next()) seedlings.push_back({tree->nodes[0].label, number++});
    return growth.grow(seedlings, run);
  };
  std::size_t nodes = 0;
  std::vector<float> probabilities;  // of class 0
  while (number < kCompared) {
    for (const Value& tree : grow_batch()) {
      const std::vector<Tensor> found = growth.probabilities_in(tree);
      nodes += found.size();
      for (const Tensor& node : found) probabilities.push_back(node.data<float>()[0]);
    }
  }
  const double nodes_per_tree = static_cast<double>(nodes) / static_cast<double>(number);
  std::vector<double> rates;
  for (std::size_t round = 0; round < options.rounds; ++round) {
    number = 0;
    batches.restart();
    const double seconds = seconds_of([&] {
      for (std::size_t step = 0; step < options.steps; ++step) grow_batch();
    });
    rates.push_back(static_cast<double>(number) / seconds);
  }
  return {{"instances_per_second", median(rates)},
          {"nodes_per_tree", nodes_per_tree},
          {"probabilities", probabilities}};
}

}  // namespace hiaton::benchmarks
