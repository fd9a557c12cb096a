// The rule for iterations: an item is slow if it reads a variable that waits for calls of earlier iterations,
// a value of a slow item, or stands on a side of a slow predicate. The task is all of the body that is
// neither slow nor done ahead; conditionals with slow items inside are split, loops are not.
#include "exec/direct/compile/outlined_task.h"

#include <algorithm>

#include "exec/direct/compile/item_reads.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

namespace {

class TaskFinder {
 public:
  TaskFinder(const Graph& graph, const Structure& structure) : graph_(graph), structure_(structure) {}

  std::optional<OutlinedTask> run(const LoopShape& loop, const std::vector<TaskItem>& ahead,
                                  const std::vector<CallSite>& calls,
                                  const std::vector<bool>& variable_waits) {
    for (std::size_t v = 0; v < loop.variables.size(); ++v) {
      if (variable_waits[v]) slow_values_.insert(loop.variables[v].merge);
    }
    const std::vector<Item>& body = structure_[loop.body].items;
    mark_slow(body, false);
    ItemSet ahead_items;
    for (const TaskItem& item : ahead) {
      if (!item.is_split) ahead_items.insert(item.item);
    }
    task_.items = take(body, ahead_items);
    if (calls_ == 0 || (calls_ == calls.size() && calls_are_all(calls))) return std::nullopt;
    for (const TaskItem& item : task_.items) find_captures(item);
    for (const Item& item : body) {
      if (!ahead_items.contains(item)) find_results(item);
    }
    for (std::size_t v = 0; v < loop.variables.size(); ++v) {
      if (variable_waits[v]) add_result(graph_[loop.variables[v].next].inputs[0]);
    }
    return std::move(task_);
  }

  OutlinedTask whole(const Item& item) {
    task_.items.push_back({.item = item});
    add_whole(item);
    find_captures_of_whole(item);
    for_each_value(graph_, structure_, item, [&](NodeId value) { task_.results.push_back(value); });
    return std::move(task_);
  }

 private:
  bool is_slow(OutPort port) const { return slow_values_.contains(structure_.origin(port)); }
  const std::vector<Item>& items_of(BlockId block) const {
    static const std::vector<Item> none;
    return block.valid() ? structure_[block].items : none;
  }
  const Conditional& conditional(const Item& item) const { return structure_.conditionals[item.index]; }

  bool reads_slow(const Item& item) const {
    bool slow = false;
    for_each_own_read(graph_, structure_, item, [&](OutPort port) { slow = slow || is_slow(port); });
    for_each_inside(structure_, item, [&](const Item& inner) { slow = slow || reads_slow(inner); });
    return slow;
  }

  void set_slow(const Item& item) {
    slow_.insert(item);
    for_each_value(graph_, structure_, item, [&](NodeId value) { slow_values_.insert(value); });
  }

  /// Whether there is a slow one among the items.
  bool mark_slow(const std::vector<Item>& items, bool control_is_slow) {
    bool any = false;
    for (const Item& item : items) {
      if (item.kind == Item::Kind::Conditional) {
        any = mark_slow_conditional(item, control_is_slow) || any;
      } else if (control_is_slow || reads_slow(item)) {
        set_slow(item);
        any = true;
      }
    }
    return any;
  }

  bool mark_slow_conditional(const Item& item, bool control_is_slow) {
    const bool decides_late = control_is_slow || is_slow(conditional(item).predicate);
    bool any = decides_late;
    for (BlockId side : conditional(item).sides) any = mark_slow(items_of(side), decides_late) || any;
    for (const Join& join : conditional(item).joins) {
      any = any || is_slow(join.from[0]) || is_slow(join.from[1]);
    }
    if (any) set_slow(item);  // what follows the task gives all its results
    if (decides_late) late_.insert(item);
    return any;
  }

