#include "exec/blueprint.h"

#include "exec/firing.h"
#include "exec/graph_names.h"

namespace hiaton::exec {

Blueprints::Blueprints(const graph::Graph& graph, const RunOptions& options)
    : graph_(graph),
      function_count_(static_cast<uint32_t>(graph.functions().size())),
      blueprints_(graph.functions().size() + graph.loops().size()),
      locations_(graph.nodes().size()) {
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const graph::Node& node = graph.nodes()[n];
    if (node.kind == NodeKind::Input || is_under_every_tag(node)) continue;
    if (fires_under_the_empty_tag(graph, node)) at_start_.emplace_back(n);
    add(NodeId(n), options);
  }
}

uint32_t Blueprints::home_of(NodeId id) const {
  const graph::Node& node = graph_[id];
  graph::LoopId loop = graph_.loop_of(id);
  if (node.kind == NodeKind::Enter) loop = graph_[node.loop].parent;
  if (node.kind == NodeKind::Exit) loop = node.loop;
  return loop.valid() ? index_of(loop) : index_of(node.function);
}

void Blueprints::add(NodeId id, const RunOptions& options) {
  const graph::Node& node = graph_[id];
  const uint32_t home = home_of(id);
  Blueprint& blueprint = blueprints_[home];
  locations_[id.index()] = {home, static_cast<uint32_t>(blueprint.nodes.size()),
                            static_cast<uint32_t>(blueprint.operands.size())};
  CopiedNode copied;
  copied.pending = static_cast<uint32_t>(inputs_to_match(graph_, node));
  if (is_entry(graph_, node) || node.kind == NodeKind::Return) copied.pending = 1;
  blueprint.nodes.push_back(copied);
  for (graph::OutPort from : node.inputs) {
    blueprint.operands.push_back(constant_of(graph_[from.node], options));
  }
}

}  // namespace hiaton::exec
