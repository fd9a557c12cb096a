// The rule: a value goes with an item that reads it, if each other item that reads it has fired by then for
// certain, or never will: it stands on the other side of a branch. Items that pass it on take it with them;
// others let go of it if it is a tensor and they are of a later phase than the first.
#include <algorithm>
#include <map>

#include "exec/flow/compile/flow_passes.h"

namespace hiaton::exec::flow {
namespace {

using Items = std::vector<uint32_t>;

class BodyLastUses {
 public:
  explicit BodyLastUses(const Plan& plan, Function& function)
      : plan_(plan), function_(function), next_(function.items.size()), before_(function.items.size()) {
    for (uint32_t i = 0; i < function.items.size(); ++i) add_edges(i);
  }

  void run() {
    const Items later(function_.param_items.begin() + 1, function_.param_items.end());
    const std::vector<bool> backward = reach(later, next_);
    const std::vector<Items> readers = readers_of_slots();
    std::vector<bool> is_argument(readers.size());
    for (uint32_t slot : function_.params) is_argument[slot] = true;
    for (uint32_t slot = 0; slot < readers.size(); ++slot) {
      for (uint32_t item : readers[slot]) {
        if (!is_last(item, readers[slot])) continue;
        if (!is_argument[slot] && take(item, slot)) continue;
        const bool is_tensor = function_.slots[slot] == SlotKind::Tensor;
        if (backward[item] && is_tensor) function_.items[item].releases.push_back(slot);
      }
    }
  }

 private:
  /// Results of a later phase need not depend on its arguments, but there are none without the call.
  void add_edges(uint32_t index) {
    const Item& item = function_.items[index];
    for (uint32_t reader : item.wakes) add_edge(index, reader, item.kind != ItemKind::Join);
    if (item.kind == ItemKind::Branch) {
      for (const std::optional<uint32_t>& side : function_.branches[item.index].sides)
        if (side) add_edge(index, *side, true);
    }
    if (item.kind == ItemKind::Call) {
      const Call& call = function_.calls[item.index];
      const std::vector<SitePhase>& phases = function_.sites[call.site].phases;
      for (uint32_t phase = 0; phase < phases.size(); ++phase) {
        if (!phases[phase].returned) continue;
        if (phase == call.phase) next_[index].push_back(*phases[phase].returned);
        if (call.phase == 0) before_[*phases[phase].returned].push_back(index);
      }
    }
  }

  /// `certain`: `to` does not fire without `from`; of two Joins one is enough.
  void add_edge(uint32_t from, uint32_t to, bool certain) {
    next_[from].push_back(to);
    if (certain) before_[to].push_back(from);
  }

  static std::vector<bool> reach(Items open, const std::vector<Items>& edges) {
    std::vector<bool> reached(edges.size());
    while (!open.empty()) {
      const uint32_t item = open.back();
      open.pop_back();
      if (reached[item]) continue;
      reached[item] = true;
      open.insert(open.end(), edges[item].begin(), edges[item].end());
    }
    return reached;
  }

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

  /// By slot; of tensors and data values.
  std::vector<Items> readers_of_slots() {
    std::vector<Items> readers(function_.slots.size());
    const auto add = [&](uint32_t slot, uint32_t item) {
      if (function_.slots[slot] == SlotKind::Scalar) return;
      if (readers[slot].empty() || readers[slot].back() != item) readers[slot].push_back(item);
    };
    for (uint32_t i = 0; i < function_.items.size(); ++i) {
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
    if (found.empty()) found = reach(before_[item], before_);
    return found;
  }

  const Plan& plan_;
  Function& function_;
  std::vector<Items> next_;    ///< by item: those that may fire when it has
  std::vector<Items> before_;  ///< by item: those that have fired when it does
  std::map<uint32_t, std::vector<bool>> all_before_;
};

}  // namespace

void find_last_uses(Plan& plan) {
  for (Function& function : plan.functions) {
    if (!function.items.empty()) BodyLastUses(plan, function).run();
  }
}

}  // namespace hiaton::exec::flow
