#include "exec/flow/compile/places.h"

#include <algorithm>

#include "exec/firing.h"
#include "exec/flow/plan.h"

namespace hiaton::exec::flow {

using graph::Node;
using graph::NodeId;
using graph::NodeKind;
using graph::OutPort;

namespace {

bool is_operation(const Node& node) {
  return node.kind == NodeKind::Op || node.kind == NodeKind::Accumulate;
}

}  // namespace

/// `nodes` are in an order in which inputs come first, but for the parameters of later phases: their level
/// follows from the results of the phases before.
Places::Places(const graph::Graph& graph, graph::FunctionId function, const std::vector<NodeId>& nodes)
    : graph_(graph), function_(function) {
  const graph::Function& body = graph[function];
  for (NodeId id : nodes) find_place(id);
  for (OutPort result : body.results) {
    if (place_of(result).value_or(kRoot) != kRoot) throw Unsupported{"a result stands inside a branch"};
  }
  for (NodeId id : nodes) find_batched(id);
  const std::size_t phases = std::max<std::size_t>(1, body.phases.size());
  std::size_t param = 0;
  std::size_t result = 0;
  uint32_t level = 0;
  for (std::size_t phase = 0; phase < phases; ++phase) {
    const std::size_t end = body.phases.empty() ? body.params.size() : param + body.phases[phase].params;
    for (; param < end; ++param) levels_[body.params[param].node] = level;
    for (NodeId id : nodes) set_level(id);
    const std::size_t results =
        body.phases.empty() ? body.results.size() : result + body.phases[phase].results;
    for (; result < results; ++result) {
      const auto found = levels_.find(origin(body.results[result]).node);
      if (found != levels_.end()) level = std::max(level, found->second + 1);
    }
  }
  for (NodeId id : nodes) {
    if (!levels_.contains(id) && graph[id].kind != NodeKind::Const)
      throw Unsupported{"its nodes stand in no order"};
  }
}

OutPort Places::origin(OutPort port) const {
  while (graph_[port.node].kind == NodeKind::Switch) port = graph_[port.node].inputs[0];
  return port;
}

std::optional<PlaceId> Places::place_of(OutPort port) const {
  const Node& node = graph_[port.node];
  if (is_under_every_tag(node)) return std::nullopt;
  if (node.kind == NodeKind::Switch) {
    const auto& sides = switch_places_.at(port.node);
    return port.port == 0 ? sides.first : sides.second;
  }
  const auto found = node_places_.find(port.node);
  if (found == node_places_.end()) throw Unsupported{"its nodes stand in no order"};
  return found->second;
}

bool Places::is_inside(PlaceId inner, PlaceId outer) const {
  while (all_[inner].depth > all_[outer].depth) inner = all_[inner].parent;
  return inner == outer;
}

PlaceId Places::deepest(const Node& node) const {
  PlaceId deepest = kRoot;
  const auto look = [&](OutPort from) {
    const std::optional<PlaceId> place = place_of(from);
    if (!place) return;
    if (is_inside(*place, deepest)) {
      deepest = *place;
    } else if (!is_inside(deepest, *place)) {
      throw Unsupported{"a node reads values of different branches"};
    }
  };
  for (OutPort from : node.inputs) look(from);
  if (node.kind == NodeKind::Const) {
    for (OutPort from : node.controls) look(from);
  }
  return deepest;
}

PlaceId Places::side_of(const Node& node, bool side) {
  const PlaceId parent = deepest(node);
  const auto [entry, first] = by_side_.try_emplace({parent, node.inputs[1], side});
  if (!first) return entry->second;
  all_.push_back({parent, node.inputs[1], side, all_[parent].depth + 1});
  entry->second = static_cast<PlaceId>(all_.size() - 1);
  return entry->second;
}

void Places::find_place(NodeId id) {
  const Node& node = graph_[id];
  const std::vector<OutPort>& params = graph_[function_].params;
  const bool is_param = std::find(params.begin(), params.end(), OutPort{id}) != params.end();
  if (is_param) {
    node_places_[id] = kRoot;
    return;
  }
  switch (node.kind) {
    case NodeKind::Enter:
    case NodeKind::Exit:
    case NodeKind::NextIteration:
      throw Unsupported{"it has loops"};
    case NodeKind::Switch: {
      const PlaceId when_true = side_of(node, true);
      switch_places_[id] = {when_true, side_of(node, false)};
      node_places_[id] = deepest(node);
      return;
    }
    case NodeKind::Merge: {
      if (node.inputs.size() != 2) throw Unsupported{"a Merge has not two inputs"};
      const PlaceId first = place_of(node.inputs[0]).value_or(kRoot);
      const PlaceId second = place_of(node.inputs[1]).value_or(kRoot);
      const Place& a = all_[first];
      const Place& b = all_[second];
      if (first == kRoot || a.parent != b.parent || a.predicate != b.predicate || a.side == b.side) {
        throw Unsupported{"a Merge does not join the two sides of one branch"};
      }
      node_places_[id] = a.parent;
      return;
    }
    case NodeKind::Return: {
      PlaceId place = kRoot;
      for (NodeId call : graph_[node.site].calls) {
        const auto found = node_places_.find(call);
        if (found == node_places_.end()) continue;
        if (is_inside(found->second, place)) {
          place = found->second;
        } else if (!is_inside(place, found->second)) {
          throw Unsupported{"the arguments of a call come from different branches"};
        }
      }
      node_places_[id] = place;
      return;
    }
    default:
      node_places_[id] = deepest(node);
  }
}

/// Tensor operations; and arithmetic on floats that such operations gave.
void Places::find_batched(NodeId id) {
  const Node& node = graph_[id];
  bool& batched = batched_[id];
  if (node.kind == NodeKind::Accumulate) batched = true;
  if (node.kind != NodeKind::Op || node.op->value_kernel != nullptr) return;
  batched = node.type.is_tensor();
  for (OutPort from : node.inputs) {
    const OutPort source = origin(from);
    const bool from_batch = graph_[source.node].kind == NodeKind::Op && batched_[source.node] &&
                            is_float(node.type.dtype) && node_places_[source.node] == node_places_[id];
    batched = batched || graph_[source.node].type.is_tensor() || from_batch;
  }
  batched = batched && node.op->tensor_kernel.value != nullptr;
}

void Places::set_level(NodeId id) {
  if (levels_.contains(id)) return;
  const Node& node = graph_[id];
  uint32_t level = 0;
  const auto after = [&](OutPort from, uint32_t step) {
    const OutPort source = origin(from);
    if (graph_[source.node].kind == NodeKind::Const) return true;
    const auto found = levels_.find(source.node);
    if (found == levels_.end()) return false;
    level = std::max(level, found->second + step);
    return true;
  };
  if (node.kind == NodeKind::Return) {
    for (OutPort call : node.controls) {
      if (!after(call, 1)) return;
    }
    levels_[id] = level;
    return;
  }
  for (OutPort from : node.inputs) {
    const OutPort source = origin(from);
    const bool same_region = is_operation(node) && is_operation(graph_[source.node]) &&
                             batched_[source.node] == batched_[id] &&
                             node_places_[source.node] == node_places_[id];
    if (!after(from, same_region ? 0 : 1)) return;
  }
  if (node.kind == NodeKind::Merge) {
    const PlaceId side = place_of(node.inputs[0]).value_or(kRoot);
    if (side != kRoot && !after(all_[side].predicate, 1)) return;
  }
  // Inside a branch it also waits for the predicates around it.
  for (PlaceId place = node_places_[id]; place != kRoot; place = all_[place].parent) {
    if (!after(all_[place].predicate, 1)) return;
  }
  levels_[id] = level;
}

}  // namespace hiaton::exec::flow
