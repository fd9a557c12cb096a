// When nodes fire, as far as the graph alone tells.
#pragma once

#include <algorithm>

#include "exec/graph_names.h"
#include "graph/contexts.h"
#include "hiaton/graph.h"

namespace hiaton::exec {

/// How many tokens of one tag a node that matches its inputs waits for: one for each input and control edge
/// but those from a Const under every tag.
inline std::size_t inputs_to_match(const graph::Graph& graph, const graph::Node& node) {
  const auto comes = [&](graph::OutPort from) { return !is_under_every_tag(graph[from.node]); };
  const auto data = std::count_if(node.inputs.begin(), node.inputs.end(), comes);
  return static_cast<std::size_t>(data) + node.controls.size();
}

/// Whether all inputs are Const under every tag: the node fires once, under the empty tag.
inline bool fires_under_the_empty_tag(const graph::Graph& graph, const graph::Node& node) {
  return !node.inputs.empty() && inputs_to_match(graph, node) == 0;
}

}  // namespace hiaton::exec
