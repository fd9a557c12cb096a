// What other programs need to train the same model on the same trees and to predict with it, and what they
// must get.
#include <fstream>

#include "commands.h"
#include "train/tree_values.h"
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

/// Returns the probabilities of the classes for all nodes of these trees, one tree after the other.
std::vector<float> probabilities_of(Trainee& trainee, Trees trees, int32_t classes) {
  std::vector<float> probabilities;
  const std::vector<std::vector<Value>> results = trainee.predict(trees);
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const train::Prediction one = train::prediction_in(results[i][0], *trees[i], classes, "the model");
    probabilities.insert(probabilities.end(), one.probabilities.begin(), one.probabilities.end());
  }
  return probabilities;
}

}  // namespace

nlohmann::json write_for_peers(const Options& options) {
  const Corpus corpus = corpus_of(options);
  Trainee trainee(model_of(options, corpus));
  std::filesystem::create_directories(options.out);
  train::save_parameters(options.out / "parameters.safetensors", trainee.parameters());
  write_ids(options.out / "trees.txt", corpus);
  Batches batches(corpus, options.batch);
  const std::vector<float> probabilities = probabilities_of(trainee, batches.next(), corpus.classes);
  batches.restart();
  std::vector<double> losses;
  for (std::size_t step = 0; step < options.steps; ++step)
    losses.push_back(trainee.step(batches.next()) / static_cast<double>(options.batch));
  return {{"losses", losses}, {"probabilities", probabilities}};
}

}  // namespace hiaton::benchmarks
