// Where the trees of a training run come from: files, or the built-in generator.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
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

struct TreeData {
  std::string train;  ///< a file of bracketed trees; empty: ListOps
  std::string dev;    ///< the same for evaluation; empty: none, or that of ListOps
  ListOpsData listops;

  bool is_generated() const { return train.empty(); }
};

/// Options that say what is read or generated. `data` must outlive the parsing.
struct TreeDataOptions {
  std::vector<CLI::Option*> files;    ///< --data, --dev
  std::vector<CLI::Option*> listops;  ///< those of the generator
};
TreeDataOptions add_tree_data_options(CLI::App& command, TreeData& data);

struct LoadedTrees {
  train::Treebank train;
  train::Treebank dev;
  int32_t classes = 0;
};

/// Reads or generates. `classes`: labels are less; 0: as many as the training data has. Throws ProgramError.
LoadedTrees load_trees(const TreeData& data, int32_t classes);

nlohmann::ordered_json to_json(const TreeData& data);
/// Throws ProgramError that names the place that is wrong.
TreeData tree_data_from(const graph::JsonPlace& place);

}  // namespace hiaton::cli
