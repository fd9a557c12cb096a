// The rule: a value goes with an item that reads it, if each other item that reads it has fired by then for
// certain, or never will: it stands on the other side of a branch. Items that pass it on take it with them,
// and so do steps that make a data value of it; others let go of it if it is a tensor and they are of a later
// phase than the first. A region that changes a tensor takes it as well, in any phase.
#include <algorithm>
#include <map>

#include "exec/flow/compile/flow_passes.h"
#include "exec/flow/compile/item_graph.h"

namespace hiaton::exec::flow {
namespace {

using Items = ItemGraph::Items;

class BodyLastUses {
 public:
  BodyLastUses(const graph::Graph& graph, Plan& plan, Function& function)
      : graph_(graph), plan_(plan), function_(function), items_(function) {}

  void run() {
    const Items later(function_.param_items.begin() + 1, function_.param_items.end());
    const std::vector<bool> backward = ItemGraph::reach(later, items_.next());
    const std::vector<Items> readers = readers_of_slots();
    std::vector<bool> is_argument(readers.size());
    for (uint32_t slot : function_.params) is_argument[slot] = true;
    for (uint32_t slot = 0; slot < readers.size(); ++slot) {
      for (uint32_t item : readers[slot]) {
        if (!take_to_update(item, slot, readers[slot]) && !is_last(item, readers[slot])) continue;
        if (!is_argument[slot] && (take(item, slot) || take_to_make(item, slot))) continue;
        const bool is_tensor = function_.slots[slot] == SlotKind::Tensor;
        if (backward[item] && is_tensor) function_.items[item].releases.push_back(slot);
      }
    }
  }

 private:
  /// What the item passes on; of a region nothing.
  std::vector<Source*> passed_on(const Item& item) {
    std::vector<Source*> sources;
    if (item.kind == ItemKind::Call) {
      for (Move& move : function_.calls[item.index].arguments) sources.push_back(&move.from);
    } else if (item.kind == ItemKind::Join) {
      for (Move& move : function_.joins[item.index].moves) sources.push_back(&move.from);
    } else if (item.kind == ItemKind::Return) {
      for (Source& source : function_.returns[item.index].results) sources.push_back(&source);
    }
    return sources;
  }

  /// Whether the item passes the slot on: the last time that it does, it takes it.
  bool take(uint32_t item, uint32_t slot) {
    const std::vector<Source*> sources = passed_on(function_.items[item]);
    const auto is_it = [&](const Source* source) {
      return source->from == Source::From::Slot && source->index == slot;
    };
    const auto last = std::find_if(sources.rbegin(), sources.rend(), is_it);
    if (last == sources.rend()) return false;
    (*last)->last = true;
    return true;
  }

  /// Whether the last step of the region that reads the slot makes a data value, of which what the slot holds
  /// becomes a field.
  bool take_to_make(uint32_t item, uint32_t slot) {
    if (function_.items[item].kind != ItemKind::Region || function_.slots[slot] != SlotKind::Data)
      return false;
    std::vector<Step>& steps = plan_.regions[function_.items[item].index].steps;
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      const auto last = std::find_if(
          step->operands.rbegin(), step->operands.rend(),
          [&](const Source& operand) { return operand.from == Source::From::Slot && operand.index == slot; });
      if (last == step->operands.rend()) continue;
      last->last = step->code == Step::Code::Make;
      return last->last;
    }
    return false;
  }

  /// Whether the item is a region with a step that may change what the slot holds, since nobody reads it any
  /// more: that step takes it where nobody else holds it. An argument too, which a message cannot show then.
  bool take_to_update(uint32_t item, uint32_t slot, const Items& readers) {
    if (function_.items[item].kind != ItemKind::Region || function_.slots[slot] != SlotKind::Tensor)
      return false;
    Step* const step = updating_step(graph_, plan_.regions[function_.items[item].index], slot);
    if (step == nullptr) return false;
    const std::vector<bool>& before = all_before(item);
    step->takes = std::ranges::all_of(readers, [&](uint32_t reader) {
      return reader == item || is_over_at(reader)[item] || exclude_each_other(before, all_before(reader));
    });
    return step->takes;
  }

