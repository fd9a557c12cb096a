// The expanding executor, the papers' dynamic way: a call copies the graph of the callee when it runs, an
// iteration that of the loop. For comparison with the static tagged graph; one thread.
#pragma once

#include <span>

#include "hiaton/graph.h"
#include "hiaton/run.h"

namespace hiaton::exec {

/// `copies_left`, if given, gets the number of copies in which not every node had fired at the end: none for
/// a graph that the pass `lower` made.
///
/// Throws RunError.
RunResult run_expanding(const graph::Graph& graph, std::span<const Value> arguments,
                        const RunOptions& options, std::size_t* copies_left = nullptr);

}  // namespace hiaton::exec
