// The rules of a legal graph, in groups. Each check reports what it finds and passes over what another check
// reports, so that none relies on another.
#pragma once

#include "graph/contexts.h"
#include "graph/findings.h"

namespace hiaton::graph {

/// validate() with the graph's contexts already found.
std::vector<std::string> validate(const Graph& graph, const Contexts& contexts);

/// Every edge, function, call site, loop and operation that is named exists; every node has the edges of its
/// kind; the lists of sites, loops and the program agree with the nodes.
void check_structure(const Graph& graph, Findings& findings);
/// The two ends of each edge have the type that the reader wants.
void check_types(const Graph& graph, Findings& findings);
/// Parameters, results, call sites: each Call leads to the Merge of its parameter, each Return comes from its
/// result, and both fit the callee.
void check_calls(const Graph& graph, Findings& findings);
/// Values meet only under the same tag: inside one function and loop; and constants do not fire without end.
void check_contexts(const Graph& graph, const Contexts& contexts, Findings& findings);
/// Every cycle goes through a Merge and a NextIteration, or through a Call or Return.
void check_cycles(const Graph& graph, Findings& findings);

/// The node that the edge comes from; nullptr where there is no such output.
inline const Node* source_of(const Graph& graph, OutPort edge) {
  if (edge.node.index() >= graph.nodes().size()) return nullptr;
  const Node& node = graph[edge.node];
  return edge.port < node.output_count() ? &node : nullptr;
}

}  // namespace hiaton::graph