  const std::vector<bool>& is_over_at(uint32_t other) {
    std::vector<bool>& found = over_at_[other];
    if (found.empty()) found = items_.is_over_at(other);
    return found;
  }

  /// By slot; of tensors and data values. Only items that can fire: return sinking leaves others behind.
  std::vector<Items> readers_of_slots() {
    const std::vector<bool> can_fire = items_that_can_fire(function_);
    std::vector<Items> readers(function_.slots.size());
    const auto add = [&](uint32_t slot, uint32_t item) {
      if (function_.slots[slot] == SlotKind::Scalar) return;
      if (readers[slot].empty() || readers[slot].back() != item) readers[slot].push_back(item);
    };
    for (uint32_t i = 0; i < function_.items.size(); ++i) {
      if (!can_fire[i]) continue;
      const Item& item = function_.items[i];
      if (item.kind == ItemKind::Region) {
        for (uint32_t slot : plan_.regions[item.index].inputs) add(slot, i);
      }
      for (const Source* source : passed_on(item)) {
        if (source->from == Source::From::Slot) add(source->index, i);
      }
    }
    return readers;
  }

  bool is_last(uint32_t item, const Items& readers) {
    if (readers.size() == 1) return true;
    const std::vector<bool>& before = all_before(item);
    return std::all_of(readers.begin(), readers.end(), [&](uint32_t reader) {
      return reader == item || before[reader] || exclude_each_other(before, all_before(reader));
    });
  }

  /// Whether two items, of which these have fired before, stand on different sides of a branch.
  bool exclude_each_other(const std::vector<bool>& before_a, const std::vector<bool>& before_b) const {
    return std::any_of(function_.branches.begin(), function_.branches.end(), [&](const Branch& branch) {
      if (!branch.sides[0] || !branch.sides[1]) return false;
      const uint32_t yes = *branch.sides[0];
      const uint32_t no = *branch.sides[1];
      return (before_a[yes] && before_b[no]) || (before_a[no] && before_b[yes]);
    });
  }

  const std::vector<bool>& all_before(uint32_t item) {
    std::vector<bool>& found = all_before_[item];
    if (found.empty()) found = ItemGraph::reach(items_.before()[item], items_.before());
    return found;
  }

  const graph::Graph& graph_;
  Plan& plan_;
  Function& function_;
  const ItemGraph items_;
  std::map<uint32_t, std::vector<bool>> all_before_;
  std::map<uint32_t, std::vector<bool>> over_at_;  ///< by item: ItemGraph::is_over_at()
};

}  // namespace

Step* updating_step(const graph::Graph& graph, Region& region, uint32_t slot) {
  const auto reads = [&](const Source& operand) {
    return operand.from == Source::From::Slot && operand.index == slot;
  };
  Step* found = nullptr;
  for (Step& step : region.steps) {
    const auto count = std::ranges::count_if(step.operands, reads);
    if (count == 0) continue;
    // A view of it stands where it does.
    if (found != nullptr || step.code == Step::Code::View) return nullptr;
    const graph::Node& node = graph[step.node];
    const bool updates = step.code == Step::Code::Tensor && node.kind == graph::NodeKind::Op &&
                         node.op->in_place == InPlace::Elements && reads(step.operands[0]) && count == 1 &&
                         step.slot && step.kind == SlotKind::Tensor && !step.shared;
    if (updates) found = &step;
  }
  return found;
}

void find_last_uses(const graph::Graph& graph, Plan& plan) {
  for (Function& function : plan.functions) {
    if (!function.items.empty()) BodyLastUses(graph, plan, function).run();
  }
}

}  // namespace hiaton::exec::flow
