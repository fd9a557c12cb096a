// The rule: a region that changes a tensor waits for each other region that reads it and fires wherever the
// first one does, unless that one comes after it, or waits for a call that the first one does not wait for
// and that could run beside calls behind the first one.
#include <algorithm>
#include <vector>

#include "exec/flow/compile/flow_passes.h"
#include "exec/flow/compile/item_graph.h"

namespace hiaton::exec::flow {
namespace {

class UpdateOrder {
 public:
  UpdateOrder(const graph::Graph& graph, Plan& plan, Function& function)
      : graph_(graph), plan_(plan), function_(function) {}

  void run() {
    for (uint32_t item = 0; item < function_.items.size(); ++item) {
      if (function_.items[item].kind != ItemKind::Region) continue;
      Region& region = plan_.regions[function_.items[item].index];
      for (const uint32_t slot : region.inputs) {
        if (updating_step(graph_, region, slot) != nullptr) wait_for_readers(item, slot);
      }
    }
  }

 private:
  void wait_for_readers(uint32_t update, uint32_t slot) {
    for (uint32_t reader = 0; reader < function_.items.size(); ++reader) {
      const Item& item = function_.items[reader];
      if (reader == update || item.kind != ItemKind::Region) continue;
      const std::vector<uint32_t>& inputs = plan_.regions[item.index].inputs;
      if (std::ranges::find(inputs, slot) == inputs.end() || !may_wait(update, reader)) continue;
      function_.items[reader].wakes.push_back(update);
      ++function_.items[update].waits;
    }
  }

  bool may_wait(uint32_t update, uint32_t reader) const {
    const ItemGraph items(function_);
    const std::vector<bool> behind = ItemGraph::reach({update}, items.next());
    const std::vector<bool> before = ItemGraph::reach({update}, items.before());
    const std::vector<bool> before_reader = ItemGraph::reach({reader}, items.before());
    if (behind[reader] || before[reader]) return false;
    const bool leads_to_calls = has(behind, [&](uint32_t item) { return is(item, ItemKind::Call); });
    return !has(before_reader, [&](uint32_t item) {
      if (before[item]) return false;
      return is(item, ItemKind::Side) || (leads_to_calls && is(item, ItemKind::Call));
    });
  }

  bool is(uint32_t item, ItemKind kind) const { return function_.items[item].kind == kind; }

  template <class Fits>
  static bool has(const std::vector<bool>& items, const Fits& fits) {
    for (uint32_t item = 0; item < items.size(); ++item) {
      if (items[item] && fits(item)) return true;
    }
    return false;
  }

  const graph::Graph& graph_;
  Plan& plan_;
  Function& function_;
};

}  // namespace

void order_updates(const graph::Graph& graph, Plan& plan) {
  for (Function& function : plan.functions) UpdateOrder(graph, plan, function).run();
}

}  // namespace hiaton::exec::flow
