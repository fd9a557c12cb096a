#include <optional>

#include "graph/contexts.h"
#include "graph/labels.h"
#include "graph/turns.h"
#include "graph/validate.h"

namespace hiaton::graph {
namespace {

class StructureCheck {
 public:
  StructureCheck(const Graph& graph, Findings& findings)
      : graph_(graph), findings_(findings), is_param_(find_params(graph)) {}

  void run() {
    if (graph_.functions().empty())
      findings_.overall("expected a first function, which is the program; found none");
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      check_references(NodeId(n));
      check_inputs(NodeId(n));
      check_controls(NodeId(n));
      check_listed(NodeId(n));
      check_span(NodeId(n), graph_.nodes()[n].span);
    }
    for (std::size_t f = 0; f < graph_.functions().size(); ++f) {
      check_span(FunctionId(f), graph_.functions()[f].span);
    }
    for (std::size_t s = 0; s < graph_.sites().size(); ++s) check_site(CallSite(s));
    for (std::size_t l = 0; l < graph_.loops().size(); ++l) check_loop(LoopId(l));
    check_members(graph_.inputs(), NodeKind::Input, "the program's inputs");
    check_members(graph_.outputs(), NodeKind::Output, "the program's outputs");
  }

 private:
  template <class Id, class Thing>
  static bool exists(Id id, const std::vector<Thing>& things) {
    return id.index() < things.size();
  }

  static bool has_site(NodeKind kind) { return kind == NodeKind::Call || kind == NodeKind::Return; }
  static bool has_loop(NodeKind kind) {
    return kind == NodeKind::Enter || kind == NodeKind::Exit || kind == NodeKind::NextIteration;
  }

  void check_references(NodeId id) {
    const Node& node = graph_[id];
    if (!exists(node.function, graph_.functions()))
      findings_.at(id, "expected a function that it stands in, found none");
    if (has_site(node.kind) && !exists(node.site, graph_.sites())) {
      findings_.at(id, "expected a call site, found none");
    }
    if (has_loop(node.kind) && !exists(node.loop, graph_.loops()))
      findings_.at(id, "expected a loop, found none");
    if (node.kind == NodeKind::Op && node.op == nullptr)
      findings_.at(id, "expected an operation, found none");
    if (node.kind == NodeKind::Op && node.op != nullptr &&
        !node.op->takes_attributes(node.attributes.size())) {
      findings_.at(id, "expected {} attributes, found {}", node.op->attributes.size(),
                   node.attributes.size());
    }
    if (node.kind == NodeKind::Accumulate) check_accumulate(id);
    if (node.kind == NodeKind::Const && !node.attributes.empty()) check_turn(id);
    const bool is_program = node.kind == NodeKind::Input || node.kind == NodeKind::Output;
    if (is_program && node.function != graph_.main()) {
      findings_.at(id, "expected it in the first function, which is the program; found it in {}",
                   findings_.describe(node.function));
    }
  }

  void check_accumulate(NodeId id) {
    const Node& node = graph_[id];
    const bool known = node.attributes.size() == 1 && node.attributes[0] >= 0 &&
                       node.attributes[0] <= static_cast<int64_t>(Accumulation::Outer);
    if (!known) findings_.at(id, "expected one attribute that says how it adds");
    if (node.parameter < 0 || static_cast<std::size_t>(node.parameter) >= graph_.parameters().size()) {
      findings_.at(id, "expected a parameter of the program, found none");
    }
  }

  void check_turn(NodeId id) {
    const std::optional<Turn> turn = turn_of(graph_[id]);
    if (!turn || turn->copies < 2 || turn->number >= turn->copies || graph_[id].controls.empty())
      findings_.at(id, "expected no attributes, or a number, more copies, and a control edge");
  }

  /// The graph calls one of the copies of a placed function, and the processes call the others.
  bool is_param_of_copy(NodeId id) const {
    return is_param_[id.index()] && graph_[graph_[id].function].placement.starts_with("process:");
  }

  void check_inputs(NodeId id) {
    const Node& node = graph_[id];
    const std::size_t found = node.inputs.size();
    if (node.kind == NodeKind::Merge) {
      if (found == 0 && !is_param_of_copy(id)) findings_.at(id, "expected at least 1 input, found none");
    } else if (const std::size_t expected = input_count(node); found != expected) {
      findings_.at(id, "expected {} input{}, found {}", expected, expected == 1 ? "" : "s", found);
    }
    for (std::size_t i = 0; i < found; ++i) check_edge(id, "input", i, node.inputs[i]);
  }

  static std::size_t input_count(const Node& node) {
    switch (node.kind) {
      case NodeKind::Input:
      case NodeKind::Const:
      case NodeKind::Recv:
        return 0;
      case NodeKind::Op:
        return node.op == nullptr || node.op->takes(node.inputs.size()) ? node.inputs.size()
                                                                        : node.op->arity();
      case NodeKind::Accumulate:
        return node.attributes == std::vector{int64_t{0}} ? 1 : 2;
      case NodeKind::Switch:
        return 2;
      default:
        return 1;
    }
  }

