// Whether two modules are the same program.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "hiaton/ir.h"
#include "ir/names.h"

namespace hiaton::ir {
namespace {

bool is_nan(const Value& value) {
  return (value.dtype() == DType::F32 && std::isnan(value.as<float>())) ||
         (value.dtype() == DType::F64 && std::isnan(value.as<double>()));
}

bool same_constant(const Value& a, const Value& b);

bool same_tensor(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.type() != b.type()) return false;
  for (int64_t i = 0; i < a.size(); ++i) {
    if (!same_constant(element_of(a, i), element_of(b, i))) return false;
  }
  return true;
}

bool same_constant(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  if (a.is_tensor()) return same_tensor(a.tensor(), b.tensor());
  return a == b || (a.is_scalar() && a.dtype() == b.dtype() && is_nan(a) && is_nan(b));
}

/// Constants and learned parameters: where they stand does not count.
bool stands_nowhere(const Node& node) {
  return node.kind == NodeKind::Const || node.kind == NodeKind::Param;
}

/// What the values of a function are, as far as comparing needs it.
class Origins {
 public:
  explicit Origins(const Function& function) : by_value_(function.values.size(), nullptr) {
    for (const Node& node : function.nodes) {
      if (stands_nowhere(node)) by_value_[node.results[0].index()] = &node;
    }
  }
  /// nullptr where the value is computed.
  const Node* find(ValueId id) const { return by_value_[id.index()]; }

 private:
  std::vector<const Node*> by_value_;
};

/// Walks two functions side by side. Blocks wait in a list, so that deep nesting needs no deep recursion; the
/// values of a block are matched before the blocks inside it are compared.
class Comparison {
 public:
  Comparison(const Function& a, const Function& b)
      : a_(a), b_(b), origins_a_(a), origins_b_(b), matched_(a.values.size()) {}

  bool run() {
    if (!same_signature()) return false;
    if (!a_.body.valid()) return true;
    waiting_.emplace_back(a_.body, b_.body);
    while (!waiting_.empty()) {
      const auto [a, b] = waiting_.back();
      waiting_.pop_back();
      if (!same_block(a_[a], b_[b])) return false;
    }
    return true;
  }

 private:
  bool same_signature() const {
    const auto same_param = [](const ValueInfo& a, const ValueInfo& b) {
      return a.name == b.name && a.type == b.type;
    };
    return a_.name == b_.name && a_.body.valid() == b_.body.valid() && a_.phases == b_.phases &&
           a_.placement == b_.placement && a_.recompute == b_.recompute && a_.results == b_.results &&
           std::equal(a_.params.begin(), a_.params.end(), b_.params.begin(), b_.params.end(), same_param);
  }

  bool same_block(const Block& a, const Block& b) {
    if (!match(a.params, b.params)) return false;
    const std::vector<NodeId> nodes_a = computing_nodes(a_, a);
    const std::vector<NodeId> nodes_b = computing_nodes(b_, b);
    const auto same = [&](NodeId x, NodeId y) { return same_node(a_[x], b_[y]); };
    return std::equal(nodes_a.begin(), nodes_a.end(), nodes_b.begin(), nodes_b.end(), same) &&
           same_values(a.results, b.results);
  }

  static std::vector<NodeId> computing_nodes(const Function& function, const Block& block) {
    std::vector<NodeId> nodes;
    for (NodeId id : block.nodes) {
      if (!stands_nowhere(function[id])) nodes.push_back(id);
    }
    return nodes;
  }

  bool same_node(const Node& a, const Node& b) {
    if (a.kind != b.kind || a.op != b.op || a.callee != b.callee || a.placement != b.placement) return false;
    if (a.attributes != b.attributes || a.phase != b.phase || !same_earlier(a.of, b.of)) return false;
    if (a.blocks.size() != b.blocks.size() || !same_values(a.operands, b.operands)) return false;
    for (std::size_t i = 0; i < a.blocks.size(); ++i) waiting_.emplace_back(a.blocks[i], b.blocks[i]);
    return match(a.results, b.results);
  }

  bool same_values(std::span<const ValueId> a, std::span<const ValueId> b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](ValueId x, ValueId y) {
      const Node* origin_x = origins_a_.find(x);
      const Node* origin_y = origins_b_.find(y);
      if (origin_x == nullptr || origin_y == nullptr) return origin_x == origin_y && matched_[x.index()] == y;
      if (origin_x->kind != origin_y->kind || a_[x].type != b_[y].type) return false;
      return origin_x->kind == NodeKind::Param ? origin_x->attributes == origin_y->attributes
                                               : same_constant(origin_x->constant, origin_y->constant);
    });
  }

  /// The node that another goes back to: known by its first result, where it has one.
  bool same_earlier(NodeId a, NodeId b) const {
    if (!a.valid() || !b.valid()) return a == b;
    const ValueIds& results_a = a_[a].results;
    const ValueIds& results_b = b_[b].results;
    if (results_a.empty() || results_b.empty()) return results_a.empty() == results_b.empty();
    return matched_[results_a[0].index()] == results_b[0];
  }

  bool match(std::span<const ValueId> a, std::span<const ValueId> b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a_[a[i]].type != b_[b[i]].type) return false;
      matched_[a[i].index()] = b[i];
    }
    return true;
  }

  const Function& a_;
  const Function& b_;
  Origins origins_a_;
  Origins origins_b_;
  std::vector<ValueId> matched_;  ///< by value of a: the value of b that takes its place
  std::vector<std::pair<BlockId, BlockId>> waiting_;
};

/// The data types but for the built-in lists, which are made as they are used.
std::vector<std::string> declared(const Module& module) {
  std::vector<std::string> texts;
  for (const Type& type : module.data_types.all()) {
    if (is_built_in(*type.data)) continue;
    std::string text = type.data->name;
    for (const Variant& variant : type.data->variants) {
      text += " | " + variant.name;
      for (const Field& field : variant.fields) text += ", " + field.name + ": " + to_string(field.type);
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace

bool equal(const Module& a, const Module& b) {
  const auto same_parameter = [](const Parameter& x, const Parameter& y) {
    return x.name == y.name && x.type == y.type && x.initial == y.initial && x.placement == y.placement;
  };
  const auto same_request = [](const GradientRequest& x, const GradientRequest& y) {
    return x.function == y.function && x.of == y.of && x.form == y.form;
  };
  if (a.generic_data_types != b.generic_data_types) return false;
  if (!std::equal(a.parameters.begin(), a.parameters.end(), b.parameters.begin(), b.parameters.end(),
                  same_parameter) ||
      !std::equal(a.gradient_requests.begin(), a.gradient_requests.end(), b.gradient_requests.begin(),
                  b.gradient_requests.end(), same_request) ||
      declared(a) != declared(b)) {
    return false;
  }
  const auto same = [](const Function& x, const Function& y) { return Comparison(x, y).run(); };
  return std::equal(a.functions.begin(), a.functions.end(), b.functions.begin(), b.functions.end(), same);
}

}  // namespace hiaton::ir
