#include <algorithm>

#include "exec/flow/compile/passes.h"

namespace hiaton::exec::flow {

using graph::NodeId;
using graph::NodeKind;

namespace {

/// Depth first, with a stack of its own: nesting costs no C++ stack.
class NodeOrder {
 public:
  explicit NodeOrder(const graph::Graph& graph)
      : graph_(graph),
        is_param_(graph.nodes().size()),
        is_open_(graph.nodes().size()),
        is_done_(graph.nodes().size()),
        order_(graph.functions().size()) {
    for (const graph::Function& function : graph.functions()) {
      for (graph::OutPort param : function.params) is_param_[param.node.index()] = true;
    }
  }

  std::vector<std::vector<NodeId>> run() {
    for (std::size_t i = 0; i < graph_.nodes().size(); ++i) visit(NodeId(i));
    return std::move(order_);
  }

 private:
  void visit(NodeId first) {
    stack_.push_back(first);
    while (!stack_.empty()) {
      const NodeId top = stack_.back();
      if (!is_open_[top.index()]) {
        is_open_[top.index()] = true;
        push_inputs(top);
        continue;
      }
      stack_.pop_back();
      if (is_done_[top.index()]) continue;
      is_done_[top.index()] = true;
      order_[graph_[top].function.index()].push_back(top);
    }
  }

  /// The first input is the next to be visited.
  void push_inputs(NodeId id) {
    if (is_param_[id.index()]) return;
    const graph::Node& node = graph_[id];
    const std::size_t begin = stack_.size();
    const auto push = [&](NodeId input) {
      if (!is_open_[input.index()]) stack_.push_back(input);
    };
    if (node.kind != NodeKind::Return) {
      for (graph::OutPort input : node.inputs) push(input.node);
    }
    for (graph::OutPort control : node.controls) push(control.node);
    std::reverse(stack_.begin() + static_cast<std::ptrdiff_t>(begin), stack_.end());
  }

  const graph::Graph& graph_;
  std::vector<bool> is_param_;
  std::vector<bool> is_open_;
  std::vector<bool> is_done_;
  std::vector<NodeId> stack_;
  std::vector<std::vector<NodeId>> order_;
};

}  // namespace

std::vector<std::vector<NodeId>> nodes_in_order(const graph::Graph& graph) {
  return NodeOrder(graph).run();
}

}  // namespace hiaton::exec::flow
