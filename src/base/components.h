// Strongly connected components.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hiaton {

/// The component of each node of a graph, numbered so that a component comes before those that it leads to.
/// `edges` are the nodes that each node leads to. Uses no recursion: a path may be as long as the graph.
std::vector<uint32_t> topological_components(const std::vector<std::vector<std::size_t>>& edges);

}  // namespace hiaton
