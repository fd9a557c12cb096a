// Which items of a function fire after which.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/flow/flow_plan.h"

namespace hiaton::exec::flow {

class ItemGraph {
 public:
  using Items = std::vector<uint32_t>;

  explicit ItemGraph(const Function& function);

  /// By item: those that may fire when it has.
  const std::vector<Items>& next() const { return next_; }
  /// By item: those that have fired when it does. Of the two ends of a branch, one is enough for what waits
  /// for them, so none of them is among these.
  const std::vector<Items>& before() const { return before_; }
  /// Says by item whether it is one of `open`, or is reached from them.
  static std::vector<bool> reach(Items open, const std::vector<Items>& edges);
  /// Says by item whether `other` has fired when the item does, or never will because the branch in which it
  /// stands has taken its other side.
  std::vector<bool> is_over_at(uint32_t other) const;

 private:
  void add_edges(uint32_t item);
  void add_edge(uint32_t from, uint32_t to, bool certain);
  Items in_order() const;

  const Function& function_;
  std::vector<Items> next_;
  std::vector<Items> before_;
  std::vector<Items> branches_before_;  ///< by item: the first Joins of pairs of which it waits for one
  std::vector<uint32_t> side_items_;    ///< by the number of a Side
  std::vector<uint32_t> ends_;          ///< items, by the number of a Join; none: it has become a Return
};

}  // namespace hiaton::exec::flow
