#include "exec/flow/compile/scopes.h"

#include <algorithm>

#include "exec/firing.h"
#include "exec/flow/flow_plan.h"
#include "exec/graph_names.h"

namespace hiaton::exec::flow {

namespace {

bool is_operation(const Node& node) {
  return node.kind == NodeKind::Op || node.kind == NodeKind::Accumulate;
}

}  // namespace

Scopes::Scopes(const graph::Graph& graph, const Structure& structure, graph::FunctionId function,
               const std::vector<NodeId>& nodes, ScopeTables& tables)
    : graph_(graph), structure_(structure), tables_(tables) {
  const graph::Function& body = graph[function];
  add_scopes(function);
  for (NodeId id : nodes) find_batched(id);
  // Parameters of a later phase come after the results of the phases before; after a phase without results,
  // after all that needs no more than its parameters.
  const std::size_t phases = std::max<std::size_t>(1, body.phases.size());
  std::size_t param = 0;
  std::size_t result = 0;
  uint32_t level = 0;
  for (std::size_t phase = 0; phase < phases; ++phase) {
    const std::size_t end = body.phases.empty() ? body.params.size() : param + body.phases[phase].params;
    for (; param < end; ++param) tables_.levels.set(body.params[param].node, level);
    for (NodeId id : nodes) set_level(id);
    const std::size_t results =
        body.phases.empty() ? body.results.size() : result + body.phases[phase].results;
    if (results == result) {
      const auto stand_behind = [&](NodeId node) {
        if (const uint32_t* of_node = tables_.levels.find(node)) level = std::max(level, *of_node + 1);
      };
      for (const OutPort known : body.params) stand_behind(known.node);
      for (const NodeId node : nodes) stand_behind(node);
    }
    for (; result < results; ++result) {
      const uint32_t* const found = tables_.levels.find(origin(body.results[result]).node);
      if (found != nullptr) level = std::max(level, *found + 1);
    }
  }
  for (NodeId id : nodes) {
    if (!tables_.levels.contains(id) && graph[id].kind != NodeKind::Const)
      throw Unsupported{"its nodes stand in no order"};
  }
}

/// Both sides of a branch are scopes, also one in which nothing stands.
void Scopes::add_scopes(graph::FunctionId function) {
  scope_of_block_[structure_.bodies[function.index()]] = kRoot;
  for (const Conditional& conditional : structure_.conditionals) {
    if (structure_[conditional.parent].function != function) continue;
    const ScopeId parent = scope_of_block_.at(conditional.parent);
    for (std::size_t side = 0; side < 2; ++side) {
      if (conditional.sides[side].valid())
        scope_of_block_[conditional.sides[side]] = static_cast<ScopeId>(all_.size());
      all_.push_back({parent, conditional.predicate, side == 0, all_[parent].depth + 1});
    }
  }
}

OutPort Scopes::origin(OutPort port) const {
  while (graph_[port.node].kind == NodeKind::Switch) port = graph_[port.node].inputs[0];
  return port;
}

ScopeId Scopes::scope_of(NodeId node) const {
  return scope_of(structure_.block_of[node.index()]);
}

std::optional<ScopeId> Scopes::scope_of(OutPort port) const {
  if (is_under_every_tag(graph_[port.node])) return std::nullopt;
  return scope_of(structure_.block_of_output(graph_, port));
}

/// Tensor operations; and arithmetic on floats that such operations gave.
void Scopes::find_batched(NodeId id) {
  const Node& node = graph_[id];
  if (node.kind == NodeKind::Accumulate) tables_.batched[id.index()] = true;
  if (node.kind != NodeKind::Op || node.op->value_kernel != nullptr) return;
  bool batched = node.type.is_tensor();
  for (OutPort from : node.inputs) {
    const OutPort source = origin(from);
    const bool from_batch = graph_[source.node].kind == NodeKind::Op && is_batched(source.node) &&
                            is_float(node.type.dtype) && scope_of(source.node) == scope_of(id);
    batched = batched || graph_[source.node].type.is_tensor() || from_batch;
  }
  tables_.batched[id.index()] = batched && node.op->tensor_kernel.value != nullptr;
}

void Scopes::set_level(NodeId id) {
  if (tables_.levels.contains(id)) return;
  const Node& node = graph_[id];
  if (node.kind == NodeKind::Input) return;  // its phase has not come
  uint32_t level = 0;
  const auto after = [&](OutPort from, uint32_t step) {
    const OutPort source = origin(from);
    if (graph_[source.node].kind == NodeKind::Const) return true;
    // What a parameter of a later phase reads: the calls of other functions.
    if (graph_[source.node].function != node.function) return false;
    const uint32_t* const found = tables_.levels.find(source.node);
    if (found == nullptr) return false;
    level = std::max(level, *found + step);
    return true;
  };
  if (node.kind == NodeKind::Return) {
    for (OutPort call : node.controls) {
      if (!after(call, 1)) return;
    }
    tables_.levels.set(id, level);
    return;
  }
  for (OutPort from : node.inputs) {
    const OutPort source = origin(from);
    const bool same_region = is_operation(node) && is_operation(graph_[source.node]) &&
                             is_batched(source.node) == is_batched(id) &&
                             scope_of(source.node) == scope_of(id);
    if (!after(from, same_region ? 0 : 1)) return;
  }
  if (node.kind == NodeKind::Merge) {
    if (node.inputs.empty()) return;  // a later parameter of a copy that no call names
    const ScopeId side = scope_of(node.inputs[0]).value_or(kRoot);
    if (side != kRoot && !after(all_[side].predicate, 1)) return;
  }
  // Inside a branch it also waits for the predicates around it.
  for (ScopeId scope = scope_of(id); scope != kRoot; scope = all_[scope].parent) {
    if (!after(all_[scope].predicate, 1)) return;
  }
  tables_.levels.set(id, level);
}

}  // namespace hiaton::exec::flow
