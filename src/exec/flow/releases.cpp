// The rule: a tensor goes with an item that reads it, if that item is of a later phase than the first, and
// each other item that reads it has fired by then for certain, or never will: it stands on the other side of
// a branch.
#include "exec/flow/releases.h"

#include <algorithm>
#include <map>

namespace hiaton::exec::flow {
namespace {

using Items = std::vector<uint32_t>;

class BodyReleases {
 public:
  explicit BodyReleases(const Plan& plan, Function& function)
      : plan_(plan), function_(function), next_(function.items.size()), before_(function.items.size()) {
    for (uint32_t i = 0; i < function.items.size(); ++i) add_edges(i);
  }

  void run() {
    if (function_.param_items.size() < 2) return;
    const Items later(function_.param_items.begin() + 1, function_.param_items.end());
    const std::vector<bool> backward = reach(later, next_);
    const std::vector<Items> readers = readers_of_slots();
    for (uint32_t slot = 0; slot < readers.size(); ++slot) {
      for (uint32_t item : readers[slot]) {
        if (backward[item] && is_last(item, readers[slot])) function_.items[item].releases.push_back(slot);
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

  /// By slot; of tensors alone.
  std::vector<Items> readers_of_slots() const {
    std::vector<Items> readers(function_.slots.size());
    const auto add = [&](uint32_t slot, uint32_t item) {
      if (function_.slots[slot] != SlotKind::Tensor) return;
      if (readers[slot].empty() || readers[slot].back() != item) readers[slot].push_back(item);
    };
    const auto add_source = [&](const Source& source, uint32_t item) {
      if (source.from == Source::From::Slot) add(source.index, item);
    };
    for (uint32_t i = 0; i < function_.items.size(); ++i) {
      const Item& item = function_.items[i];
      switch (item.kind) {
        case ItemKind::Region:
          for (uint32_t slot : plan_.regions[item.index].inputs) add(slot, i);
          break;
        case ItemKind::Call:
          for (const Move& move : function_.calls[item.index].arguments) add_source(move.from, i);
          break;
        case ItemKind::Join:
          for (const Move& move : function_.joins[item.index].moves) add_source(move.from, i);
          break;
        case ItemKind::Return:
          for (const Source& source : function_.returns[item.index].results) add_source(source, i);
          break;
        case ItemKind::Branch:  // reads a truth value
        case ItemKind::Params:
        case ItemKind::Side:
        case ItemKind::Returned:
          break;
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

void find_releases(Plan& plan) {
  for (Function& function : plan.functions) BodyReleases(plan, function).run();
}

}  // namespace hiaton::exec::flow
