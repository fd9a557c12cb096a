// Which gradients of parameters are complete while a run goes on.
//
// Batches of a smaller priority number cannot become ready again because one of a larger number ran. So where
// nothing but batches waits and the first of them has a number, all sums are complete that only batches of
// smaller numbers add to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "exec/flow/flow_plan.h"
#include "hiaton/graph.h"

namespace hiaton::exec::flow {

/// The parameters of one run.
class CompleteGradients {
 public:
  CompleteGradients(const graph::Graph& graph, const Plan& plan);

  void begin() { next_ = 0; }
  /// The parameters that are complete before a batch of the number runs, and were not before.
  std::span<const std::size_t> take(uint32_t priority) {
    const std::size_t first = next_;
    while (next_ < lasts_.size() && lasts_[next_] < priority) ++next_;
    return std::span(parameters_).subspan(first, next_ - first);
  }

 private:
  std::vector<uint32_t> lasts_;          ///< the largest number of a region that adds to it; in order
  std::vector<std::size_t> parameters_;  ///< only batches add to them; in the same order
  std::size_t next_ = 0;
};

}  // namespace hiaton::exec::flow
