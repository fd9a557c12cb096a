// Lowering program texts, and asking questions about the graphs.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "hiaton/error.h"
#include "hiaton/lang.h"
#include "hiaton/passes.h"

namespace hiaton::passes::testing {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;
using graph::OutPort;

inline Graph lowered(std::string text) {
  return lower(lang::parse(std::make_shared<Source>("test.hia", std::move(text))));
}

inline std::size_t count(const Graph& graph, NodeKind kind) {
  std::size_t found = 0;
  for (const Node& node : graph.nodes()) found += node.kind == kind ? 1 : 0;
  return found;
}

inline std::size_t count_ops(const Graph& graph, std::string_view name) {
  std::size_t found = 0;
  for (const Node& node : graph.nodes())
    found += node.kind == NodeKind::Op && node.op->name.value == name ? 1 : 0;
  return found;
}

inline std::size_t count_data_edges(const Graph& graph) {
  std::size_t found = 0;
  for (const Node& node : graph.nodes()) found += node.inputs.size();
  return found;
}

inline std::size_t count_control_edges(const Graph& graph) {
  std::size_t found = 0;
  for (const Node& node : graph.nodes()) found += node.controls.size();
  return found;
}

/// The nodes of a kind in the function of that name, in their order.
inline std::vector<NodeId> nodes_in(const Graph& graph, std::string_view function, NodeKind kind) {
  std::vector<NodeId> found;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.kind == kind && graph[node.function].name == function) found.emplace_back(i);
  }
  return found;
}

}  // namespace hiaton::passes::testing