  void check_controls(NodeId id) {
    const Node& node = graph_[id];
    for (std::size_t i = 0; i < node.controls.size(); ++i) {
      check_edge(id, "control edge", i, node.controls[i]);
    }
    if (node.kind == NodeKind::Recv && node.controls.size() != 1) {
      findings_.at(id, "expected 1 control edge, which brings the tags, found {}", node.controls.size());
    }
    if (node.kind == NodeKind::Return || node.kind == NodeKind::Recv || node.controls.empty()) return;
    if (node.kind != NodeKind::Const) {
      findings_.at(id, "control edges lead to Const, Return and Recv nodes only, found {}",
                   node.controls.size());
    } else if (node.controls.size() > 1) {
      findings_.at(id, "expected at most 1 control edge, found {}", node.controls.size());
    }
  }

  void check_edge(NodeId id, std::string_view what, std::size_t which, OutPort from) {
    if (source_of(graph_, from) != nullptr) return;
    const std::string edge = fmt::format("{} {}", what, which);
    if (!from.node.valid()) {
      findings_.at(id, "{} is not connected", edge);
    } else if (from.node.index() >= graph_.nodes().size()) {
      findings_.at(id, "{} comes from node %{}; there are {} nodes", edge, from.node.index(),
                   graph_.nodes().size());
    } else {
      findings_.at(id, "{} comes from output {} of {}, which has {} outputs", edge, from.port,
                   findings_.describe(from.node), graph_[from.node].output_count());
    }
  }

  /// The list that the node should be in, if any.
  const std::vector<NodeId>* list_of(const Node& node) const {
    switch (node.kind) {
      case NodeKind::Input:
        return &graph_.inputs();
      case NodeKind::Output:
        return &graph_.outputs();
      case NodeKind::Call:
        return exists(node.site, graph_.sites()) ? &graph_[node.site].calls : nullptr;
      case NodeKind::Return:
        return exists(node.site, graph_.sites()) ? &graph_[node.site].returns : nullptr;
      case NodeKind::Enter:
        return exists(node.loop, graph_.loops()) ? &graph_[node.loop].enters : nullptr;
      case NodeKind::Exit:
        return exists(node.loop, graph_.loops()) ? &graph_[node.loop].exits : nullptr;
      case NodeKind::NextIteration:
        return exists(node.loop, graph_.loops()) ? &graph_[node.loop].nexts : nullptr;
      default:
        return nullptr;
    }
  }

  void check_listed(NodeId id) {
    const Node& node = graph_[id];
    const std::vector<NodeId>* list = list_of(node);
    if (list == nullptr || (node.index < list->size() && (*list)[node.index] == id)) return;
    findings_.at(
        id,
        "it says that it is number {} of its kind in its call site, loop or program, which does not know it",
        node.index);
  }

  void check_members(const std::vector<NodeId>& list, NodeKind kind, const std::string& owner) {
    for (NodeId id : list) {
      if (graph_[id].kind != kind) {
        findings_.at(id, "expected a node of kind {}, as one of {}", name_of(kind), owner);
      } else if (list_of(graph_[id]) != &list) {
        findings_.at(id, "it is one of {}, but says that it belongs to another", owner);
      }
    }
  }

  void check_site(CallSite id) {
    const Site& site = graph_[id];
    check_span(id, site.span);
    if (!exists(site.caller, graph_.functions())) findings_.at(id, "its caller does not exist");
    if (!exists(site.callee, graph_.functions())) findings_.at(id, "its callee does not exist");
    const std::string owner = fmt::format("the nodes of call site {}", id.index());
    check_members(site.calls, NodeKind::Call, owner);
    check_members(site.returns, NodeKind::Return, owner);
  }

  void check_loop(LoopId id) {
    const Loop& loop = graph_[id];
    check_span(id, loop.span);
    if (!exists(loop.function, graph_.functions())) findings_.at(id, "its function does not exist");
    const std::string owner = fmt::format("the nodes of loop {}", id.index());
    check_members(loop.enters, NodeKind::Enter, owner);
    check_members(loop.exits, NodeKind::Exit, owner);
    check_members(loop.nexts, NodeKind::NextIteration, owner);
    for (const std::vector<NodeId>* list : {&loop.enters, &loop.exits, &loop.nexts}) {
      for (NodeId node : *list) {
        if (graph_[node].function != loop.function) {
          findings_.at(node, "loop {} stands in another function", id.index());
        }
      }
    }
  }

  template <class Id>
  void check_span(Id id, Span span) {
    if (graph_.source() == nullptr) return;
    const std::size_t size = graph_.source()->text().size();
    if (span.begin > span.end || span.end > size) {
      findings_.at(id, "its place in the text, {} to {}, lies outside the text of {} bytes", span.begin,
                   span.end, size);
    }
  }

  const Graph& graph_;
  Findings& findings_;
  const std::vector<bool> is_param_;  ///< by node
};

}  // namespace

void check_structure(const Graph& graph, Findings& findings) {
  StructureCheck(graph, findings).run();
}

}  // namespace hiaton::graph
