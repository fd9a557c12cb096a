// What other programs need to train the same model on the same trees, and the losses that they must get.
#include <fstream>

#include "commands.h"
#include "trainee.h"

namespace hiaton::benchmarks {
namespace {

/// As bracketed text, the ids of words for words.
void write_ids(const std::filesystem::path& path, const Corpus& corpus) {
  train::Treebank bank{corpus.trees, {}};
  for (int32_t id = 0; id < corpus.vocabulary; ++id) bank.words.push_back(std::to_string(id));
  std::ofstream file(path);
  file.exceptions(std::ios::failbit | std::ios::badbit);
  train::write_trees(file, bank);
}

}  // namespace

nlohmann::json write_for_peers(const Options& options) {
  const Corpus corpus = corpus_of(options);
  Trainee trainee(model_of(options, corpus));
  std::filesystem::create_directories(options.out);
  train::save_parameters(options.out / "parameters.safetensors", trainee.parameters());
  write_ids(options.out / "trees.txt", corpus);
  std::vector<double> losses;
  std::size_t next = 0;
  for (std::size_t step = 0; step < options.steps; ++step) {
    std::vector<const train::Tree*> batch;
    for (std::size_t i = 0; i < options.batch; ++i)
      batch.push_back(&corpus.trees[next++ % corpus.trees.size()]);
    losses.push_back(trainee.step(batch) / static_cast<double>(batch.size()));
  }
  return {{"classes", corpus.classes}, {"losses", losses}};
}

}  // namespace hiaton::benchmarks
