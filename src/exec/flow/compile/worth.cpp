#include <algorithm>

#include "exec/flow/compile/flow_passes.h"

namespace hiaton::exec::flow {
namespace {

/// By function: those that a call of it may come to, itself where it is recursive.
std::vector<std::vector<bool>> reached_by_calls(const Plan& plan) {
  const std::size_t count = plan.functions.size();
  std::vector<std::vector<bool>> reached(count, std::vector<bool>(count));
  for (std::size_t from = 0; from < count; ++from) {
    std::vector<std::size_t> open{from};
    while (!open.empty()) {
      const Function& function = plan.functions[open.back()];
      open.pop_back();
      for (const Call& call : function.calls) {
        if (reached[from][call.callee]) continue;
        reached[from][call.callee] = true;
        open.push_back(call.callee);
      }
    }
  }
  return reached;
}

}  // namespace

void weigh_calls(Plan& plan) {
  const std::vector<std::vector<bool>> reached = reached_by_calls(plan);
  std::vector<bool> has_batches(plan.functions.size());
  for (const Region& region : plan.regions) {
    if (region.batched) has_batches[region.function] = true;
  }
  const auto worth_of = [&](uint32_t callee) {
    bool has_work = has_batches[callee];
    if (reached[callee][callee]) return Worth::Growth;
    for (std::size_t other = 0; other < plan.functions.size(); ++other) {
      if (!reached[callee][other]) continue;
      if (reached[other][other]) return Worth::Growth;
      has_work = has_work || has_batches[other];
    }
    return has_work ? Worth::Work : Worth::Nothing;
  };
  for (Function& function : plan.functions) {
    for (Call& call : function.calls) {
      if (call.phase == 0 && call.forwarded == 0 && !call.is_direct) call.worth = worth_of(call.callee);
    }
  }
}

}  // namespace hiaton::exec::flow
