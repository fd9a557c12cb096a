#include "exec/flow/compile/item_graph.h"

#include <algorithm>

namespace hiaton::exec::flow {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

}  // namespace

ItemGraph::ItemGraph(const Function& function)
    : function_(function),
      next_(function.items.size()),
      before_(function.items.size()),
      branches_before_(function.items.size()),
      side_items_(function.sides.size()),
      ends_(function.joins.size(), kNone) {
  for (uint32_t i = 0; i < function.items.size(); ++i) add_edges(i);
  for (uint32_t join = 0; join < function.joins.size(); join += 2) {
    if (ends_[join] == kNone || ends_[join + 1] == kNone) continue;
    const Items& both = function.items[ends_[join + 1]].wakes;
    for (uint32_t reader : function.items[ends_[join]].wakes) {
      if (std::ranges::find(both, reader) != both.end()) branches_before_[reader].push_back(join);
    }
  }
}

/// Results of a later phase need not depend on its arguments, but there are none without the call. Whoever
/// has called may wait for the results of a phase before the arguments of the next one go out.
void ItemGraph::add_edges(uint32_t index) {
  const Item& item = function_.items[index];
  for (uint32_t reader : item.wakes) add_edge(index, reader, item.kind != ItemKind::Join);
  if (item.kind == ItemKind::Side) side_items_[item.index] = index;
  if (item.kind == ItemKind::Join) ends_[item.index] = index;
  if (item.kind == ItemKind::Branch) {
    for (const std::optional<uint32_t>& side : function_.branches[item.index].sides)
      if (side) add_edge(index, *side, true);
  }
  if (item.kind == ItemKind::Return) {
    for (std::size_t phase = function_.returns[item.index].phase + 1; phase < function_.param_items.size();
         ++phase)
      next_[index].push_back(function_.param_items[phase]);
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
void ItemGraph::add_edge(uint32_t from, uint32_t to, bool certain) {
  next_[from].push_back(to);
  if (certain) before_[to].push_back(from);
}

std::vector<bool> ItemGraph::reach(Items open, const std::vector<Items>& edges) {
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

/// Each item behind those after which it may fire.
ItemGraph::Items ItemGraph::in_order() const {
  std::vector<uint32_t> waits(next_.size());
  for (const Items& readers : next_) {
    for (uint32_t reader : readers) ++waits[reader];
  }
  Items order;
  for (uint32_t i = 0; i < waits.size(); ++i) {
    if (waits[i] == 0) order.push_back(i);
  }
  for (std::size_t done = 0; done < order.size(); ++done) {
    for (uint32_t reader : next_[order[done]]) {
      if (--waits[reader] == 0) order.push_back(reader);
    }
  }
  return order;
}

std::vector<bool> ItemGraph::is_over_at(uint32_t other) const {
  const std::vector<bool> before_other = reach({other}, before_);
  std::vector<bool> over(next_.size());
  // Behind an end of a branch: the end is the other item, that is over there, or it stands on the other side.
  const auto is_over_behind = [&](std::size_t join) {
    const ScopeId other_side = function_.joins[join ^ 1].side;
    return over[ends_[join]] || ends_[join] == other || before_other[side_items_[other_side - 1]];
  };
  for (const uint32_t item : in_order()) {
    const auto is_over = [&](uint32_t earlier) { return earlier == other || over[earlier]; };
    over[item] = std::ranges::any_of(before_[item], is_over) ||
                 std::ranges::any_of(branches_before_[item], [&](uint32_t join) {
                   return is_over_behind(join) && is_over_behind(join + 1);
                 });
  }
  return over;
}

}  // namespace hiaton::exec::flow
