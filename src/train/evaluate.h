// Evaluation that can be cut short.
#pragma once

#include <atomic>
#include <optional>
#include <span>

#include "hiaton/train.h"

namespace hiaton::train {

/// As evaluate; nothing where `cancel` (may be null) became true.
std::optional<Evaluation> evaluate_unless(const std::atomic<bool>* cancel, Learner& learner,
                                          std::span<const Tree> trees, int64_t batch);

inline bool is_set(const std::atomic<bool>* flag) {
  return flag != nullptr &&
         flag->load(std::memory_order_relaxed);  // a flag by itself: it publishes no other data
}

}  // namespace hiaton::train
