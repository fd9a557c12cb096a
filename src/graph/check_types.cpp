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
        return check_accumulate(id);
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

  /// Its operands fit the gradient that they are added to, as the comments of Accumulation say.
  void check_accumulate(NodeId id) {
    const Node& node = graph_[id];
    const auto number = static_cast<std::size_t>(node.parameter);
    if (node.parameter < 0 || number >= graph_.parameters().size() || node.attributes.size() != 1) return;
    const Type& sum = graph_.parameters()[number].type;
    if (node.type != sum) {
      return findings_.at(id, "expected the type of its parameter, {}, found {}", to_string(sum),
                          to_string(node.type));
    }
    const auto how = static_cast<Accumulation>(node.attributes[0]);
    if (how == Accumulation::Dense) return check_input(id, 0, sum);
    const Node* first = node.inputs.empty() ? nullptr : source_of(graph_, node.inputs[0]);
    if (first == nullptr) return;
    if (how == Accumulation::Rows) {
      check_rows(id, sum, first->type);
    } else if (how == Accumulation::Outer) {
      check_outer(id, sum, first->type);
    }
  }

  /// Row numbers of any shape, and a row of the parameter for each.
  void check_rows(NodeId id, const Type& sum, const Type& numbers) {
    if (sum.shape.empty() || numbers.is_data() || numbers.dtype != DType::I64) {
      return findings_.at(id, "expected row numbers (i64) and a parameter that has rows, found {} and {}",
                          to_string(numbers), to_string(sum));
    }
    Type values = sum;
    values.shape = known_sizes(numbers.shape);
    for (std::size_t axis = 1; axis < sum.shape.size(); ++axis) values.shape.push_back(sum.shape[axis]);
    check_input(id, 1, values);
  }

  /// Rows of both factors, equally many, or one of each.
  void check_outer(NodeId id, const Type& sum, const Type& x) {
    if (sum.shape.size() != 2 || x.shape.empty() || x.shape.size() > 2) {
      return findings_.at(id,
                          "expected one or several rows for a parameter that is a matrix, found {} and {}",
                          to_string(x), to_string(sum));
    }
    Type rows = sum;
    rows.shape = known_sizes(x.shape);
    for (const std::size_t operand : {0, 1}) {
      rows.shape[x.shape.size() - 1] = sum.shape[operand];
      check_input(id, operand, rows);
    }
  }

  /// A symbol stands for the same size in one function only, so it is left open.
  static Shape known_sizes(Shape shape) {
    for (Dim& dim : shape) {
      if (dim.size < 0) dim = unknown_dim();
    }
    return shape;
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
