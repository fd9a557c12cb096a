// Which nodes belong to the backward phase of gradients.
#pragma once

#include <vector>

#include "hiaton/graph.h"

namespace hiaton::graph {

/// The phase of its callee that a Call or Return belongs to.
std::size_t phase_of(const Graph& graph, NodeId call_or_return);

/// By node: whether it needs something that comes after the first phase of its function, or of one that it
/// calls.
std::vector<bool> backward_nodes(const Graph& graph);

}  // namespace hiaton::graph
