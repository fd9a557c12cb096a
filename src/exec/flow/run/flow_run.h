// Runs of programs whose main is in flow: batches go across all examples.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "exec/flow/flow_plan.h"
#include "exec/phased_run.h"
#include "hiaton/run.h"

namespace hiaton::exec {

namespace flow {

class PackedParameters;
class Worker;

/// Workers that rest between runs, with the memory that they hold, and what they share. May be used by
/// several threads.
class Workers {
 public:
  Workers();
  ~Workers();
  std::unique_ptr<Worker> take(const graph::Graph& graph, const std::shared_ptr<const Plan>& plan);
  void give_back(std::unique_ptr<Worker> worker);
  /// Gives the packed parameters of a run before, or empty ones.
  std::unique_ptr<PackedParameters> take_packed(const Plan& plan);
  void give_back(std::unique_ptr<PackedParameters> packed);
  /// Gives sums that still hold what an earlier run left there.
  std::unique_ptr<Gradients> take_gradients(const graph::Graph& graph);
  void give_back(std::unique_ptr<Gradients> gradients);

 private:
  template <class T>
  std::unique_ptr<T> take_from(std::vector<std::unique_ptr<T>>& resting);
  template <class T>
  void keep_in(std::vector<std::unique_ptr<T>>& resting, std::unique_ptr<T> one);

  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<PackedParameters>> packed_;
  std::vector<std::unique_ptr<Gradients>> gradients_;
};

}  // namespace flow

/// Runs the program for each argument list; batches go across them. With several workers each runs a part of
/// the lists. Throws RunError.
void run_flow(const graph::Graph& graph, const std::shared_ptr<const flow::Plan>& plan,
              flow::Workers& resting, Examples& examples, const RunOptions& options);

/// Runs the program phase by phase. All of it must live as long as the run.
std::unique_ptr<PhasedRun> open_flow(const graph::Graph& graph, const std::shared_ptr<const flow::Plan>& plan,
                                     flow::Workers& resting, const RunOptions& options);

}  // namespace hiaton::exec
