// Which functions run depth first in threaded code, and which as items that wait for batches; and which of
// the two a program with tensors is better run in as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hiaton/graph.h"

namespace hiaton::exec {

/// Whether operations on tensors may be instructions of direct code.
enum class TensorsIn : uint8_t { FlowOnly, DirectCode };

/// By function: whether it is *direct*: it has one phase, and nothing that it reaches holds a tensor or reads
/// a learned parameter, unless tensors may be in direct code. A function that is not is *flow*. Direct
/// functions call direct functions only.
std::vector<bool> direct_functions(const graph::Graph& graph, TensorsIn tensors = TensorsIn::FlowOnly);

/// What the plan of a program says about how it runs as a whole; docs/production.md has the rule, and what
/// was measured for it.
struct DirectFacts {
  bool begins_direct = false;       ///< the program begins with a direct function, its tensors being in flow
  bool may_begin_direct = false;    ///< the same where tensors may be in direct code
  bool gains_from_batches = false;  ///< an operation has the same learned parameter or constant in each call
  bool has_large_tensors = false;   ///< of a fixed size that several workers share a launch of
  bool has_unknown_sizes = false;   ///< of tensors
  bool has_calls_to_share = false;  ///< of a recursive function, which do not need each other
};

DirectFacts direct_facts(const graph::Graph& graph);

/// Where the tensors of a run are, which is of so many examples and workers.
TensorsIn tensors_in(const DirectFacts& facts, bool batching, std::size_t examples, int workers);

}  // namespace hiaton::exec
