#include "exec/direct/compile/window.h"

#include <algorithm>
#include <unordered_set>

#include "exec/graph_names.h"

namespace hiaton::exec::direct {

namespace {

class WindowFinder {
 public:
  WindowFinder(const Graph& graph, const Structure& structure, const LoopShape& loop)
      : graph_(graph), structure_(structure), loop_(loop), variable_waits_(loop.variables.size(), false) {}

  std::optional<Window> run() {
    if (structure_[loop_.condition].has_calls && !body_alone_has_calls()) return std::nullopt;
    while (find_waiting_values()) {
    }
    if (reads_waiting(loop_.condition) || waits(loop_.predicate)) return std::nullopt;
    Window window;
    for (const Item& item : structure_[loop_.body].items) {
      if (!item_waits(item)) {
        window.ahead.push_back({.item = item});
        continue;
      }
      if (std::optional<TaskItem> part = part_ahead(item)) window.ahead.push_back(*std::move(part));
      if (item.kind == Item::Kind::Call && !arguments_wait(CallSite(item.index))) {
        window.calls.emplace_back(item.index);
      } else {
        window.rest.push_back(item);
      }
    }
    window.variable_waits = variable_waits_;
    window.task = find_outlined_task(graph_, structure_, loop_, window.ahead, window.calls, variable_waits_);
    if (window.task) {
      window.rest = what_is_left(window);
      window.calls.clear();
      return window;
    }
    if (window.calls.empty()) return std::nullopt;
    return window;
  }

 private:
  std::vector<Item> what_is_left(const Window& window) const {
    ItemSet ahead;
    for (const TaskItem& item : window.ahead) {
      if (!item.is_split) ahead.insert(item.item);
    }
    std::vector<Item> rest;
    for (const Item& item : structure_[loop_.body].items) {
      if (!ahead.contains(item) && !window.task->done.contains(item)) rest.push_back(item);
    }
    return rest;
  }

  /// The condition's block counts the calls of the body as its own, since the body stands inside it.
  bool body_alone_has_calls() const {
    const std::vector<Item>& items = structure_[loop_.condition].items;
    return structure_[loop_.body].has_calls &&
           std::ranges::none_of(items, [&](const Item& item) { return structure_.has_calls(item); });
  }

  bool waits(OutPort port) const { return waiting_.contains(structure_.origin(port)); }

  bool arguments_wait(CallSite site) const {
    for (NodeId call : graph_[site].calls) {
      if (waits(graph_[call].inputs[0])) return true;
    }
    return false;
  }

  /// Whether what the item computes needs a call, itself included.
  bool item_waits(const Item& item) const { return structure_.has_calls(item) || reads_waiting(item); }

  bool reads_waiting(const Item& item) const {
    switch (item.kind) {
      case Item::Kind::Op:
        for (OutPort input : graph_[NodeId(item.index)].inputs) {
          if (waits(input)) return true;
        }
        return false;
      case Item::Kind::Call:
        return arguments_wait(CallSite(item.index));
      case Item::Kind::Conditional: {
        const Conditional& conditional = structure_.conditionals[item.index];
        if (waits(conditional.predicate)) return true;
        for (const Join& join : conditional.joins) {
          if (waits(join.from[0]) || waits(join.from[1])) return true;
        }
        for (BlockId side : conditional.sides) {
          if (side.valid() && reads_waiting(side)) return true;
        }
        return false;
      }
      case Item::Kind::Loop: {
        const LoopShape& inner = structure_.loops[item.index];
        for (NodeId enter : graph_[LoopId(item.index)].enters) {
          if (waits(graph_[enter].inputs[0])) return true;
        }
        for (const LoopShape::Variable& variable : inner.variables) {
          if (waits(graph_[variable.next].inputs[0])) return true;
        }
        return waits(inner.predicate) || reads_waiting(inner.condition) || reads_waiting(inner.body);
      }
    }
    return false;
  }

  bool reads_waiting(BlockId block) const {
    if (!block.valid()) return false;
    for (const Item& item : structure_[block].items) {
      if (reads_waiting(item)) return true;
    }
    return false;
  }

  void mark_results(const Item& item) {
    switch (item.kind) {
      case Item::Kind::Op:
        waiting_.insert(NodeId(item.index));
        break;
      case Item::Kind::Call:
        for (NodeId result : graph_[CallSite(item.index)].returns) waiting_.insert(result);
        break;
      case Item::Kind::Conditional:
        mark_conditional(structure_.conditionals[item.index]);
        break;
      case Item::Kind::Loop:
        for (const LoopShape::Variable& variable : structure_.loops[item.index].variables) {
          waiting_.insert(variable.merge);
        }
        break;
    }
  }

  /// Values that need no call on either side do not wait, whatever the conditional calls for others.
  void mark_conditional(const Conditional& conditional) {
    const bool decides_late = waits(conditional.predicate);
    for (BlockId side : conditional.sides) {
      if (!side.valid()) continue;
      for (const Item& item : structure_[side].items) {
        if (decides_late || item_waits(item)) mark_results(item);
      }
    }
    for (const Join& join : conditional.joins) {
      if (decides_late || waits(join.from[0]) || waits(join.from[1])) waiting_.insert(join.merge);
    }
  }

  /// What of a conditional that waits gives values that do not.
  std::optional<TaskItem> part_ahead(const Item& item) const {
    if (item.kind != Item::Kind::Conditional) return std::nullopt;
    const Conditional& conditional = structure_.conditionals[item.index];
    TaskItem part{.item = item, .is_split = true};
    for (const Join& join : conditional.joins) {
      if (!waiting_.contains(join.merge)) part.joins.push_back(join);
    }
    if (part.joins.empty()) return std::nullopt;
    for (int side = 0; side < 2; ++side) {
      if (!conditional.sides[side].valid()) continue;
      for (const Item& inner : structure_[conditional.sides[side]].items) {
        if (!item_waits(inner)) {
          part.sides[side].push_back({.item = inner});
        } else if (std::optional<TaskItem> inner_part = part_ahead(inner)) {
          part.sides[side].push_back(*std::move(inner_part));
        }
      }
    }
    return part;
  }

  /// One pass over the body. True: one more variable waits, so that another pass is needed.
  bool find_waiting_values() {
    for (const Item& item : structure_[loop_.body].items) {
      if (item_waits(item)) mark_results(item);
    }
    bool changed = false;
    for (std::size_t v = 0; v < loop_.variables.size(); ++v) {
      if (variable_waits_[v] || !waits(graph_[loop_.variables[v].next].inputs[0])) continue;
      variable_waits_[v] = true;
      waiting_.insert(loop_.variables[v].merge);
      changed = true;
    }
    return changed;
  }

  const Graph& graph_;
  const Structure& structure_;
  const LoopShape& loop_;
  std::unordered_set<NodeId> waiting_;
  std::vector<bool> variable_waits_;
};

}  // namespace

std::optional<Window> find_window(const Graph& graph, const Structure& structure, LoopId loop) {
  return WindowFinder(graph, structure, structure.loops[loop.index()]).run();
}

}  // namespace hiaton::exec::direct
