#include "graph/contexts.h"

namespace hiaton::graph {

std::size_t phase_of(const Graph& graph, NodeId call_or_return) {
  const Node& node = graph[call_or_return];
  const std::vector<Phase>& phases = graph[graph[node.site].callee].phases;
  std::size_t end = 0;
  for (std::size_t p = 0; p < phases.size(); ++p) {
    end += node.kind == NodeKind::Call ? phases[p].params : phases[p].results;
    if (node.index < end) return p;
  }
  return 0;
}

std::vector<bool> backward_nodes(const Graph& graph) {
  std::vector<bool> backward(graph.nodes().size(), false);
  std::vector<NodeId> found;
  const auto mark = [&](NodeId id) {
    if (backward[id.index()]) return;
    backward[id.index()] = true;
    found.push_back(id);
  };
  for (const Function& function : graph.functions()) {
    if (function.phases.empty()) continue;
    for (std::size_t i = function.phases[0].params; i < function.params.size(); ++i)
      mark(function.params[i].node);
  }
  for (const Site& site : graph.sites()) {
    for (NodeId id : site.calls) {
      if (phase_of(graph, id) > 0) mark(id);
    }
    for (NodeId id : site.returns) {
      if (phase_of(graph, id) > 0) mark(id);
    }
  }
  // Within a function, what reads one; between functions the phases tell.
  while (!found.empty()) {
    const NodeId id = found.back();
    found.pop_back();
    for (uint32_t port = 0; port < graph[id].output_count(); ++port) {
      for (InPort reader : graph.consumers({id, port})) {
        if (graph[reader.node].function == graph[id].function &&
            graph[reader.node].kind != NodeKind::Return) {
          mark(reader.node);
        }
      }
      if (graph[id].kind == NodeKind::Call) continue;
      for (NodeId reader : graph.control_consumers({id, port})) mark(reader);
    }
  }
  return backward;
}

}  // namespace hiaton::graph
