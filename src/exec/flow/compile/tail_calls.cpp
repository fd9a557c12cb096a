// Where a call is a tail call by the structure of the graph, the items that hand on its results need not
// fire, and the frame can go once the call has its arguments. Not where the caller or what it calls has
// phases: a gradient comes back through its frame; nor in main, whose frame stands for the run.
#include "exec/flow/compile/flow_passes.h"
#include "exec/structure.h"

namespace hiaton::exec::flow {
namespace {

/// How many items stand between the call and the caller of its function: ends of branches, and the return. 0
/// where one of them wakes something else too.
uint32_t items_behind(const Function& function, const Call& call) {
  const std::optional<uint32_t> returned = function.sites[call.site].phases[0].returned;
  if (!returned) return 0;
  uint32_t count = 0;
  for (uint32_t item = *returned; function.items[item].kind != ItemKind::Return; ++count) {
    if (function.items[item].wakes.size() != 1) return 0;
    item = function.items[item].wakes[0];
  }
  return count;
}

}  // namespace

void find_tail_calls(const graph::Graph& graph, const Structure& structure, Plan& plan) {
  const std::vector<bool> tail_calls = exec::find_tail_calls(graph, structure);
  const auto has_one_phase = [](const Function& function) { return function.param_items.size() == 1; };
  for (Function& function : plan.functions) {
    if (function.id == graph.main() || !has_one_phase(function)) continue;
    for (Call& call : function.calls) {
      const bool is_tail_call = tail_calls[function.sites[call.site].site.index()];
      if (is_tail_call && !call.is_direct && !call.is_sent && has_one_phase(plan.functions[call.callee]))
        call.forwarded = items_behind(function, call);
    }
  }
}

}  // namespace hiaton::exec::flow
