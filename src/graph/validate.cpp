#include "graph/validate.h"

namespace hiaton::graph {

std::vector<std::string> validate(const Graph& graph) {
  return validate(graph, find_contexts(graph));
}

std::vector<std::string> validate(const Graph& graph, const Contexts& contexts) {
  Findings findings(graph);
  check_structure(graph, findings);
  check_types(graph, findings);
  check_calls(graph, findings);
  check_contexts(graph, contexts, findings);
  check_cycles(graph, findings);
  return findings.take();
}

}  // namespace hiaton::graph
