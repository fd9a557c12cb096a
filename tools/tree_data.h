// Where the examples of a training run come from: files, or the built-in generator of trees.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "graph/json_place.h"
#include "hiaton/trees.h"

namespace hiaton::cli {

/// How many ListOps expressions there are, and of what kind.
struct ListOpsData {
  train::ListOpsOptions options;
  uint64_t train_count = 20'000;
  uint64_t dev_count = 1'000;
};

struct TrainingData {
  std::string train;  ///< a file, or '-' for standard input; empty: ListOps
  std::string dev;    ///< a file for evaluation, or "10%" of the examples; empty: none, or that of ListOps
  bool is_streamed = false;   ///< examples are read when they are used
  bool is_of_values = false;  ///< examples of any kind, which `loss` describes; else trees
  ListOpsData listops;

  bool is_generated() const { return train.empty(); }
  /// Which share of the examples is held back for evaluation, where `dev` says so.
  std::optional<double> dev_share() const;
};

/// Options that say what is read or generated. `data` must outlive the parsing.
struct DataOptions {
  std::vector<CLI::Option*> files;  ///< --data, --dev
  CLI::Option* stream = nullptr;
  std::vector<CLI::Option*> listops;  ///< the options of the generator
};
DataOptions add_data_options(CLI::App& command, TrainingData& data);

bool is_held_back(std::size_t index, double share);

struct LoadedTrees {
  train::Treebank train;
  train::Treebank dev;
  int32_t classes = 0;
};

/// The text of a file, or of standard input where it is '-'.
std::shared_ptr<const Source> read_data(const std::string& file);

/// Labels are less than `classes`; 0: any will do. Throws ProgramError, also where there is no tree.
train::Treebank read_all_trees(const std::shared_ptr<const Source>& source, int32_t classes);

/// Reads from `train` or, where that is null, generates. `classes`: labels are less; 0: as many as the
/// training data has. Throws ProgramError.
LoadedTrees load_trees(const TrainingData& data, const std::shared_ptr<const Source>& train, int32_t classes);

/// Moves the share of the things that is held back to another list: which ones they are follows from their
/// number alone.
template <class Thing>
std::vector<Thing> hold_back(std::vector<Thing>& things, double share) {
  std::vector<Thing> kept;
  std::vector<Thing> held;
  for (std::size_t i = 0; i < things.size(); ++i)
    (is_held_back(i, share) ? held : kept).push_back(std::move(things[i]));
  things = std::move(kept);
  return held;
}

nlohmann::ordered_json to_json(const TrainingData& data);
/// Throws ProgramError that names the place that is wrong.
TrainingData training_data_from(const graph::JsonPlace& place);

}  // namespace hiaton::cli
