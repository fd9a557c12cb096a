// Which functions run depth first in threaded code, and which as items that wait for batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hiaton/graph.h"

namespace hiaton::exec {

/// By function of a graph.
using FunctionSet = std::vector<bool>;

/// The functions that direct code can run: they have one phase, and so has all that they call.
FunctionSet functions_for_direct_code(const graph::Graph& graph);

/// Adds all that call one of them.
void add_callers(const graph::Graph& graph, FunctionSet& functions);

/// What of a run decides which functions are direct.
enum class RunKind : uint8_t {
  WithoutBatches,  ///< whatever else it is
  Alone,           ///< one example on one worker
  OnWorkers,       ///< one example on several workers
  OfExamples,      ///< several examples
};
inline constexpr std::size_t kRunKinds = 4;

RunKind kind_of_run(bool batching, std::size_t examples, int workers);

/// Decides for each function of a graph whether it is *direct* or *flow*; docs/production.md has the rule,
/// and what was measured for it.
class DirectFunctions {
 public:
  explicit DirectFunctions(const graph::Graph& graph);

  /// Returns the functions that are direct in such a run. They call each other only.
  FunctionSet in(RunKind kind) const;

 private:
  /// What holds for a function, or for one that it calls, directly or through others.
  struct Reached {
    bool phases = false;   ///< more than one: direct code does not know them
    bool gains = false;    ///< an operation that is better run in batches, or on several workers at once
    bool tensors = false;  ///< it has tensors that are neither learned nor constants
    bool unknown_sizes = false;   ///< only the run knows how large such tensors are
    bool updates = false;         ///< it changes tensors, which direct code does in place
    bool calls_to_share = false;  ///< a recursion on tensors whose calls do not need each other
  };

  bool is_direct(std::size_t function, RunKind kind) const;

  std::vector<Reached> reached_;                   ///< by function
  FunctionSet is_called_seldom_;                   ///< no loop and no other recursion leads there
  std::vector<std::vector<std::size_t>> callees_;  ///< by function
};

}  // namespace hiaton::exec
