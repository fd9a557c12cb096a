#include "graph/labels.h"

#include <fmt/format.h>

#include <optional>

#include "graph/turns.h"

namespace hiaton::graph {

std::string label_of(const Node& node) {
  switch (node.kind) {
    case NodeKind::Const:
      if (const std::optional<Turn> turn = turn_of(node))
        return fmt::format("Turn {} of {}", turn->number, turn->copies);
      return node.parameter >= 0 ? "Param" : fmt::format("Const {}", to_string(node.constant, node.type));
    case NodeKind::Op:
      return node.op == nullptr ? "Op without an operation" : std::string(node.op->name.value);
    case NodeKind::Call:
    case NodeKind::Return:
      return node.site.valid() ? fmt::format("{}_{}", name_of(node.kind), node.site.index())
                               : std::string(name_of(node.kind));
    case NodeKind::Send:
    case NodeKind::Recv:
      return fmt::format("{}_{}", name_of(node.kind), node.index);
    default:
      return std::string(name_of(node.kind));
  }
}

std::string attributes_of(const Node& node) {
  constexpr std::string_view kWays[] = {"Dense", "Rows", "Outer"};
  if (node.kind == NodeKind::Op && node.op != nullptr && node.op->takes_attributes(node.attributes.size())) {
    return fmt::format("{}", fmt::join(node.op->attribute_texts(node.attributes), ", "));
  }
  const bool accumulates = node.kind == NodeKind::Accumulate && node.attributes.size() == 1 &&
                           node.attributes[0] >= 0 && node.attributes[0] < std::ssize(kWays);
  return accumulates ? std::string(kWays[node.attributes[0]]) : "";
}

std::string label_of(const Graph& graph, OutPort port) {
  if (!port.node.valid()) return "nothing";
  const bool is_switch =
      port.node.index() < graph.nodes().size() && graph[port.node].kind == NodeKind::Switch;
  if (is_switch && port.port < 2) {
    return fmt::format("%{}.{}", port.node.index(), port.port == 0 ? "true" : "false");
  }
  return port.port == 0 ? fmt::format("%{}", port.node.index())
                        : fmt::format("%{}.{}", port.node.index(), port.port);
}

std::string note_on(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  const bool crosses = node.kind == NodeKind::Call || node.kind == NodeKind::Return;
  if (!crosses || node.site.index() >= graph.sites().size()) return node.name;
  const Site& site = graph[node.site];
  if (site.callee.index() >= graph.functions().size()) return node.name;
  const Function& callee = graph[site.callee];
  if (node.kind == NodeKind::Call) {
    const bool named = node.index < callee.param_names.size() && !callee.param_names[node.index].empty();
    return named ? fmt::format("{}.{}", callee.name, callee.param_names[node.index]) : callee.name;
  }
  const std::string result =
      callee.results.size() > 1 ? fmt::format("{}.result {}", callee.name, node.index) : callee.name;
  return node.name.empty() ? result : fmt::format("{} = {}", node.name, result);
}

}  // namespace hiaton::graph
