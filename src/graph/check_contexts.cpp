#include "graph/labels.h"
#include "graph/validate.h"

namespace hiaton::graph {
namespace {

class ContextCheck {
 public:
  ContextCheck(const Graph& graph, const Contexts& contexts, Findings& findings)
      : graph_(graph), contexts_(contexts), findings_(findings), is_param_(find_params(graph)) {}

  void run() {
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      check_constants(NodeId(n));
      if (is_param_[n]) continue;
      check_edges(NodeId(n));
      check_loop_variable(NodeId(n));
    }
    for (std::size_t f = 0; f < graph_.functions().size(); ++f) check_results(FunctionId(f));
    check_reached();
  }

 private:
  void check_constants(NodeId id) {
    const Node& node = graph_[id];
    if (node.kind == NodeKind::Merge || node.kind == NodeKind::Exit || node.kind == NodeKind::NextIteration) {
      for (OutPort input : node.inputs) {
        const Node* source = source_of(graph_, input);
        if (source != nullptr && is_under_every_tag(*source)) {
          findings_.at(id, "input from {}: expected a Const with a control edge that starts it, found none",
                       findings_.describe(input.node));
        }
      }
    } else if (node.function != graph_.main() && fires_once(graph_, node)) {
      findings_.at(id,
                   "all its inputs are constants: expected one of them with a control edge that starts it");
    }
  }

  void check_edges(NodeId id) {
    const Node& node = graph_[id];
    for (std::size_t i = 0; i < node.controls.size(); ++i) check_edge(id, node.controls[i], loop_of(id));
    if (node.kind == NodeKind::Return) return;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) check_edge(id, node.inputs[i], loop_read_by(id));
  }

  /// A Merge that an Enter or a NextIteration feeds: it must get one token in each iteration.
  void check_loop_variable(NodeId id) {
    const Node& node = graph_[id];
    if (node.kind != NodeKind::Merge) return;
    std::size_t enters = 0;
    std::size_t nexts = 0;
    for (OutPort input : node.inputs) {
      const Node* source = source_of(graph_, input);
      if (source == nullptr) return;
      if (source->kind == NodeKind::Enter && !source->loop_constant) ++enters;
      if (source->kind == NodeKind::NextIteration) ++nexts;
    }
    if (nexts == 0 || (enters == 1 && enters + nexts == node.inputs.size())) return;
    findings_.at(id,
                 "it is a variable of a loop: expected one Enter that is not constant, and else "
                 "NextIteration nodes; found {} and {} among {} inputs",
                 enters, nexts, node.inputs.size());
  }

  /// The loop that the node's data inputs must come from.
  LoopId loop_read_by(NodeId id) const {
    const Node& node = graph_[id];
    const bool has_loop = node.loop.index() < graph_.loops().size();
    if (node.kind == NodeKind::Enter && has_loop) return contexts_.parents[node.loop.index()];
    if ((node.kind == NodeKind::Exit || node.kind == NodeKind::NextIteration) && has_loop) return node.loop;
    return loop_of(id);
  }

  void check_edge(NodeId id, OutPort from, LoopId expected) {
    const Node* source = source_of(graph_, from);
    if (source == nullptr) return;
    if (source->function != graph_[id].function) {
      findings_.at(id, "it reads {}: values pass between functions by Call and Return only",
                   findings_.describe(from.node));
      return;
    }
    if (source->kind == NodeKind::Call && graph_[id].kind != NodeKind::Return) {
      findings_.at(id, "it reads {}: only the parameter of the callee does", findings_.describe(from.node));
      return;
    }
    if (source->kind == NodeKind::NextIteration && graph_[id].kind != NodeKind::Merge) {
      findings_.at(id, "it reads {}: only a Merge may, so that the first iteration has a value too",
                   findings_.describe(from.node));
    }
    if (is_under_every_tag(*source) || !reached(from.node) || !reached(id)) return;
    const LoopId found = loop_of(from.node);
    if (found == expected) return;
    findings_.at(id, "it reads {} {}, but works {}: {}", describe(found), findings_.describe(from.node),
                 describe(expected), advice(found, expected));
  }

  static std::string describe(LoopId loop) {
    return loop.valid() ? fmt::format("in loop {}", loop.index()) : "outside of loops";
  }

  std::string advice(LoopId from, LoopId to) const {
    if (is_inside(from, to)) return "an Exit is missing";
    if (is_inside(to, from)) return "an Enter is missing";
    return "an Exit and an Enter are missing";
  }

  bool is_inside(LoopId inner, LoopId outer) const {
    for (; inner.valid(); inner = contexts_.parents[inner.index()]) {
      if (inner == outer) return true;
    }
    return !outer.valid();
  }

  void check_results(FunctionId id) {
    for (std::size_t i = 0; i < graph_[id].results.size(); ++i) {
      const OutPort result = graph_[id].results[i];
      if (source_of(graph_, result) == nullptr || !reached(result.node)) continue;
      if (const LoopId loop = loop_of(result.node); loop.valid()) {
        findings_.at(id, "result {} comes from {} in loop {}: an Exit is missing", i,
                     findings_.describe(result.node), loop.index());
      }
    }
  }

  /// Nodes that wait for each other, with no way in. Without sense while other rules are broken.
  void check_reached() {
    if (!findings_.all().empty()) return;
    constexpr std::size_t kShown = 10;
    std::string names;
    std::size_t count = 0;
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      if (reached(NodeId(n)) || is_under_every_tag(graph_.nodes()[n])) continue;
      if (count++ < kShown)
        names += fmt::format("{}{}", count == 1 ? "" : ", ", findings_.describe(NodeId(n)));
    }
    if (count > kShown) names += fmt::format(" and {} more", count - kShown);
    if (count > 0) findings_.overall("no token can ever come to {}", names);
  }

  LoopId loop_of(NodeId id) const { return contexts_.loop_of[id.index()]; }
  bool reached(NodeId id) const { return contexts_.reached[id.index()]; }

  const Graph& graph_;
  const Contexts& contexts_;
  Findings& findings_;
  const std::vector<bool> is_param_;
};

}  // namespace

void check_contexts(const Graph& graph, const Contexts& contexts, Findings& findings) {
  ContextCheck(graph, contexts, findings).run();
}

}  // namespace hiaton::graph
