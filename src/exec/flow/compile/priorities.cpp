#include <algorithm>

#include "base/components.h"
#include "exec/flow/compile/flow_passes.h"

namespace hiaton::exec::flow {
namespace {

/// The items of all functions and who may make whom fire, also across calls.
struct Dependencies {
  std::vector<std::size_t> first_item;  ///< by function
  std::vector<std::vector<std::size_t>> readers;
};

Dependencies dependencies_of(const Plan& plan) {
  Dependencies all;
  std::size_t count = 0;
  for (const Function& function : plan.functions) {
    all.first_item.push_back(count);
    count += function.items.size();
  }
  all.readers.resize(count);
  std::vector<std::vector<std::size_t>> returns(plan.functions.size());  // by function: its Return items
  for (std::size_t f = 0; f < plan.functions.size(); ++f) {
    const Function& function = plan.functions[f];
    const std::size_t first = all.first_item[f];
    for (std::size_t i = 0; i < function.items.size(); ++i) {
      const Item& item = function.items[i];
      for (uint32_t reader : item.wakes) all.readers[first + i].push_back(first + reader);
      if (item.kind == ItemKind::Return) returns[f].push_back(first + i);
      if (item.kind == ItemKind::Branch) {
        for (const std::optional<uint32_t>& side : function.branches[item.index].sides) {
          if (side) all.readers[first + i].push_back(first + *side);
        }
      }
    }
  }
  for (std::size_t f = 0; f < plan.functions.size(); ++f) {
    const Function& function = plan.functions[f];
    for (std::size_t i = 0; i < function.items.size(); ++i) {
      if (function.items[i].kind != ItemKind::Call) continue;
      const Call& call = function.calls[function.items[i].index];
      if (call.is_direct) {
        const std::optional<uint32_t>& returned = function.sites[call.site].phases[0].returned;
        if (returned) all.readers[all.first_item[f] + i].push_back(all.first_item[f] + *returned);
        continue;
      }
      all.readers[all.first_item[f] + i].push_back(all.first_item[call.callee] + call.params);
      for (std::size_t from : returns[call.callee]) {
        const Item& item = plan.functions[call.callee].items[from - all.first_item[call.callee]];
        const uint32_t phase = plan.functions[call.callee].returns[item.index].phase;
        const SitePhase& part = function.sites[call.site].phases[phase];
        if (phase == call.phase && part.returned)
          all.readers[from].push_back(all.first_item[f] + *part.returned);
      }
    }
  }
  return all;
}

}  // namespace

void prioritize_regions(Plan& plan) {
  const Dependencies all = dependencies_of(plan);
  const Components components = strongly_connected_components(all.readers);
  const auto count = static_cast<uint32_t>(components.sizes.size());
  for (Region& region : plan.regions) {
    const uint32_t component = components.of[all.first_item[region.function] + region.item];
    region.priority = count - 1 - component;
    region.recursive = components.sizes[component] > 1;
  }
}

}  // namespace hiaton::exec::flow
