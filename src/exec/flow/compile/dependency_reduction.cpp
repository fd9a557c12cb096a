// The rule: item c need not wait for a where it waits for b, and b for a. The results of a call, of any
// phase, come after its first phase, and so after what that waits for. Ends of branches are no such b: of two
// one is enough.
#include <algorithm>

#include "exec/flow/compile/flow_passes.h"

namespace hiaton::exec::flow {
namespace {

using Items = std::vector<uint32_t>;

/// By item: those that it waits for, without ends of branches; of results the call and what that waits for.
std::vector<Items> earlier_items(const Function& function) {
  std::vector<Items> earlier(function.items.size());
  for (uint32_t item = 0; item < function.items.size(); ++item) {
    if (function.items[item].kind == ItemKind::Join) continue;
    for (uint32_t reader : function.items[item].wakes) earlier[reader].push_back(item);
  }
  for (uint32_t item = 0; item < function.items.size(); ++item) {
    if (function.items[item].kind != ItemKind::Call) continue;
    const Call& call = function.calls[function.items[item].index];
    if (call.phase > 0) continue;
    for (const SitePhase& phase : function.sites[call.site].phases) {
      if (!phase.returned) continue;
      Items& results = earlier[*phase.returned];
      results.push_back(item);
      results.insert(results.end(), earlier[item].begin(), earlier[item].end());
    }
  }
  return earlier;
}

void reduce_dependencies(Function& function) {
  const std::vector<Items> earlier = earlier_items(function);
  std::vector<bool> implied(function.items.size());
  for (uint32_t item = 0; item < function.items.size(); ++item) {
    if (function.items[item].waits < 2) continue;
    for (uint32_t waited : earlier[item]) {
      for (uint32_t first : earlier[waited]) implied[first] = true;
    }
    for (uint32_t waited : earlier[item]) {
      if (!implied[waited]) continue;
      --function.items[item].waits;
      std::erase(function.items[waited].wakes, item);
    }
    for (uint32_t waited : earlier[item]) {
      for (uint32_t first : earlier[waited]) implied[first] = false;
    }
  }
}

}  // namespace

void reduce_dependencies(Plan& plan) {
  for (Function& function : plan.functions) reduce_dependencies(function);
}

void number_counters(Plan& plan) {
  for (Function& function : plan.functions) {
    uint16_t next = 0;
    for (Item& item : function.items) {
      if (item.waits < 2) continue;
      if (item.waits > UINT16_MAX || next == kNoCounter) throw Unsupported{"a function is too large"};
      item.counter = next++;
    }
  }
}

}  // namespace hiaton::exec::flow
