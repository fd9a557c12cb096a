#include "exec/direct/compile/schedule.h"

#include <algorithm>
#include <utility>

#include "exec/direct/compile/operation_kinds.h"
#include "exec/direct/compile/schedule_body.h"
#include "exec/direct/kernel_table.h"
#include "exec/graph_names.h"
#include "exec/structure.h"

namespace hiaton::exec::direct {

namespace {

/// Bounds for the code that one window may take.
constexpr std::size_t kMostPlaces = 32;
constexpr std::size_t kMostItems = 1000;

std::size_t places_of(const Structure& structure, const LoopShape& loop, const PlanOptions& options) {
  const std::size_t items = structure[loop.condition].items.size() + structure[loop.body].items.size() + 1;
  return std::min<std::size_t>(
      {static_cast<std::size_t>(options.parallel_iterations), kMostPlaces, kMostItems / items});
}

/// Where an item is split, both parts would have to agree on who holds what a side gives.
bool can_hold_data(const Ownership& ownership, const Window& window) {
  if (!ownership.has_data()) return true;
  const bool splits_ahead = std::ranges::any_of(
      window.ahead, [&](const TaskItem& item) { return item.is_split && ownership.touches_data(item.item); });
  if (splits_ahead) return false;
  if (!window.task) return true;
  const bool splits_task =
      std::ranges::any_of(window.task->items, [](const TaskItem& item) { return item.is_split; });
  return !splits_task ||
         std::ranges::none_of(window.task->results, [&](NodeId value) { return ownership.is_data(value); });
}

struct FoundWindows {
  std::vector<std::optional<ScheduledWindow>> windows;
  std::vector<bool>
      has_ahead;  ///< by LoopId: it has something that could run ahead, with a window or without
};

FoundWindows find_windows(const Graph& graph, const Structure& structure, const Lifetimes& lifetimes,
                          const Ownership& ownership, const PlanOptions& options) {
  FoundWindows found;
  found.windows.resize(graph.loops().size());
  found.has_ahead.assign(graph.loops().size(), false);
  if (!options.forking) return found;
  for (std::size_t l = 0; l < graph.loops().size(); ++l) {
    if (!structure.functions[graph.loops()[l].function.index()]) continue;
    std::optional<Window> window = find_window(graph, structure, LoopId(l));
    found.has_ahead[l] = window.has_value();
    if (!window || lifetimes.body_needs_condition[l] || !can_hold_data(ownership, *window)) continue;
    const std::size_t places = places_of(structure, structure.loops[l], options);
    if (places >= 2) found.windows[l] = {*std::move(window), places};
  }
  return found;
}

std::vector<bool> functions_with_groups(const Graph& graph, const Structure& structure,
                                        const std::vector<bool>& has_ahead, const PlanOptions& options) {
  std::vector<bool> result(graph.functions().size(), false);
  if (!options.forking) return result;
  for (const Block& block : structure.blocks) {
    for (std::size_t i = 1; i < block.items.size(); ++i) {
      if (block.items[i - 1].group == block.items[i].group) result[block.function.index()] = true;
    }
  }
  for (std::size_t l = 0; l < has_ahead.size(); ++l) {
    if (has_ahead[l]) result[graph.loops()[l].function.index()] = true;
  }
  return result;
}

std::vector<bool> functions_that_fork(const Graph& graph, const Structure& structure,
                                      const std::vector<bool>& has_groups) {
  std::vector<bool> forks = has_groups;
  for (bool has_changed = true; std::exchange(has_changed, false);) {
    for (const Block& block : structure.blocks) {
      if (forks[block.function.index()]) continue;
      forks[block.function.index()] = std::ranges::any_of(block.items, [&](const Item& item) {
        return item.kind == Item::Kind::Call && forks[graph[CallSite(item.index)].callee.index()];
      });
      has_changed = has_changed || forks[block.function.index()];
    }
  }
  return forks;
}

class EndingFinder {
 public:
  EndingFinder(const Graph& graph, const Structure& structure, const Lifetimes& lifetimes,
               const Ownership& ownership, const std::vector<bool>& tail_calls, const PlanOptions& options,
               bool forking)
      : graph_(graph),
        structure_(structure),
        lifetimes_(lifetimes),
        ownership_(ownership),
        tail_calls_(tail_calls),
        options_(options),
        forking_(forking) {}

