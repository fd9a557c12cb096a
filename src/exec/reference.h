// The executors that are for comparison: the reference executor, which is the rules at the top of
// hiaton/graph.h and nothing else, and the expanding executor, the papers' dynamic way.
//
// Both have one thread. The reference executor has one queue of tokens, first in first out, and a match table
// keyed by (node, tag); it is the oracle that the other executors are tested against, and what `hiaton trace`
// shows. In the expanding executor a call copies the graph of the callee when it runs, an iteration that of
// the loop.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "exec/fault.h"
#include "exec/phased_run.h"
#include "hiaton/graph.h"
#include "hiaton/run.h"

namespace hiaton::exec {

/// The reference executor. `leftovers`, if given, gets the nodes that had tokens but never fired. A graph
/// that the pass `lower` made leaves none; in graphs built by hand a token may wait for a partner that no
/// taken branch sends.
///
/// Throws RunError.
RunResult run_reference(const graph::Graph& graph, std::span<const Value> arguments,
                        const RunOptions& options, std::vector<WaitingNode>* leftovers = nullptr);

/// The reference executor, for a graph whose program has phases. Both must live as long as the run.
/// `fallback`: RunStats::fallback.
std::unique_ptr<PhasedRun> open_reference(const graph::Graph& graph, const RunOptions& options,
                                          std::string fallback = {});

/// The expanding executor. `copies_left`, if given, gets the number of copies in which not every node had
/// fired at the end: none for a graph that the pass `lower` made.
///
/// Throws RunError.
RunResult run_expanding(const graph::Graph& graph, std::span<const Value> arguments,
                        const RunOptions& options, std::size_t* copies_left = nullptr);

}  // namespace hiaton::exec
