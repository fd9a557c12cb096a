#include <fmt/format.h>

#include "graph/labels.h"
#include "hiaton/graph.h"

namespace hiaton::graph {
namespace {

std::string list(const Graph& graph, std::span<const OutPort> ports) {
  std::string text;
  for (OutPort port : ports) {
    if (!text.empty()) text += ", ";
    text += label_of(graph, port);
  }
  return text;
}

std::string name_of_parameter(const Graph& graph, const Node& node) {
  const auto number = static_cast<std::size_t>(node.parameter);
  return number < graph.parameters().size() ? graph.parameters()[number].name : "no parameter";
}

std::string line_of(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  std::string text = fmt::format("%{} = {}", id.index(), label_of(node));
  if (node.kind != NodeKind::Const && node.kind != NodeKind::Input && node.kind != NodeKind::Recv) {
    const std::string attributes = attributes_of(node);
    const std::string_view separator = node.inputs.empty() || attributes.empty() ? "" : ", ";
    text += fmt::format("({}{}{})", list(graph, node.inputs), separator, attributes);
  }
  if (node.kind == NodeKind::Accumulate) text += " into " + name_of_parameter(graph, node);
  if (node.loop.valid()) text += fmt::format(" in loop {}", node.loop.index());
  if (node.loop_constant) text += " as constant";
  if (!node.controls.empty()) text += fmt::format(" after {}", list(graph, node.controls));
  if (!node.placement.empty()) text += fmt::format(" on \"{}\"", node.placement);
  text += " : " + to_string(node.type);
  const std::string note = note_on(graph, id);
  if (!note.empty()) text += "  # " + note;
  return text;
}

std::string heading_of(const Graph& graph, const Function& function) {
  std::string params;
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    const std::string name = i < function.param_names.size() ? function.param_names[i] : "";
    params += fmt::format("{}{}{}{}", i > 0 ? ", " : "", name, name.empty() ? "" : " = ",
                          label_of(graph, function.params[i]));
  }
  std::string text =
      fmt::format("function {}({}) -> ({})", function.name, params, list(graph, function.results));
  if (!function.placement.empty()) text += fmt::format(" on \"{}\"", function.placement);
  return text + (function.triggered ? ", triggered:" : ":");
}

}  // namespace

std::string to_text(const Graph& graph) {
  std::vector<std::string> bodies(graph.functions().size());
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const NodeId id(n);
    bodies[graph[id].function.index()] += fmt::format("  {}\n", line_of(graph, id));
  }
  std::string text;
  for (std::size_t f = 0; f < bodies.size(); ++f) {
    if (f > 0) text += '\n';
    text += heading_of(graph, graph.functions()[f]) + '\n' + bodies[f];
  }
  return text;
}

}  // namespace hiaton::graph
