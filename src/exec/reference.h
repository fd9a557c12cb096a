// The reference executor: the rules at the top of hiaton/graph.h and nothing else.
//
// One thread, one queue of tokens, first in first out, and a match table keyed by (node, tag). It is the
// oracle that the other executors are tested against, and what `hiaton trace` shows.
#pragma once

#include <span>
#include <vector>

#include "exec/fault.h"
#include "hiaton/graph.h"
#include "hiaton/run.h"

namespace hiaton::exec {

/// `leftovers`, if given, gets the nodes that had tokens but never fired. A graph that the pass `lower` made
/// leaves none; in graphs built by hand a token may wait for a partner that no taken branch sends.
///
/// Throws RunError.
RunResult run_reference(const graph::Graph& graph, std::span<const Value> arguments,
                        const RunOptions& options, std::vector<WaitingNode>* leftovers = nullptr);

}  // namespace hiaton::exec
