#pragma once

#include "graph/contexts.h"

namespace hiaton::graph {

/// validate() with the graph's contexts already found.
std::vector<std::string> validate(const Graph& graph, const Contexts& contexts);

}  // namespace hiaton::graph
