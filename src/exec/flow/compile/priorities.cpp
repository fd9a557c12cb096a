#include <algorithm>

#include "exec/flow/compile/passes.h"

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

/// Tarjan's components, numbered so that readers come later; with a stack of its own.
std::vector<uint32_t> topological_components(const std::vector<std::vector<std::size_t>>& readers) {
  constexpr uint32_t kUnseen = UINT32_MAX;
  const std::size_t count = readers.size();
  std::vector<uint32_t> order(count, kUnseen);
  std::vector<uint32_t> low(count, 0);
  std::vector<uint32_t> component(count, kUnseen);
  std::vector<std::size_t> members;
  std::vector<std::pair<std::size_t, std::size_t>> path;
  uint32_t seen = 0;
  uint32_t components = 0;
  const auto begin = [&](std::size_t node) {
    order[node] = low[node] = seen++;
    members.push_back(node);
    path.emplace_back(node, 0);
  };
  for (std::size_t root = 0; root < count; ++root) {
    if (order[root] != kUnseen) continue;
    begin(root);
    while (!path.empty()) {
      auto& [node, next] = path.back();
      if (next < readers[node].size()) {
        const std::size_t reader = readers[node][next++];
        if (order[reader] == kUnseen) {
          begin(reader);
        } else if (component[reader] == kUnseen) {
          low[node] = std::min(low[node], order[reader]);
        }
        continue;
      }
      const std::size_t done = node;
      path.pop_back();
      if (!path.empty()) low[path.back().first] = std::min(low[path.back().first], low[done]);
      if (low[done] != order[done]) continue;
      std::size_t member;
      do {
        member = members.back();
        members.pop_back();
        component[member] = components;
      } while (member != done);
      ++components;
    }
  }
  for (uint32_t& number : component) number = components - 1 - number;
  return component;
}

}  // namespace

void prioritize_regions(Plan& plan) {
  const Dependencies all = dependencies_of(plan);
  const std::vector<uint32_t> component = topological_components(all.readers);
  std::vector<std::size_t> members(component.size());
  for (uint32_t number : component) ++members[number];
  for (Region& region : plan.regions) {
    region.priority = component[all.first_item[region.function] + region.item];
    region.recursive = members[region.priority] > 1;
  }
}

}  // namespace hiaton::exec::flow
