#include "graph/validate.h"

namespace hiaton::graph {

std::vector<std::string> validate(const Graph& graph) {
  return validate(graph, find_contexts(graph));
}

std::vector<std::string> validate(const Graph&, const Contexts&) {
  return {};
}

}  // namespace hiaton::graph
