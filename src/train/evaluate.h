// Evaluation of predictions, tree by tree.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "hiaton/train.h"
#include "hiaton/trees.h"

namespace hiaton::train {

/// How good predictions of trees are, added up over their nodes.
class NodeCounts {
 public:
  static constexpr std::size_t kNumbers = 5;

  NodeCounts() = default;
  /// Counts from the sums of what numbers() gives.
  explicit NodeCounts(std::span<const double> numbers);

  /// Throws ProgramError where the prediction is none of the tree.
  void add(const Prediction& prediction, const Tree& tree);
  /// What can be added up.
  std::array<double, kNumbers> numbers() const;
  /// `trees`: how many of them there were.
  Evaluation evaluation(std::size_t trees) const;

 private:
  void add(const Prediction& prediction, std::size_t index, int32_t label);

  double loss_ = 0;
  int64_t nodes_ = 0;
  int64_t right_nodes_ = 0;
  int64_t roots_ = 0;
  int64_t right_roots_ = 0;
};

inline bool is_set(const std::atomic<bool>* flag) {
  return flag != nullptr &&
         flag->load(std::memory_order_relaxed);  // a flag by itself: it publishes no other data
}

}  // namespace hiaton::train
