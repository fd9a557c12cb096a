#include "base/components.h"

#include <algorithm>
#include <utility>

namespace hiaton {

/// Tarjan's algorithm, with a stack of its own.
std::vector<uint32_t> topological_components(const std::vector<std::vector<std::size_t>>& edges) {
  constexpr uint32_t kUnseen = UINT32_MAX;
  const std::size_t count = edges.size();
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
      if (next < edges[node].size()) {
        const std::size_t next_node = edges[node][next++];
        if (order[next_node] == kUnseen) {
          begin(next_node);
        } else if (component[next_node] == kUnseen) {
          low[node] = std::min(low[node], order[next_node]);
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

}  // namespace hiaton
