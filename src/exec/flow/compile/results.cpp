// What the program gives as its results.
#include <set>

#include "exec/flow/compile/flow_passes.h"

namespace hiaton::exec::flow {

void mark_results(const graph::Graph& graph, Plan& plan) {
  const Function& program = plan.functions[graph.main().index()];
  std::set<uint32_t> slots;
  for (const Return& result : program.returns) {
    for (const Source& source : result.results) {
      if (source.from == Source::From::Slot) slots.insert(source.index);
    }
  }
  for (Region& region : plan.regions) {
    if (region.function != graph.main().index() || !region.batched) continue;
    for (Step& step : region.steps) step.is_result = step.slot && slots.contains(*step.slot);
  }
}

}  // namespace hiaton::exec::flow
