// The trees that a command puts through a model.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hiaton/examples.h"
#include "net/deal.h"
#include "trained_model.h"

namespace hiaton::cli {

class TreeInput {
 public:
  virtual ~TreeInput() = default;
  virtual std::size_t size() const = 0;
  /// Trees whose words are ids of the model's vocabulary.
  virtual std::vector<train::Tree> encoded(const net::Range& range) = 0;

  using Show = std::function<void(const train::Tree& tree, std::span<const std::string> words)>;
  /// Calls `show` with a tree that was encoded, and the words that its nodes name.
  virtual void show(std::size_t index, const Show& show) const = 0;
  /// The first `count` trees are not asked for any more: frees what they take.
  virtual void forget(std::size_t count) = 0;
};

/// Trees in memory. The model must outlive them.
std::unique_ptr<TreeInput> keep_trees(train::Treebank trees, const TrainedModel& model);

/// So many expressions, drawn when they are used. The model must outlive them.
std::unique_ptr<TreeInput> draw_trees(train::ListOpsStream expressions, std::size_t count,
                                      const TrainedModel& model);

/// The trees of a file: read when they are used where the file is large, or is the one that training read in
/// this way; else all kept in memory. `is_chosen` says which (none given: all). The model must outlive them.
/// Throws ProgramError.
std::unique_ptr<TreeInput> read_trees(const std::string& file, const TrainedModel& model,
                                      const std::function<bool(std::size_t)>& is_chosen = {});

}  // namespace hiaton::cli
