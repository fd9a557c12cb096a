// A run of a program in direct code: its workers, from the arguments to the results.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>

#include "exec/direct/direct_plan.h"
#include "hiaton/run.h"
#include "tensor/kept_heap.h"

namespace hiaton::exec::direct {

/// What the last run of a plan leaves for the next one: how long it took, which tells whether that is worth
/// other threads at once, and memory. May be used by several runs at the same time.
class LastRun {
 public:
  bool was_below(std::chrono::nanoseconds time) const {
    return nanoseconds_.load(std::memory_order_relaxed) < time.count();
  }
  void took(std::chrono::nanoseconds time) { nanoseconds_.store(time.count(), std::memory_order_relaxed); }

  KeptHeap heap;

 private:
  std::atomic<int64_t> nanoseconds_{std::chrono::nanoseconds::max().count()};
};

/// Runs a compiled graph. Throws RunError. `plan` must come from `graph`, with the overflow mode of `options`
/// and, for more than one worker, with forking forms.
RunResult run_plan(const graph::Graph& graph, const Plan& plan, std::span<const Value> arguments,
                   const RunOptions& options, LastRun& last);

}  // namespace hiaton::exec::direct
