// The rule: a call is a tail call if its results go, all and in their order, through nothing but ends of
// branches in which it stands to the results of the function, and nothing else reads them. Then the items on
// that way need not fire, and the frame can go once the call has its arguments. Not where the caller or what
// it calls has phases: a gradient comes back through its frame; nor in main, whose frame stands for the run.
#include <algorithm>
#include <optional>

#include "exec/flow/compile/passes.h"
#include "exec/flow/compile/places.h"

namespace hiaton::exec::flow {
namespace {

/// Slots that hold results, in their order.
using Slots = std::vector<uint32_t>;

std::optional<Slots> slots_of(const SitePhase& results) {
  Slots slots;
  for (const std::optional<uint32_t>& slot : results.slots) {
    if (!slot) return std::nullopt;
    slots.push_back(*slot);
  }
  return slots;
}

/// Where the end of a branch puts what stands in these slots; none unless it takes just these.
std::optional<Slots> moved(const Join& join, const Slots& slots) {
  if (join.moves.size() != slots.size()) return std::nullopt;
  Slots to;
  for (uint32_t slot : slots) {
    const auto move = std::find_if(join.moves.begin(), join.moves.end(), [&](const Move& each) {
      return each.from.from == Source::From::Slot && each.from.index == slot;
    });
    if (move == join.moves.end()) return std::nullopt;
    to.push_back(move->to);
  }
  return to;
}

bool gives(const Return& result, const Slots& slots) {
  return std::equal(result.results.begin(), result.results.end(), slots.begin(), slots.end(),
                    [](const Source& source, uint32_t slot) {
                      return source.from == Source::From::Slot && source.index == slot;
                    });
}

/// How many items stand between the call and the caller of its function; 0 if it is no tail call.
uint32_t items_behind(const Function& function, const Call& call) {
  const SitePhase& results = function.sites[call.site].phases[0];
  std::optional<Slots> slots = slots_of(results);
  if (!results.returned || !slots) return 0;
  uint32_t item = *results.returned;
  uint32_t place = call.place;
  for (uint32_t count = 1; function.items[item].wakes.size() == 1; ++count) {
    item = function.items[item].wakes[0];
    const Item& next = function.items[item];
    if (next.kind == ItemKind::Return) {
      const Return& result = function.returns[next.index];
      return place == result.place && gives(result, *slots) ? count : 0;
    }
    if (next.kind != ItemKind::Join) return 0;
    const Join& join = function.joins[next.index];
    slots = moved(join, *slots);
    if (!slots || join.side != place) return 0;
    place = join.outer;
  }
  return 0;
}

}  // namespace

void find_tail_calls(const graph::Graph& graph, Plan& plan) {
  const auto has_one_phase = [](const Function& function) { return function.param_items.size() == 1; };
  for (Function& function : plan.functions) {
    if (function.id == graph.main() || !has_one_phase(function)) continue;
    for (Call& call : function.calls) {
      if (!call.is_direct && has_one_phase(plan.functions[call.callee]))
        call.forwarded = items_behind(function, call);
    }
  }
}

}  // namespace hiaton::exec::flow
