// Trees that models/td_treelstm.hia grows: how many nodes they get is only known when they are there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "hiaton/engine.h"
#include "styles.h"

namespace hiaton::benchmarks {

/// What a tree grows from.
struct Seedling {
  int64_t label = 0;   ///< the label of the root
  int64_t number = 0;  ///< from 0; the random numbers of a tree come from its number
};

class Growth {
 public:
  /// By recursion or iteration; `root` is the directory of the project. Throws ProgramError where the model
  /// cannot be read or has no such style.
  Growth(Style style, const std::filesystem::path& root, const CompileOptions& options);

  /// One value a tree; `options` with the parameters of models/td_treelstm.hia.
  std::vector<Value> grow(std::span<const Seedling> seedlings, const RunOptions& options) const;
  /// The probabilities of the classes in a tree that was grown: a tensor for each node, in preorder.
  std::vector<Tensor> probabilities_in(const Value& tree) const;

 private:
  Style style_;
  Program program_;
};

}  // namespace hiaton::benchmarks
