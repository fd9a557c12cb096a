// Evaluation tree by tree, and evaluation that can be cut short.
#pragma once

#include <atomic>
#include <optional>
#include <span>

#include "hiaton/train.h"

namespace hiaton::train {

/// Adds up how good predictions are.
class EvaluationCounter {
 public:
  /// Throws ProgramError where the prediction is none of the tree.
  void add(const Prediction& prediction, const Tree& tree);
  Evaluation finish() const;

 private:
  void add(const Prediction& prediction, std::size_t index, int32_t label);

  double loss_ = 0;
  int64_t trees_ = 0;
  int64_t nodes_ = 0;
  int64_t right_nodes_ = 0;
  int64_t roots_ = 0;
  int64_t right_roots_ = 0;
};

/// As evaluate; nothing where `cancel` (may be null) became true.
std::optional<Evaluation> evaluate_unless(const std::atomic<bool>* cancel, Learner& learner,
                                          std::span<const Tree> trees, int64_t batch);

inline bool is_set(const std::atomic<bool>* flag) {
  return flag != nullptr &&
         flag->load(std::memory_order_relaxed);  // a flag by itself: it publishes no other data
}

}  // namespace hiaton::train
