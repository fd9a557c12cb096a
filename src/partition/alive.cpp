#include "partition/alive.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "graph/contexts.h"
#include "hiaton/error.h"

namespace hiaton::partition {

using graph::is_under_every_tag;
using graph::NodeId;
using graph::NodeKind;
using graph::OutPort;

AliveTokens::AliveTokens(const graph::Graph& graph)
    : graph_(graph),
      states_(graph.nodes().size()),
      when_true_(graph.nodes().size()),
      when_false_(graph.nodes().size()) {
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) find(NodeId(n));
}

AliveId AliveTokens::of(OutPort port) {
  return port.port == 0 ? when_true_[port.node.index()] : when_false_[port.node.index()];
}

Context AliveTokens::context_of(NodeId node) const {
  return {graph_[node].function, graph_.loop_of(node)};
}

/// The outputs that a node is as dead as. Where a call or loop begins, its tokens are alive; what comes back
/// from it is as dead as what goes in.
std::vector<OutPort> AliveTokens::decided_by(NodeId id) const {
  const graph::Node& node = graph_[id];
  std::vector<OutPort> ports;
  switch (node.kind) {
    case NodeKind::Input:
    case NodeKind::Call:
    case NodeKind::Enter:
    case NodeKind::NextIteration:
      break;
    case NodeKind::Const:
      ports = {node.controls.begin(), node.controls.end()};
      break;
    case NodeKind::Return:
      ports = {graph_[graph_[node.site].calls.at(0)].inputs[0]};
      break;
    case NodeKind::Exit:
      ports = {graph_[graph_[node.loop].enters.at(0)].inputs[0]};
      break;
    case NodeKind::Merge:
      if (graph::is_entry(graph_, node)) break;
      [[fallthrough]];
    default:
      ports = {node.inputs.begin(), node.inputs.end()};
  }
  std::erase_if(ports, [&](OutPort port) { return is_under_every_tag(graph_[port.node]); });
  return ports;
}

/// A walk with a list of its own: chains of nodes are as long as programs.
void AliveTokens::find(NodeId start) {
  std::vector<NodeId> open{start};
  while (!open.empty()) {
    const NodeId id = open.back();
    State& state = states_[id.index()];
    if (state == State::Done) {
      open.pop_back();
      continue;
    }
    const bool was_open = std::exchange(state, State::Open) == State::Open;
    bool is_ready = true;
    for (OutPort port : decided_by(id)) {
      const State before = states_[port.node.index()];
      if (before == State::Done) continue;
      if (was_open || before == State::Open) {
        throw ProgramError(
            fmt::format("%{} {} of '{}': expected control flow that tells whether it is dead, "
                        "found a node whose deadness depends on itself",
                        id.index(), name_of(graph_[id].kind), graph_[graph_[id].function].name));
      }
      is_ready = false;
      open.push_back(port.node);
    }
    if (!is_ready) continue;
    decide(id);
    state = State::Done;
    open.pop_back();
  }
}

void AliveTokens::decide(NodeId id) {
  const graph::Node& node = graph_[id];
  const Context context = context_of(id);
  std::vector<AliveId> inputs;
  if (node.kind == NodeKind::Switch) {
    const bool is_constant = is_under_every_tag(graph_[node.inputs[0].node]);
    const AliveId base = is_constant ? make({Alive::Kind::Always, context}) : of(node.inputs[0]);
    when_true_[id.index()] = side(base, node.inputs[1], true);
    when_false_[id.index()] = side(base, node.inputs[1], false);
    return;
  }
  for (OutPort port : decided_by(id)) inputs.push_back(of(port));
  when_true_[id.index()] =
      node.kind == NodeKind::Merge ? merged(context, std::move(inputs)) : joined(context, std::move(inputs));
}

AliveId AliveTokens::make(Alive alive) {
  const auto [entry, first] = known_.try_emplace(alive, AliveId(all_.size()));
  if (first) all_.push_back(std::move(alive));
  return entry->second;
}

AliveId AliveTokens::side(AliveId base, OutPort predicate, bool side) {
  return make({Alive::Kind::Side, all_[base.index()].context, {base}, predicate, side});
}

/// Whether what is alive as `strong` says is also alive as `weak` says. May say no where it is so.
bool AliveTokens::implies(AliveId strong, AliveId weak) const {
  if (all_[weak.index()].kind == Alive::Kind::Always) return true;
  while (strong != weak) {
    const Alive& alive = all_[strong.index()];
    const auto implies_weak = [&](AliveId id) { return implies(id, weak); };
    if (alive.kind == Alive::Kind::All) return std::any_of(alive.of.begin(), alive.of.end(), implies_weak);
    if (alive.kind == Alive::Kind::Any) return std::all_of(alive.of.begin(), alive.of.end(), implies_weak);
    if (alive.kind == Alive::Kind::Always) return false;
    strong = alive.of[0];
  }
  return true;
}

namespace {

/// Each once, without those that another one makes superfluous.
template <class IsSuperfluous>
void reduce(std::vector<AliveId>& of, IsSuperfluous is_superfluous) {
  std::sort(of.begin(), of.end());
  of.erase(std::unique(of.begin(), of.end()), of.end());
  for (std::size_t i = 0; i < of.size();) {
    const AliveId one = of[i];
    const bool drop = std::any_of(of.begin(), of.end(),
                                  [&](AliveId other) { return other != one && is_superfluous(one, other); });
    if (drop) {
      of.erase(of.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

}  // namespace

AliveId AliveTokens::joined(Context context, std::vector<AliveId> of) {
  reduce(of, [&](AliveId one, AliveId other) { return implies(other, one); });
  if (of.empty()) return make({Alive::Kind::Always, context});
  return of.size() == 1 ? of[0] : make({Alive::Kind::All, context, std::move(of)});
}

AliveId AliveTokens::merged(Context context, std::vector<AliveId> of) {
  do {
    reduce(of, [&](AliveId one, AliveId other) { return implies(one, other); });
  } while (merge_sides(of));
  if (of.empty()) return make({Alive::Kind::Always, context});
  return of.size() == 1 ? of[0] : make({Alive::Kind::Any, context, std::move(of)});
}

/// Both sides of one branch together are as alive as the branch: such a Merge chooses no tag.
bool AliveTokens::merge_sides(std::vector<AliveId>& of) {
  for (AliveId& one : of) {
    const Alive& first = all_[one.index()];
    if (first.kind != Alive::Kind::Side) continue;
    for (auto other = of.begin(); other != of.end(); ++other) {
      const Alive& second = all_[other->index()];
      const bool are_both = second.kind == Alive::Kind::Side && second.of == first.of &&
                            second.predicate == first.predicate && second.side != first.side;
      if (!are_both) continue;
      const AliveId base = first.of[0];
      const OutPort predicate = first.predicate;
      const bool has_predicate =
          is_under_every_tag(graph_[predicate.node]) || implies(base, this->of(predicate));
      if (!has_predicate) continue;
      one = base;
      of.erase(other);
      return true;
    }
  }
  return false;
}

}  // namespace hiaton::partition
