// The rule: where a function returns nothing but results of one branch, and waits for nothing else, each side
// returns its own: one of its ends becomes the return, which waits for all that they wait for. The other ends
// and the return behind the branch never fire.
#include <algorithm>
#include <map>
#include <optional>

#include "exec/flow/compile/flow_passes.h"
#include "exec/flow/compile/scopes.h"

namespace hiaton::exec::flow {
namespace {

using Items = std::vector<uint32_t>;

bool wakes(const Item& item, uint32_t reader) {
  return std::find(item.wakes.begin(), item.wakes.end(), reader) != item.wakes.end();
}

/// The ends of one branch that this return waits for, by side, if all else that it waits for are the
/// arguments.
std::map<ScopeId, Items> ends_before(const Function& function, uint32_t item) {
  std::map<ScopeId, Items> ends;
  uint32_t arguments = 0;
  for (uint32_t i = 0; i < function.items.size(); ++i) {
    const Item& waited = function.items[i];
    if (!wakes(waited, item)) continue;
    if (i == function.param_items[0]) {
      ++arguments;
    } else if (waited.kind == ItemKind::Join && waited.wakes.size() == 1 &&
               function.joins[waited.index].outer == kRoot) {
      ends[function.joins[waited.index].side].push_back(i);
    } else {
      return {};
    }
  }
  // Where there are two ends, one of each side, one is waited for.
  const std::size_t pairs = function.items[item].waits - arguments;
  const bool one_branch =
      ends.size() == 2 && ends.begin()->second.size() == pairs && ends.rbegin()->second.size() == pairs;
  return one_branch ? ends : std::map<ScopeId, Items>();
}

/// What these ends of a branch would put into these slots; none unless they fill them all.
std::optional<std::vector<Source>> sources_of(const Function& function, const Items& ends,
                                              const std::vector<Source>& slots) {
  std::map<uint32_t, Source> by_slot;
  for (uint32_t end : ends) {
    for (const Move& move : function.joins[function.items[end].index].moves) by_slot[move.to] = move.from;
  }
  std::vector<Source> sources;
  for (const Source& slot : slots) {
    const auto found = by_slot.find(slot.index);
    if (slot.from != Source::From::Slot || found == by_slot.end()) return std::nullopt;
    sources.push_back(found->second);
  }
  return sources;
}

/// The first of them becomes the return.
void join_ends(Function& function, ScopeId side, const Items& ends, Return result) {
  const uint32_t first = ends[0];
  for (std::size_t i = 1; i < ends.size(); ++i) {
    for (Item& waited : function.items) {
      if (std::erase(waited.wakes, ends[i]) == 0 || wakes(waited, first)) continue;
      waited.wakes.push_back(first);
      if (waited.kind != ItemKind::Join || waited.index % 2 == 0) ++function.items[first].waits;
    }
    --function.sides[side - 1].items;
  }
  Item& end = function.items[first];
  end.kind = ItemKind::Return;
  end.index = static_cast<uint32_t>(function.returns.size());
  end.wakes.clear();
  function.returns.push_back(std::move(result));
}

void shorten(Function& function, uint32_t item) {
  const std::size_t behind = function.items[item].index;
  std::map<ScopeId, Return> returns;
  const std::map<ScopeId, Items> ends = ends_before(function, item);
  for (const auto& [side, items] : ends) {
    std::optional<std::vector<Source>> sources =
        sources_of(function, items, function.returns[behind].results);
    if (!sources) return;
    returns[side] = {.phase = function.returns[behind].phase, .scope = side, .results = std::move(*sources)};
  }
  if (ends.empty()) return;
  for (const auto& [side, items] : ends) join_ends(function, side, items, std::move(returns[side]));
  std::erase(function.items[function.param_items[0]].wakes, item);
  function.returns[behind].results.clear();
  --function.root_items;
}

}  // namespace

void sink_returns(Plan& plan) {
  for (Function& function : plan.functions) {
    Items returns;
    for (uint32_t i = 0; i < function.items.size(); ++i) {
      if (function.items[i].kind == ItemKind::Return) returns.push_back(i);
    }
    for (uint32_t item : returns) shorten(function, item);
  }
}

}  // namespace hiaton::exec::flow
