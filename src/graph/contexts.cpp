#include "graph/contexts.h"

#include <algorithm>

namespace hiaton::graph {
namespace {

class ContextFinder {
 public:
  explicit ContextFinder(const Graph& graph) : graph_(graph), is_param_(find_params(graph)) {
    contexts_.loop_of.resize(graph.nodes().size());
    contexts_.reached.resize(graph.nodes().size());
    contexts_.parents.resize(graph.loops().size());
    loop_reached_.resize(graph.loops().size());
    used_before_.resize(graph.loops().size());
  }

  Contexts run() {
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      const Node& node = graph_.nodes()[n];
      if (node.kind == NodeKind::Input || is_param_[n] || fires_once(graph_, node)) start(NodeId(n));
    }
    while (!pending_.empty()) {
      const NodeId node = pending_.back();
      pending_.pop_back();
      for (uint32_t port = 0; port < graph_[node].output_count(); ++port) {
        for (InPort reader : graph_.consumers({node, port})) pass_on(node, reader.node);
        for (NodeId reader : graph_.control_consumers({node, port})) pass_on_control(node, reader);
      }
    }
    return std::move(contexts_);
  }

 private:
  /// A node without predecessors in its function.
  void start(NodeId id) {
    const Node& node = graph_[id];
    if (node.kind == NodeKind::Enter) {
      enter(id, LoopId());
    } else {
      reach(id, LoopId());
    }
  }

  void reach(NodeId id, LoopId loop) {
    if (contexts_.reached[id.index()]) return;
    contexts_.reached[id.index()] = true;
    contexts_.loop_of[id.index()] = loop;
    if (loop.valid() && !loop_reached_[loop.index()]) used_before_[loop.index()] = true;
    pending_.push_back(id);
  }

  void enter(NodeId id, LoopId outside) {
    const LoopId loop = graph_[id].loop;
    if (loop.index() >= graph_.loops().size()) return;
    if (!loop_reached_[loop.index()]) {
      loop_reached_[loop.index()] = true;
      if (!used_before_[loop.index()] || !is_inside(outside, loop)) contexts_.parents[loop.index()] = outside;
    }
    reach(id, loop);
  }

  /// Only where a NextIteration came before every Enter of a loop can the loop be entered from its inside.
  bool is_inside(LoopId inner, LoopId outer) const {
    while (inner.valid() && inner != outer) inner = contexts_.parents[inner.index()];
    return inner.valid();
  }

  void pass_on(NodeId from, NodeId to) {
    const Node& reader = graph_[to];
    switch (reader.kind) {
      case NodeKind::Return:
        return;  // its context is its caller's: it comes with the control edges
      case NodeKind::Enter:
        return enter(to, loop_of(from));
      case NodeKind::Exit:
        if (reader.loop.index() >= graph_.loops().size()) return;
        return reach(to, contexts_.parents[reader.loop.index()]);
      case NodeKind::NextIteration:
        return reach(to, reader.loop);
      default:
        return reach(to, loop_of(from));
    }
  }

  void pass_on_control(NodeId from, NodeId to) { reach(to, loop_of(from)); }

  LoopId loop_of(NodeId id) const { return contexts_.loop_of[id.index()]; }

  const Graph& graph_;
  const std::vector<bool> is_param_;
  std::vector<bool> loop_reached_;
  std::vector<bool> used_before_;  ///< loops that values were in before any entered
  std::vector<NodeId> pending_;
  Contexts contexts_;
};

}  // namespace

bool fires_once(const Graph& graph, const Node& node) {
  return !node.inputs.empty() && node.controls.empty() &&
         std::all_of(node.inputs.begin(), node.inputs.end(), [&](OutPort from) {
           return from.node.index() < graph.nodes().size() && is_under_every_tag(graph[from.node]);
         });
}

std::vector<bool> find_params(const Graph& graph) {
  std::vector<bool> is_param(graph.nodes().size());
  for (const Function& function : graph.functions()) {
    for (OutPort param : function.params) {
      if (param.node.index() < is_param.size()) is_param[param.node.index()] = true;
    }
  }
  return is_param;
}

Contexts find_contexts(const Graph& graph) {
  return ContextFinder(graph).run();
}

}  // namespace hiaton::graph
