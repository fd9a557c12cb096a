// What learn_trees measures. Each command gives one JSON object; times are in seconds.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "corpus.h"
#include "hiaton/model.h"
#include "hiaton/model_trainer.h"

namespace hiaton::benchmarks {

struct Options {
  std::filesystem::path root = ".";  ///< the root of the project
  std::string model = "treelstm";    ///< the name of a model in models/
  std::string trees = "generated";   ///< or a file
  std::size_t count = 0;             ///< how many of the trees; 0: all
  bool binary = false;               ///< two classes
  std::string form;                  ///< which form the trees have; empty: as they are
  int64_t hidden = 128;
  int64_t embedding = 128;
  std::size_t batch = 25;
  int workers = 1;
  std::size_t rounds = 5;
  std::size_t steps = 20;
  std::string style = "recursion";
  bool batching = true;              ///< whether growth is measured in batches
  std::filesystem::path parameters;  ///< what train writes and growth reads
  int64_t nodes = 0;                 ///< how many nodes a tree that is made has; 0: none is
  int64_t depth = 1000;              ///< how deep recursion goes
  std::filesystem::path out;         ///< directory
};

/// The trees that the options ask for.
Corpus corpus_of(const Options& options);
/// The model that the options ask for.
Model model_of(const Options& options, const Corpus& corpus);
/// Its sizes.
std::map<std::string, int64_t> sizes_of(const Options& options, const Corpus& corpus);
/// The model as the training loop sees it.
train::ModelTrainer trainer_of(const Options& options, const Corpus& corpus);
bool is_lstm(const Options& options);

/// Training and inference, trees a second and as share of the peak of matrix products.
nlohmann::json measure_speed(const Options& options);
/// Writes the first parameters and the trees for the peers, and gives what the peers must find: what these
/// parameters predict for the first batch, and the losses of the first steps.
nlohmann::json write_for_peers(const Options& options);
/// Training and inference of TreeRNN in one style, instances a second.
nlohmann::json measure_style(const Options& options);
/// The depth test: 100 steps of gradient descent on x^n.
nlohmann::json measure_depth(const Options& options);
/// Trains by Adam and writes the parameters.
nlohmann::json train_parameters(const Options& options);
/// Trees that models/td_treelstm.hia grows in one style, instances a second.
nlohmann::json measure_growth(const Options& options);
/// What a training step takes beyond its kernels, by node and region.
nlohmann::json measure_overhead(const Options& options);
/// Time and memory of a training step beside its nodes and the values that its backward path needs. Run it in
/// a process of its own: memory that was used before counts as there already.
nlohmann::json measure_step(const Options& options);
/// Matrix products on the shapes of recursive models, beside oneDNN and OpenBLAS: floating-point operations a
/// second of each.
nlohmann::json measure_products(const Options& options);
/// Inference of one tree at a time beside its matrix products alone.
nlohmann::json measure_latency(const Options& options);

}  // namespace hiaton::benchmarks
