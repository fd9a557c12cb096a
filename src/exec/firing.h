// When nodes fire, as far as the graph alone tells, and what they do then, whichever executor runs them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "exec/graph_names.h"
#include "graph/contexts.h"
#include "hiaton/graph.h"
#include "hiaton/run.h"
#include "tensor/strings.h"

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

/// Applies the operation of an Op node; on success `result` is its value.
Fault apply(const graph::Node& node, std::span<const Value> operands, OverflowMode mode, Value& result);

/// The value of a Const node: its own, or that of a parameter of the program.
const Value& constant_of(const graph::Node& node, const RunOptions& options);

/// What an Accumulate node adds for these operands. Nothing where `gradients` is null.
void accumulate(const graph::Node& node, std::span<const Value> operands, Gradients* gradients);

/// Gives the text, as one line, to whom the options name. Lines of several threads do not mix.
void print_line(const RunOptions& options, std::span<const int32_t> code_points);

}  // namespace hiaton::exec
