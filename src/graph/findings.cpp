#include "graph/findings.h"

#include "graph/labels.h"

namespace hiaton::graph {

std::string Findings::describe(NodeId id) const {
  if (id.index() >= graph_.nodes().size()) return label_of(graph_, OutPort{id});
  const Node& node = graph_[id];
  std::string text = fmt::format("%{} {}", id.index(), label_of(node));
  if (!node.name.empty()) text += fmt::format(" '{}'", node.name);
  if (node.function.index() < graph_.functions().size()) {
    text += fmt::format(" in '{}'", graph_[node.function].name);
  }
  return text + place(node.span);
}

std::string Findings::describe(FunctionId id) const {
  if (id.index() >= graph_.functions().size()) return "a function that does not exist";
  return fmt::format("function '{}'{}", graph_[id].name, place(graph_[id].span));
}

std::string Findings::describe(CallSite id) const {
  return fmt::format("call site {}{}", id.index(), place(graph_[id].span));
}

std::string Findings::place(Span span) const {
  if (!span.known() || graph_.source() == nullptr) return "";
  return fmt::format(" ({})", graph_.source()->place_of(span.begin));
}

}  // namespace hiaton::graph
