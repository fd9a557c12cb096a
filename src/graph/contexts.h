// Contexts: under which tags a node's tokens travel, as far as the static graph shows it; and which nodes
// belong to the backward phase of gradients.
//
// A context is a function and a nesting of its loops. Two values can meet in a node only where both come from
// the same context: else their tags never match.
#pragma once

#include <algorithm>
#include <vector>

#include "hiaton/graph.h"

namespace hiaton::graph {

struct Contexts {
  std::vector<LoopId> loop_of;  ///< by node: see Graph::loop_of
  std::vector<LoopId> parents;  ///< by loop; no loop is inside of itself, whatever the graph says
  std::vector<bool> reached;    ///< by node: whether any token can come from it; false for context-free Const
};

/// Whether the node is a Const that gives a token under every tag.
inline bool is_under_every_tag(const Node& node) {
  return node.kind == NodeKind::Const && node.controls.empty();
}

/// Whether the node is a Merge whose inputs make tags: the Calls of a parameter, the Enter and NextIteration
/// of a loop variable. Each tag comes through exactly one of its inputs, and never dead.
inline bool is_entry(const Graph& graph, const Node& node) {
  return node.kind == NodeKind::Merge &&
         std::any_of(node.inputs.begin(), node.inputs.end(), [&](OutPort from) {
           const NodeKind kind = graph[from.node].kind;
           return kind == NodeKind::Call || kind == NodeKind::NextIteration;
         });
}

/// Whether every input is a Const under every tag: then the node fires once, under the empty tag.
bool fires_once(const Graph& graph, const Node& node);

/// By node: whether a function declares it as a parameter.
std::vector<bool> find_params(const Graph& graph);

/// Follows the values from where they come into functions. A context that two inputs of a node disagree on is
/// the one that came first; dangling edges are passed over.
Contexts find_contexts(const Graph& graph);

/// The phase of its callee that a Call or Return belongs to.
std::size_t phase_of(const Graph& graph, NodeId call_or_return);

/// By node: whether it needs something that comes after the first phase of its function, or of one that it
/// calls.
std::vector<bool> backward_nodes(const Graph& graph);

}  // namespace hiaton::graph
