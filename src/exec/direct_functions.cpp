#include "exec/direct_functions.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/components.h"
#include "exec/direct/compile/structure.h"
#include "exec/graph_names.h"

namespace hiaton::exec {

namespace {

bool is_for_direct_code(const Node& node, TensorsIn tensors) {
  if (node.kind == NodeKind::Accumulate) return false;
  if (tensors == TensorsIn::FlowOnly && (node.type.is_tensor() || node.parameter >= 0)) return false;
  if (node.kind != NodeKind::Op || node.op->fusion.value != Fusion::Data) return true;
  return node.op->role != Role::FieldOrZero;  // of gradients, which have several phases
}

}  // namespace

std::vector<bool> direct_functions(const Graph& graph, TensorsIn tensors) {
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

namespace {

/// From this many elements on, idle workers take ranges of a launch: see kernels/launch.cpp.
constexpr int64_t kLargeTensor = int64_t{1} << 17;

/// Whether a kernel on a batch does less than one kernel for each instance: it combines tensors in another
/// way than element by element, and one of them, which all instances share, is read or packed once. Joining
/// tensors and reading rows only moves elements.
bool gains_from_batches(const Graph& graph, const Node& node) {
  if (node.kind != NodeKind::Op || node.op->fusion.value != Fusion::Tensor) return false;
  if (node.op->role == Role::Join || node.op->role == Role::Gather) return false;
  std::size_t tensors = 0;
  bool has_shared = false;
  for (const graph::OutPort input : node.inputs) {
    NodeId value = input.node;
    while (exec::passes_operand_on(graph[value])) value = graph[value].inputs[0].node;
    if (!graph[value].type.is_tensor()) continue;
    ++tensors;
    has_shared = has_shared || graph[value].kind == NodeKind::Const;
  }
  return tensors >= 2 && has_shared;
}

void note_size(const Type& type, DirectFacts& facts) {
  if (!is_fixed(type)) {
    facts.has_unknown_sizes = true;
    return;
  }
  int64_t size = 1;
  for (const Dim& dim : type.shape) size *= dim.size;
  facts.has_large_tensors = facts.has_large_tensors || size >= kLargeTensor;
}

/// By function: the number of its component in the graph of calls, or none where it never calls itself.
std::vector<std::optional<std::size_t>> recursive_components(const Graph& graph) {
  std::vector<std::vector<std::size_t>> callees(graph.functions().size());
  std::vector<std::optional<std::size_t>> found(callees.size());
  for (const graph::Site& site : graph.sites()) {
    if (!site.caller.valid() || !site.callee.valid()) continue;
    callees[site.caller.index()].push_back(site.callee.index());
  }
  const Components components = strongly_connected_components(callees);
  for (std::size_t f = 0; f < callees.size(); ++f) {
    for (const std::size_t callee : callees[f]) {
      if (components.of[callee] == components.of[f]) found[f] = components.of[f];
    }
  }
  return found;
}

/// Whether a recursive function has calls beside each other, of itself or below branches and loops.
bool has_calls_to_share(const Graph& graph) {
  std::string reason;
  const std::optional<Structure> structure = direct::find_structure(graph, reason);
  if (!structure) return false;
  const std::vector<std::optional<std::size_t>> components = recursive_components(graph);
  return std::ranges::any_of(structure->blocks, [&](const Block& block) {
    const auto calls_itself = [&](const Item& item) {
      if (item.kind != Item::Kind::Call) return structure->has_calls(item);
      const graph::FunctionId callee = graph[graph::CallSite(item.index)].callee;
      return components[callee.index()] == components[block.function.index()];
    };
    if (!components[block.function.index()]) return false;
    for (std::size_t i = 1; i < block.items.size(); ++i) {
      const Item& one = block.items[i - 1];
      const Item& other = block.items[i];
      if (one.group == other.group && calls_itself(one) && calls_itself(other)) return true;
    }
    return false;
  });
}

}  // namespace

DirectFacts direct_facts(const Graph& graph) {
  const std::size_t main = graph.main().index();
  DirectFacts facts;
  facts.begins_direct = direct_functions(graph)[main];
  facts.may_begin_direct = facts.begins_direct || direct_functions(graph, TensorsIn::DirectCode)[main];
  if (facts.begins_direct || !facts.may_begin_direct) return facts;
  for (const Node& node : graph.nodes()) {
    if (!node.function.valid()) continue;
    facts.gains_from_batches = facts.gains_from_batches || gains_from_batches(graph, node);
    if (node.type.is_tensor()) note_size(node.type, facts);
  }
  if (!facts.gains_from_batches) facts.has_calls_to_share = has_calls_to_share(graph);
  return facts;
}

TensorsIn tensors_in(const DirectFacts& facts, bool batching, std::size_t examples, int workers) {
  if (!batching) return TensorsIn::DirectCode;
  if (facts.gains_from_batches || facts.has_large_tensors) return TensorsIn::FlowOnly;
  // Where launches may be large, several workers share them in flow.
  const bool is_alone = examples == 1 && (workers == 1 || !facts.has_unknown_sizes);
  return is_alone || facts.has_calls_to_share ? TensorsIn::DirectCode : TensorsIn::FlowOnly;
}

}  // namespace hiaton::exec
