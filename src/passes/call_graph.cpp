#include "passes/call_graph.h"

#include <algorithm>

namespace hiaton::passes {
namespace {

/// Tarjan's strongly connected components with its own stack: chains of calls may be as long as the program.
class Components {
 public:
  explicit Components(CallGraph& graph)
      : graph_(graph), order_(graph.callees.size(), kUnseen), low_(order_), open_(order_.size(), false) {}

  void visit_from(std::size_t root) {
    if (order_[root] != kUnseen) return;
    begin(root);
    while (!path_.empty()) {
      Step& step = path_.back();
      const auto& callees = graph_.callees[step.function];
      if (step.next_callee == callees.size()) {
        finish_last();
        continue;
      }
      const std::size_t callee = callees[step.next_callee++].index();
      if (callee == step.function) graph_.recursive[callee] = true;
      if (order_[callee] == kUnseen) {
        begin(callee);
      } else if (open_[callee]) {
        low_[step.function] = std::min(low_[step.function], order_[callee]);
      }
    }
  }

 private:
  static constexpr std::size_t kUnseen = static_cast<std::size_t>(-1);
  struct Step {
    std::size_t function;
    std::size_t next_callee;
  };

  void begin(std::size_t function) {
    order_[function] = low_[function] = count_++;
    open_[function] = true;
    members_.push_back(function);
    path_.push_back({function, 0});
  }

  void finish_last() {
    const std::size_t function = path_.back().function;
    path_.pop_back();
    if (!path_.empty()) {
      std::size_t& callers_low = low_[path_.back().function];
      callers_low = std::min(callers_low, low_[function]);
    }
    if (low_[function] != order_[function]) return;
    const bool has_others = members_.back() != function;
    std::size_t member;
    do {
      member = members_.back();
      members_.pop_back();
      open_[member] = false;
      if (has_others) graph_.recursive[member] = true;
      graph_.bottom_up.emplace_back(member);
    } while (member != function);
  }

  CallGraph& graph_;
  std::vector<std::size_t> order_;
  std::vector<std::size_t> low_;
  std::vector<bool> open_;
  std::vector<std::size_t> members_;
  std::vector<Step> path_;
  std::size_t count_ = 0;
};

}  // namespace

CallGraph call_graph(const ir::Module& module) {
  CallGraph graph;
  graph.recursive.resize(module.functions.size(), false);
  for (const ir::Function& function : module.functions) {
    std::vector<ir::FunctionId>& callees = graph.callees.emplace_back();
    for (const ir::Node& node : function.nodes) {
      if (node.kind == ir::NodeKind::Call) callees.push_back(node.callee);
    }
  }
  for (const ir::GradientRequest& request : module.gradient_requests) {
    graph.callees[request.function.index()].push_back(request.of);
    graph.recursive[request.function.index()] = true;
  }
  Components components(graph);
  for (std::size_t i = 0; i < module.functions.size(); ++i) components.visit_from(i);
  return graph;
}

std::vector<bool> reachable(const CallGraph& graph, ir::FunctionId from) {
  std::vector<bool> reached(graph.callees.size(), false);
  std::vector<ir::FunctionId> to_visit{from};
  reached[from.index()] = true;
  while (!to_visit.empty()) {
    const ir::FunctionId function = to_visit.back();
    to_visit.pop_back();
    for (const ir::FunctionId callee : graph.callees[function.index()]) {
      if (reached[callee.index()]) continue;
      reached[callee.index()] = true;
      to_visit.push_back(callee);
    }
  }
  return reached;
}

}  // namespace hiaton::passes