  /// `returned`: an operation in a block around that is to be part of the return.
  Ending find(BlockId block, std::vector<OutPort> results, NodeId returned = {}) const {
    Ending ending;
    ending.results = std::move(results);
    if (returns_operation(block, ending.results)) returned = structure_.origin(ending.results[0]);
    if (returned.valid() && structure_.origin(ending.results[0]) == returned) {
      ending.kind = Ending::Kind::ReturnOperation;
      ending.operation = returned;
    }
    if (!block.valid()) return ending;
    const std::span<const Item> items = structure_[block].items;
    ending.items = items.size();
    if (ends_in_branch(items, ending.results)) {
      ending.kind = Ending::Kind::Branch;
      --ending.items;
      const Conditional& conditional = structure_.conditionals[items.back().index];
      for (int side = 0; side < 2; ++side) {
        ending.sides.push_back(
            find(conditional.sides[side], results_of_side(conditional, side, ending.results), returned));
      }
    } else if (!find_constructor_tail(items, ending) && ends_in_tail_call(items)) {
      ending.kind = Ending::Kind::TailCall;
      --ending.items;
    }
    return ending;
  }

 private:
  std::vector<OutPort> results_of_side(const Conditional& conditional, int side,
                                       std::vector<OutPort> results) const {
    for (OutPort& result : results) {
      for (const Join& join : conditional.joins) {
        if (structure_.origin(result) != join.merge) continue;
        result = join.from[side];
        break;
      }
    }
    return results;
  }

  /// A conditional that may run at the same time as others is none, unless it gives all results: only then
  /// are there calls at its end that can be tail calls. Both forms decide alike.
  bool ends_in_branch(std::span<const Item> items, const std::vector<OutPort>& results) const {
    if (items.empty() || items.back().kind != Item::Kind::Conditional) return false;
    const bool alone = items.size() == 1 || items[items.size() - 2].group != items.back().group;
    if (alone || !options_.forking) return true;
    const std::vector<Join>& joins = structure_.conditionals[items.back().index].joins;
    return std::ranges::all_of(results, [&](OutPort result) {
      return std::ranges::any_of(joins,
                                 [&](const Join& join) { return join.merge == structure_.origin(result); });
    });
  }

  bool ends_in_tail_call(std::span<const Item> items) const {
    if (items.empty() || items.back().kind != Item::Kind::Call || runs_with_others(items)) return false;
    const CallSite site(items.back().index);
    return tail_calls_[site.index()] && outlive_frame(site);
  }

  /// Whether the last item is run together with those before it.
  bool runs_with_others(std::span<const Item> items) const {
    std::size_t begin = items.size() - 1;
    while (begin > 0 && items[begin - 1].group == items.back().group) --begin;
    const std::span<const Item> group = items.subspan(begin);
    if (forking_ && are_tasks(group)) return true;
    return group.size() > 1 && group[group.size() - 2].kind == Item::Kind::Call;
  }

  /// Whether what the call borrows is there for longer than the frame that makes it.
  bool outlive_frame(CallSite site) const {
    const graph::Site& call = graph_[site];
    for (std::size_t i = 0; i < call.calls.size(); ++i) {
      const OutPort input = graph_[call.calls[i]].inputs[0];
      if (!ownership_.is_data(input) || !ownership_.is_borrowed(call.callee, i)) continue;
      if (!ownership_.outlives_frame(structure_.origin(input))) return false;
    }
    return true;
  }

