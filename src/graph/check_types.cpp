#include "graph/labels.h"
#include "graph/validate.h"
#include "hiaton/error.h"

namespace hiaton::graph {
namespace {

class TypeCheck {
 public:
  TypeCheck(const Graph& graph, Findings& findings) : graph_(graph), findings_(findings) {}

  void run() {
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) check(NodeId(n));
  }

 private:
  void check(NodeId id) {
    const Node& node = graph_[id];
    switch (node.kind) {
      case NodeKind::Input:
        return;
      case NodeKind::Const:
        return check_constant(id);
      case NodeKind::Op:
        return check_op(id);
      case NodeKind::Accumulate:
        return;
      case NodeKind::Switch:
        check_input(id, 0, node.type);
        check_input(id, 1, DType::Bool);
        return;
      default:
        for (std::size_t i = 0; i < node.inputs.size(); ++i) check_input(id, i, node.type);
    }
  }

  void check_constant(NodeId id) {
    const Node& node = graph_[id];
    if (node.parameter >= 0) {
      const auto number = static_cast<std::size_t>(node.parameter);
      if (number >= graph_.parameters().size()) {
        findings_.at(id, "expected a parameter of the program, found number {}", number);
      } else if (graph_.parameters()[number].type != node.type) {
        findings_.at(id, "expected the type of its parameter, {}, found {}",
                     to_string(graph_.parameters()[number].type), to_string(node.type));
      }
    } else if (node.constant.is_data() && !fits(node.constant, node.type)) {
      findings_.at(id, "its constant is no value of type {}", to_string(node.type));
    } else if (!node.constant.is_data() && node.type != node.constant.type()) {
      findings_.at(id, "expected the type of its constant, {}, found {}", to_string(node.constant.type()),
                   to_string(node.type));
    }
  }

  void check_input(NodeId id, std::size_t port, const Type& expected) {
    const Node& node = graph_[id];
    if (port >= node.inputs.size()) return;
    const OutPort from = node.inputs[port];
    const Node* source = source_of(graph_, from);
    if (source == nullptr || compatible(source->type, expected)) return;
    const bool is_predicate = node.kind == NodeKind::Switch && port == 1;
    findings_.at(id, "input {}{}: expected {}, found {} from {}", port, is_predicate ? ", the predicate" : "",
                 to_string(expected), to_string(source->type), label_of(graph_, from));
  }

  void check_op(NodeId id) {
    const Node& node = graph_[id];
    if (node.op == nullptr || !node.op->takes(node.inputs.size())) return;
    if (!node.op->takes_attributes(node.attributes.size())) return;
    operands_.clear();
    for (OutPort input : node.inputs) {
      const Node* source = source_of(graph_, input);
      if (source == nullptr) return;
      operands_.push_back(source->type);
    }
    try {
      const Type type = node.op->result_type({operands_, node.attributes, &node.type});
      if (!compatible(type, node.type)) {
        findings_.at(id, "expected the result type {}, found {}", to_string(type), to_string(node.type));
      }
    } catch (const ProgramError& error) {
      findings_.at(id, "{}", error.what());
    }
  }

  const Graph& graph_;
  Findings& findings_;
  std::vector<Type> operands_;
};

}  // namespace

void check_types(const Graph& graph, Findings& findings) {
  TypeCheck(graph, findings).run();
}

}  // namespace hiaton::graph
