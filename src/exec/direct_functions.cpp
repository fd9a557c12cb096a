#include "exec/direct_functions.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/components.h"
#include "exec/direct/compile/direct_passes.h"
#include "exec/graph_names.h"

namespace hiaton::exec {

namespace {

using Neighbours = std::vector<std::vector<std::size_t>>;

/// By function: the ones that call it, or that it calls.
Neighbours neighbours(const Graph& graph, bool are_callers) {
  Neighbours found(graph.functions().size());
  for (const graph::Site& site : graph.sites()) {
    if (!site.caller.valid() || !site.callee.valid()) continue;
    const std::size_t from = (are_callers ? site.callee : site.caller).index();
    found[from].push_back((are_callers ? site.caller : site.callee).index());
  }
  return found;
}

/// Adds to the set all that one comes to from it.
void spread(FunctionSet& set, const Neighbours& next) {
  std::vector<std::size_t> fresh;
  for (std::size_t f = 0; f < set.size(); ++f) {
    if (set[f]) fresh.push_back(f);
  }
  while (!fresh.empty()) {
    const std::size_t from = fresh.back();
    fresh.pop_back();
    for (const std::size_t to : next[from]) {
      if (set[to]) continue;
      set[to] = true;
      fresh.push_back(to);
    }
  }
}

/// The functions in which a node is of that kind.
template <class Condition>
FunctionSet functions_with(const Graph& graph, const Condition& condition) {
  FunctionSet found(graph.functions().size(), false);
  for (const Node& node : graph.nodes()) {
    if (node.function.valid() && condition(node)) found[node.function.index()] = true;
  }
  return found;
}

/// The functions that only gradients have.
FunctionSet functions_of_phases(const Graph& graph) {
  FunctionSet found = functions_with(graph, [](const Node& node) {
    if (node.kind == NodeKind::Accumulate) return true;
    return node.kind == NodeKind::Op && node.op->role == Role::FieldOrZero;
  });
  for (std::size_t f = 0; f < found.size(); ++f)
    found[f] = found[f] || graph.functions()[f].phases.size() > 1;
  return found;
}

/// From this many elements on, idle workers take ranges of a launch: see kernels/launch_helpers.cpp.
constexpr int64_t kLargeTensor = int64_t{1} << 17;

bool is_large(const Type& type) {
  if (!type.is_tensor() || !is_fixed(type)) return false;
  int64_t size = 1;
  for (const Dim& dim : type.shape) size *= dim.size;
  return size >= kLargeTensor;
}

/// The node that computes what this input reads.
const Node& operand(const Graph& graph, graph::OutPort input) {
  NodeId value = input.node;
  while (exec::passes_operand_on(graph[value])) value = graph[value].inputs[0].node;
  return graph[value];
}

/// Whether a kernel on a batch does less than one kernel for each instance: it combines tensors in another
/// way than element by element, and one of them, which all instances share, is read or packed once. Joining
/// tensors, reading rows and changing some of them only moves elements.
bool gains_from_batches(const Graph& graph, const Node& node) {
  if (node.kind != NodeKind::Op || node.op->fusion.value != Fusion::Tensor) return false;
  if (node.op->role == Role::Join || node.op->role == Role::Gather || node.op->may_be_in_place())
    return false;
  std::size_t tensors = 0;
  bool has_shared = false;
  for (const graph::OutPort input : node.inputs) {
    const Node& value = operand(graph, input);
    if (!value.type.is_tensor()) continue;
    ++tensors;
    has_shared = has_shared || value.kind == NodeKind::Const;
  }
  return tensors >= 2 && has_shared;
}

/// Whether a launch may be so large that several workers share it. To read the size, a row or an element of a
/// tensor is none, however large that is, and to change one is none, for direct code does that in place.
bool has_large_launches(const Graph& graph, const Node& node) {
  if (node.kind != NodeKind::Op || node.op->may_be_in_place()) return false;
  if (is_large(node.type)) return true;
  const Role role = node.op->role;
  if (role == Role::Gather || role == Role::At || role == Role::Size) return false;
  return std::ranges::any_of(
      node.inputs, [&](const graph::OutPort& input) { return is_large(operand(graph, input).type); });
}

bool holds_tensor(const Node& node) {
  return node.kind != NodeKind::Const && node.type.is_tensor();
}

/// By function: the number of its component in the graph of calls, or none where it never calls itself.
std::vector<std::optional<std::size_t>> recursive_components(const Neighbours& callees) {
  std::vector<std::optional<std::size_t>> found(callees.size());
  const Components components = strongly_connected_components(callees);
  for (std::size_t f = 0; f < callees.size(); ++f) {
    for (const std::size_t callee : callees[f]) {
      if (components.of[callee] == components.of[f]) found[f] = components.of[f];
    }
  }
  return found;
}

/// The recursive functions among `functions`, which call no others, that have calls beside each other, of
/// themselves or below branches and loops.
FunctionSet functions_with_calls_to_share(const Graph& graph, const FunctionSet& functions,
                                          const std::vector<std::optional<std::size_t>>& components) {
  FunctionSet found(functions.size(), false);
  std::string reason;
  const std::optional<Structure> structure = direct::find_structure(graph, functions, reason);
  if (!structure) return found;
  for (const Block& block : structure->blocks) {
    const std::size_t function = block.function.index();
    if (!components[function]) continue;
    const auto calls_itself = [&](const Item& item) {
      if (item.kind != Item::Kind::Call) return structure->has_calls(item);
      const graph::FunctionId callee = graph[graph::CallSite(item.index)].callee;
      return components[callee.index()] == components[function];
    };
    for (std::size_t i = 1; i < block.items.size(); ++i) {
      const Item& one = block.items[i - 1];
      const Item& other = block.items[i];
      if (one.group == other.group && calls_itself(one) && calls_itself(other)) found[function] = true;
    }
  }
  return found;
}

}  // namespace

void add_callers(const Graph& graph, FunctionSet& functions) {
  spread(functions, neighbours(graph, true));
}

FunctionSet functions_for_direct_code(const Graph& graph) {
  FunctionSet others = functions_of_phases(graph);
  add_callers(graph, others);
  others.flip();
  return others;
}

RunKind kind_of_run(bool batching, std::size_t examples, int workers) {
  if (!batching) return RunKind::WithoutBatches;
  if (examples != 1) return RunKind::OfExamples;
  return workers == 1 ? RunKind::Alone : RunKind::OnWorkers;
}

DirectFunctions::DirectFunctions(const Graph& graph)
    : reached_(graph.functions().size()), callees_(neighbours(graph, false)) {
  const Neighbours callers = neighbours(graph, true);
  const auto note = [&](FunctionSet set, bool Reached::*what) {
    spread(set, callers);
    for (std::size_t f = 0; f < set.size(); ++f) reached_[f].*what = set[f];
  };
  note(functions_of_phases(graph), &Reached::phases);
  note(functions_with(graph,
                      [&](const Node& node) {
                        return gains_from_batches(graph, node) || has_large_launches(graph, node);
                      }),
       &Reached::gains);
  note(functions_with(graph,
                      [](const Node& node) {
                        return node.kind == NodeKind::Op && node.op->may_be_in_place() &&
                               node.type.is_tensor();
                      }),
       &Reached::updates);
  note(functions_with(graph, holds_tensor), &Reached::tensors);
  note(functions_with(graph, [](const Node& node) { return holds_tensor(node) && !is_fixed(node.type); }),
       &Reached::unknown_sizes);

  const std::vector<std::optional<std::size_t>> components = recursive_components(callees_);
  FunctionSet sharing = functions_for_direct_code(graph);
  if (std::ranges::any_of(reached_, &Reached::tensors)) {
    sharing = functions_with_calls_to_share(graph, sharing, components);
    for (std::size_t f = 0; f < sharing.size(); ++f) sharing[f] = sharing[f] && reached_[f].tensors;
    note(std::move(sharing), &Reached::calls_to_share);
  }

  // A chain of calls of one function is one instance of a batch, and what it calls outside of itself is many.
  FunctionSet often(reached_.size(), false);
  for (const graph::Loop& loop : graph.loops()) {
    for (const std::size_t callee : callees_[loop.function.index()]) often[callee] = true;
  }
  for (std::size_t f = 0; f < often.size(); ++f) {
    if (!components[f]) continue;
    for (const std::size_t callee : callees_[f])
      often[callee] = often[callee] || components[callee] != components[f];
  }
  spread(often, callees_);
  often.flip();
  is_called_seldom_ = std::move(often);
}

bool DirectFunctions::is_direct(std::size_t function, RunKind kind) const {
  const Reached& reached = reached_[function];
  if (reached.phases) return false;
  if (kind == RunKind::WithoutBatches) return true;
  if (reached.gains) return false;
  if (!reached.tensors || reached.calls_to_share || reached.updates) return true;
  // Its batches have few instances where it is called seldom. Where launches may be large, workers share
  // them.
  if (!is_called_seldom_[function]) return false;
  return kind == RunKind::Alone || (kind == RunKind::OnWorkers && !reached.unknown_sizes);
}

FunctionSet DirectFunctions::in(RunKind kind) const {
  FunctionSet direct(reached_.size());
  for (std::size_t f = 0; f < direct.size(); ++f) direct[f] = is_direct(f, kind);
  spread(direct, callees_);
  return direct;
}

}  // namespace hiaton::exec