  /// A call behind which nothing but values are made, each a field of the next, the last of which is the
  /// result.
  bool find_constructor_tail(std::span<const Item> items, Ending& ending) const {
    if (ending.results.size() != 1 || !ownership_.is_data(ending.results[0])) return false;
    std::size_t call = items.size();
    while (call > 0 && items[call - 1].kind == Item::Kind::Op &&
           has_role(graph_[NodeId(items[call - 1].index)], Role::Make)) {
      --call;
    }
    if (call == 0 || call == items.size() || items[call - 1].kind != Item::Kind::Call) return false;
    --call;
    if (call > 0 && items[call - 1].group == items[call].group) return false;
    const CallSite site(items[call].index);
    if (graph_[site].returns.size() != 1 || options_.is_sent(graph_, site)) return false;
    NodeId inner = graph_[site].returns[0];
    std::vector<HoleIn> makes;
    for (const Item& item : items.subspan(call + 1)) {
      const NodeId make(item.index);
      const auto& inputs = graph_[make].inputs;
      const auto is_inner = [&](OutPort input) { return structure_.origin(input) == inner; };
      if (std::ranges::count_if(inputs, is_inner) != 1 || lifetimes_.reads[inner.index()] != 1) return false;
      const auto hole = std::ranges::find_if(inputs, is_inner);
      makes.push_back({make, static_cast<std::size_t>(hole - inputs.begin())});
      inner = make;
    }
    if (structure_.origin(ending.results[0]) != inner || lifetimes_.reads[inner.index()] != 1) return false;
    if (!outlive_frame(site)) return false;
    ending.kind = Ending::Kind::TailConstructor;
    ending.items = call;
    ending.makes = std::move(makes);
    return true;
  }

  bool returns_operation(BlockId block, const std::vector<OutPort>& results) const {
    if (!block.valid() || results.size() != 1) return false;
    const NodeId value = structure_.origin(results[0]);
    const Node& node = graph_[value];
    return node.kind == NodeKind::Op && structure_.block_of[value.index()] == block &&
           has_kernel(graph_, structure_, node) && lifetimes_.reads[value.index()] == 1 &&
           fast_return(kernel_of(graph_, structure_, node, options_.overflow)) &&
           graph_[structure_.origin(node.inputs[0])].kind != NodeKind::Const;
  }

  const Graph& graph_;
  const Structure& structure_;
  const Lifetimes& lifetimes_;
  const Ownership& ownership_;
  const std::vector<bool>& tail_calls_;
  const PlanOptions& options_;
  const bool forking_;
};

}  // namespace

bool are_tasks(std::span<const Item> group) {
  return group.size() > 1 &&
         std::ranges::any_of(group, [](const Item& item) { return item.kind != Item::Kind::Call; });
}

Schedule make_schedule(const Graph& graph, const Structure& structure, const Lifetimes& lifetimes,
                       const Ownership& ownership, const PlanOptions& options) {
  Schedule schedule;
  FoundWindows found = find_windows(graph, structure, lifetimes, ownership, options);
  schedule.windows = std::move(found.windows);
  schedule.has_groups = functions_with_groups(graph, structure, found.has_ahead, options);
  schedule.forks = functions_that_fork(graph, structure, schedule.has_groups);
  schedule.placements = find_placements(graph, structure, lifetimes, ownership, options.overflow);
  const std::vector<bool> tail_calls = find_tail_calls(graph, structure);
  for (const bool forking : {false, true}) {
    std::vector<Ending>& endings = schedule.endings[forking ? 1 : 0];
    endings.resize(graph.functions().size());
    if (forking && !options.forking) continue;
    const EndingFinder finder(graph, structure, lifetimes, ownership, tail_calls, options, forking);
    for (std::size_t f = 0; f < endings.size(); ++f) {
      if (structure.functions[f]) endings[f] = finder.find(structure.bodies[f], structure.results[f]);
    }
  }
  ScheduleContext context{graph, structure, lifetimes, ownership, options, schedule};
  schedule_bodies(context);
  return schedule;
}

}  // namespace hiaton::exec::direct
