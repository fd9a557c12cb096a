#pragma once

#include <vector>

#include "hiaton/graph.h"

namespace hiaton::exec::flow {

/// By function: its nodes, each behind those that it reads and waits for. What a parameter reads, and what a
/// Return reads, stands in another function and does not count. Where the numbers of the nodes are such an
/// order, it is theirs. The graph has no loops.
std::vector<std::vector<graph::NodeId>> nodes_in_order(const graph::Graph& graph);

}  // namespace hiaton::exec::flow
