// Calls of direct functions from the items of flow: each runs to its end, in the thread that makes it and,
// where it takes long, in those of workers of flow that have nothing to do.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "exec/direct/run/direct_worker.h"
#include "exec/fault.h"
#include "kernels/launch_helpers.h"

namespace hiaton::exec::direct {

/// One worker of flow has one, with frames and data values that it keeps from run to run.
class DirectCaller {
 public:
  /// `plan` is of the direct functions of `graph`.
  DirectCaller(const graph::Graph& graph, std::shared_ptr<const Plan> plan);
  ~DirectCaller();

  /// To be called before a run; forgets what a failed one left. `graph` is the same as before, but may stand
  /// elsewhere, where the program has been copied or moved; it must live until the next call.
  void begin(const graph::Graph& graph, const RunOptions& options);
  /// While it lives, calls take from the budget: once in a run, or, where that rests between, several times.
  class Within {
   public:
    Within(DirectCaller& caller, Budget& budget);
    Within(const Within&) = delete;
    Within& operator=(const Within&) = delete;
    ~Within();

   private:
    DirectCaller& caller_;
  };
  /// Runs the function, with the help of those who help this thread with launches. A data value or a tensor
  /// among the arguments belongs to the caller, who holds it until the call has returned; a tensor stands
  /// alone, in no block. One among the results is outside of runs, with a reference for the caller. Gives a
  /// fault, and no results, where the run is to end. Throws what RunOptions::print has thrown.
  Fault call(graph::FunctionId function, std::span<const Slot> arguments, std::span<Slot> results);
  /// Ends the call that is under way, from any thread; there is none other in this run then.
  void stop(Fault fault);

  /// After a call that gave a fault: the operation that failed; not valid where a budget is used up.
  graph::NodeId failed() const;
  /// What it read.
  std::vector<Value> operands() const;
  /// The calls around the place where it failed: those of direct code, then one of `site`, then those of
  /// `outer`, which must live as long.
  std::unique_ptr<CallChain> chain(graph::CallSite site, CallChain& outer) const;
  /// What the calls since begin() did.
  void add_to(RunStats& stats) const;
  /// What it holds.
  uint64_t bytes() const { return budget_.bytes(); }

 private:
  /// How long calls of a function take.
  struct Length {
    bool is_known = false;
    double seconds = 0;
  };

  bool is_worth_sharing(const Length& length) const;
  Fault run_alone(const Instruction* entry, std::span<const Slot> arguments);
  Fault run_shared(kernels::LaunchHelpers& helpers, const Instruction* entry,
                   std::span<const Slot> arguments);
  Outcome start(Worker& worker, const Instruction* entry, std::span<const Slot> arguments);
  void settle(Worker& worker, Outcome outcome);
  Fault fault_of_run() const;
  uint64_t find_unexplained() const;
  Frame* root() { return reinterpret_cast<Frame*>(root_slots_.data()); }

  const graph::Graph* graph_;  ///< that of the run
  const std::shared_ptr<const Plan> plan_;
  Budget budget_;
  uint64_t held_before_ = 0;  ///< bytes, when the run began
  uint64_t most_bytes_ = 0;   ///< since then
  std::unique_ptr<DataHeap, LeaveHeap> heap_;
  std::unique_ptr<TensorHeap> tensor_heap_;
  RunState state_;
  std::vector<Slot> root_slots_;  ///< the frame that a function returns to
  std::vector<Slot> data_;        ///< results that are data values
  std::vector<Length> lengths_;   ///< by function
  uint64_t calls_ = 0;            ///< since begin()
  bool checks_counts_ = false;    ///< as RunOptions says
  std::atomic<Fault> stop_fault_{Fault::None};
  std::mutex mutex_;
  Worker* failed_ = nullptr;  ///< keeps its frames until the next run: they say where it failed
};

}  // namespace hiaton::exec::direct
