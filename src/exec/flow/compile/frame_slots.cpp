// The rule: of the two sides of a branch a frame takes one, so their slots stand at the same positions,
// behind those of the scope around the branch; branches of one scope follow each other. Slots of
// items that never fire have no position.
#include <algorithm>
#include <map>

#include "exec/flow/compile/flow_passes.h"

namespace hiaton::exec::flow {
namespace {

class SlotPlacer {
 public:
  SlotPlacer(const Plan& plan, Function& function)
      : plan_(plan), function_(function), used_(function.slots.size()) {}

  void run() {
    find_used();
    function_.positions.assign(function_.slots.size(), kNoPosition);
    function_.position_counts = place_all(kRoot, {});
  }

 private:
  /// By kind.
  using Counts = std::array<uint32_t, kSlotKinds>;

  void find_used() {
    for (uint32_t slot : function_.params) used_[slot] = true;
    for (const Site& site : function_.sites) {
      for (const SitePhase& phase : site.phases) {
        for (const std::optional<uint32_t>& slot : phase.slots) {
          if (slot) used_[*slot] = true;
        }
      }
    }
    const std::vector<bool> live = items_that_can_fire(function_);
    for (uint32_t i = 0; i < function_.items.size(); ++i) {
      if (live[i]) use(function_.items[i]);
    }
  }

  void use(const Item& item) {
    switch (item.kind) {
      case ItemKind::Params:
      case ItemKind::Side:
      case ItemKind::Returned:
        break;
      case ItemKind::Region:
        for (uint32_t slot : plan_.regions[item.index].inputs) used_[slot] = true;
        for (const Step& step : plan_.regions[item.index].steps) {
          if (step.slot) used_[*step.slot] = true;
        }
        break;
      case ItemKind::Branch:
        use(function_.branches[item.index].predicate);
        break;
      case ItemKind::Call:
        for (const Move& move : function_.calls[item.index].arguments) use(move.from);
        break;
      case ItemKind::Join:
        for (const Move& move : function_.joins[item.index].moves) {
          use(move.from);
          used_[move.to] = true;
        }
        break;
      case ItemKind::Return:
        for (const Source& source : function_.returns[item.index].results) use(source);
    }
  }

  void use(const Source& source) {
    if (source.from == Source::From::Slot) used_[source.index] = true;
  }

  /// Places the slots of the scope and all in it from these positions on, and gives the first ones behind.
  Counts place_all(ScopeId scope, Counts next) {
    for (std::size_t slot = 0; slot < used_.size(); ++slot) {
      if (!used_[slot] || function_.slot_scopes[slot] != scope) continue;
      function_.positions[slot] = next[static_cast<std::size_t>(function_.slots[slot])]++;
    }
    std::map<graph::OutPort, std::vector<ScopeId>> branches;
    for (ScopeId inner = 1; inner < function_.scopes.size(); ++inner) {
      if (function_.scopes[inner].parent == scope)
        branches[function_.scopes[inner].predicate].push_back(inner);
    }
    for (const auto& [predicate, sides] : branches) {
      const Counts begin = next;
      for (ScopeId side : sides) {
        const Counts end = place_all(side, begin);
        for (std::size_t kind = 0; kind < kSlotKinds; ++kind) next[kind] = std::max(next[kind], end[kind]);
      }
    }
    return next;
  }

  const Plan& plan_;
  Function& function_;
  std::vector<bool> used_;  ///< by slot
};

}  // namespace

std::vector<bool> items_that_can_fire(const Function& function) {
  std::vector<bool> live(function.items.size());
  std::vector<uint32_t> open;
  for (uint32_t i = 0; i < function.items.size(); ++i) {
    const ItemKind kind = function.items[i].kind;
    if (kind == ItemKind::Params || kind == ItemKind::Side || kind == ItemKind::Returned) open.push_back(i);
  }
  while (!open.empty()) {
    const uint32_t item = open.back();
    open.pop_back();
    if (live[item]) continue;
    live[item] = true;
    open.insert(open.end(), function.items[item].wakes.begin(), function.items[item].wakes.end());
  }
  return live;
}

void place_slots(Plan& plan) {
  for (Function& function : plan.functions) SlotPlacer(plan, function).run();
}

}  // namespace hiaton::exec::flow