  std::vector<TaskItem> take(const std::vector<Item>& items, const ItemSet& without) {
    std::vector<TaskItem> taken;
    for (const Item& item : items) {
      if (without.contains(item)) continue;
      if (!slow_.contains(item)) {
        taken.push_back({.item = item});
        add_whole(item);
      } else if (item.kind == Item::Kind::Conditional && !late_.contains(item) && has_fast_calls(item)) {
        TaskItem split{.item = item, .is_split = true};
        for (int side = 0; side < 2; ++side) {
          const BlockId block = conditional(item).sides[side];
          split.sides[side] = take(items_of(block), {});
          if (block.valid()) task_.split_sides.insert(block);
        }
        taken.push_back(std::move(split));
      }
    }
    return taken;
  }

  bool has_fast_calls(const Item& item) const {
    if (item.kind == Item::Kind::Call) return !slow_.contains(item);
    if (item.kind == Item::Kind::Loop && slow_.contains(item)) return false;
    if (late_.contains(item)) return false;
    bool found = false;
    for_each_inside(structure_, item, [&](const Item& inner) { found = found || has_fast_calls(inner); });
    return found;
  }

  void add_whole(const Item& item) {
    task_.done.insert(item);
    if (item.kind == Item::Kind::Call) {
      ++calls_;
      sites_.insert(CallSite(item.index));
    }
    for_each_value(graph_, structure_, item, [&](NodeId value) { made_.insert(value); });
    for_each_inside(structure_, item, [&](const Item& inner) { add_whole(inner); });
  }

  bool calls_are_all(const std::vector<CallSite>& calls) const {
    return std::ranges::all_of(calls, [&](CallSite site) { return sites_.contains(site); });
  }

  void add_capture(OutPort port) {
    const NodeId value = structure_.origin(port);
    if (graph_[value].kind == NodeKind::Const || made_.contains(value)) return;
    if (captured_.insert(value).second) task_.captures.push_back(value);
  }

  void find_captures_of_whole(const Item& item) {
    for_each_own_read(graph_, structure_, item, [&](OutPort port) { add_capture(port); });
    for_each_inside(structure_, item, [&](const Item& inner) { find_captures_of_whole(inner); });
  }

  void find_captures(const TaskItem& item) {
    if (!item.is_split) return find_captures_of_whole(item.item);
    add_capture(conditional(item.item).predicate);
    for (const std::vector<TaskItem>& side : item.sides) {
      for (const TaskItem& inner : side) find_captures(inner);
    }
  }

  void add_result(OutPort port) {
    const NodeId value = structure_.origin(port);
    if (made_.contains(value) && given_.insert(value).second) task_.results.push_back(value);
  }

  /// What the items that the task has not done read of it.
  void find_results(const Item& item) {
    if (task_.done.contains(item)) return;
    for_each_own_read(graph_, structure_, item, [&](OutPort port) { add_result(port); });
    for_each_inside(structure_, item, [&](const Item& inner) { find_results(inner); });
  }

  const Graph& graph_;
  const Structure& structure_;
  OutlinedTask task_;
  std::unordered_set<NodeId> slow_values_;
  ItemSet slow_;  ///< items, and conditionals with one inside
  ItemSet late_;  ///< conditionals of a slow predicate
  std::unordered_set<NodeId> made_;
  std::unordered_set<NodeId> captured_;
  std::unordered_set<NodeId> given_;
  std::unordered_set<CallSite> sites_;
  std::size_t calls_ = 0;
};

}  // namespace

std::optional<OutlinedTask> find_outlined_task(const Graph& graph, const Structure& structure,
                                               const LoopShape& loop, const std::vector<TaskItem>& ahead,
                                               const std::vector<CallSite>& calls,
                                               const std::vector<bool>& variable_waits) {
  return TaskFinder(graph, structure).run(loop, ahead, calls, variable_waits);
}

OutlinedTask whole_task(const Graph& graph, const Structure& structure, const Item& item) {
  return TaskFinder(graph, structure).whole(item);
}

}  // namespace hiaton::exec::direct
