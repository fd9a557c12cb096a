// Strongly connected components of a directed graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hiaton {

struct Components {
  /// By node: the number of its component. Successors in other components have smaller numbers.
  std::vector<uint32_t> of;
  /// All nodes, component by component, the smallest number first: successors before what leads to them.
  std::vector<std::size_t> order;
  std::vector<std::size_t> sizes;  ///< by component
};

/// `successors`: by node; one may be listed several times. Takes no C++ stack that grows with the graph.
/// Tarjan, "Depth-first search and linear graph algorithms", 1972.
Components strongly_connected_components(const std::vector<std::vector<std::size_t>>& successors);

}  // namespace hiaton
