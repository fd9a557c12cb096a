// When nodes fire, as far as the graph alone tells.
#pragma once

#include <algorithm>

#include "hiaton/graph.h"

namespace hiaton::exec {

/// Whether the node is a Const that holds a token under every tag.
inline bool is_under_every_tag(const graph::Node& node) {
  return node.kind == graph::NodeKind::Const && node.controls.empty();
}

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

/// Whether the node is a Merge whose inputs make tags: the Calls of a parameter, the Enter and NextIteration
/// of a loop variable. Each tag comes through exactly one of its inputs, and never dead.
inline bool is_entry(const graph::Graph& graph, const graph::Node& node) {
  return node.kind == graph::NodeKind::Merge &&
         std::any_of(node.inputs.begin(), node.inputs.end(), [&](graph::OutPort from) {
           const graph::NodeKind kind = graph[from.node].kind;
           return kind == graph::NodeKind::Call || kind == graph::NodeKind::NextIteration;
         });
}

}  // namespace hiaton::exec
