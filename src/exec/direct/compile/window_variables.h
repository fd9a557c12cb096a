// In which slots the variables of a loop are from one iteration of a window to the next; see window.h.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "exec/direct/compile/moves.h"
#include "exec/structure.h"

namespace hiaton::exec::direct {

/// The variables whose next value needs a call wait for the iteration before; the others have run ahead.
class WindowVariables {
 public:
  using SlotMap = std::unordered_map<graph::NodeId, uint32_t>;

  /// `waits`, by variable; `outside`: where the loop has them.
  WindowVariables(const LoopShape& loop, const std::vector<bool>& waits, const SlotMap& outside)
      : loop_(loop), waits_(waits), outside_(outside), slots_(outside) {}

  /// The rest of an iteration begins: `slots` are those of what has run ahead, and get the variables that
  /// wait.
  void begin(SlotMap& slots) {
    for_each([&](graph::NodeId merge, bool waits) {
      if (waits) slots[merge] = slots_.at(merge);
      slots_[merge] = slots.at(merge);
    });
  }
  /// It has ended.
  void end(const SlotMap& slots) {
    for_each([&](graph::NodeId merge, bool waits) {
      if (waits) slots_[merge] = slots.at(merge);
    });
  }
  /// So has the last one of the window, after which those that have run ahead are in `slots`.
  void end_last(const SlotMap& slots) {
    for_each([&](graph::NodeId merge, bool waits) {
      if (!waits) slots_[merge] = slots.at(merge);
    });
  }

  /// Where they are now.
  const SlotMap& slots() const { return slots_; }
  /// What brings them from there to where the loop has them.
  std::vector<Move> moves_from(const SlotMap& slots) const {
    std::vector<Move> moves;
    for_each([&](graph::NodeId merge, bool /*waits*/) {
      moves.push_back({outside_.at(merge), {false, Slot(), slots.at(merge)}});
    });
    return moves;
  }

 private:
  template <class Act>
  void for_each(const Act& act) const {
    for (std::size_t v = 0; v < loop_.variables.size(); ++v) act(loop_.variables[v].merge, waits_[v]);
  }

  const LoopShape& loop_;
  const std::vector<bool>& waits_;
  const SlotMap& outside_;
  SlotMap slots_;
};

}  // namespace hiaton::exec::direct
