#include "passes/call_graph.h"

#include <utility>

#include "base/components.h"

namespace hiaton::passes {

CallGraph call_graph(const ir::Module& module) {
  CallGraph graph;
  graph.recursive.resize(module.functions.size(), false);
  for (const ir::Function& function : module.functions) {
    std::vector<ir::FunctionId>& callees = graph.callees.emplace_back();
    for (const ir::Node& node : function.nodes) {
      if (node.kind == ir::NodeKind::Call) callees.push_back(node.callee);
    }
  }
  for (const ir::GradientRequest& request : module.gradient_requests) {
    graph.callees[request.function.index()].push_back(request.of);
    graph.recursive[request.function.index()] = true;
  }
  std::vector<std::vector<std::size_t>> successors(graph.callees.size());
  for (std::size_t f = 0; f < successors.size(); ++f) {
    for (const ir::FunctionId callee : graph.callees[f]) {
      successors[f].push_back(callee.index());
      if (callee.index() == f) graph.recursive[f] = true;
    }
  }
  Components components = strongly_connected_components(successors);
  for (const std::size_t function : components.order) {
    graph.bottom_up.emplace_back(function);
    if (components.sizes[components.of[function]] > 1) graph.recursive[function] = true;
  }
  graph.cycle = std::move(components.of);
  return graph;
}

std::vector<bool> reachable(const CallGraph& graph, ir::FunctionId from) {
  std::vector<bool> reached(graph.callees.size(), false);
  std::vector<ir::FunctionId> to_visit{from};
  reached[from.index()] = true;
  while (!to_visit.empty()) {
    const ir::FunctionId function = to_visit.back();
    to_visit.pop_back();
    for (const ir::FunctionId callee : graph.callees[function.index()]) {
      if (reached[callee.index()]) continue;
      reached[callee.index()] = true;
      to_visit.push_back(callee);
    }
  }
  return reached;
}

}  // namespace hiaton::passes
