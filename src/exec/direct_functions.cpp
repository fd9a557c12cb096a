#include "exec/direct_functions.h"

#include <algorithm>

namespace hiaton::exec {

using graph::Graph;
using graph::Node;
using graph::NodeKind;

namespace {

bool is_for_direct_code(const Node& node, TensorsIn tensors) {
  if (node.kind == NodeKind::Accumulate) return false;
  if (tensors == TensorsIn::FlowOnly && (node.type.is_tensor() || node.parameter >= 0)) return false;
  if (node.kind != NodeKind::Op || node.op->fusion.value != Fusion::Data) return true;
  return node.op->role != Role::FieldOrZero;  // of gradients, which have several phases
}

}  // namespace

std::vector<bool> direct_functions(const Graph& graph, TensorsIn tensors) {
  // Programs with data values keep their tensors in flow.
  const bool has_data =
      std::ranges::any_of(graph.nodes(), [](const Node& node) { return node.type.is_data(); });
  if (has_data) tensors = TensorsIn::FlowOnly;
  std::vector<bool> direct(graph.functions().size(), true);
  for (std::size_t f = 0; f < direct.size(); ++f) direct[f] = graph.functions()[f].phases.size() <= 1;
  for (const Node& node : graph.nodes()) {
    if (node.function.valid() && !is_for_direct_code(node, tensors)) direct[node.function.index()] = false;
  }
  std::vector<std::vector<graph::FunctionId>> callers(direct.size());
  for (const graph::Site& site : graph.sites()) callers[site.callee.index()].push_back(site.caller);
  std::vector<std::size_t> flow;
  for (std::size_t f = 0; f < direct.size(); ++f) {
    if (!direct[f]) flow.push_back(f);
  }
  while (!flow.empty()) {
    const std::size_t callee = flow.back();
    flow.pop_back();
    for (graph::FunctionId caller : callers[callee]) {
      if (!direct[caller.index()]) continue;
      direct[caller.index()] = false;
      flow.push_back(caller.index());
    }
  }
  return direct;
}

bool is_direct(const Graph& graph, TensorsIn tensors) {
  return direct_functions(graph, tensors)[graph.main().index()];
}

}  // namespace hiaton::exec
