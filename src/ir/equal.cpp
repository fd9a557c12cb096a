#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "hiaton/ir.h"

namespace hiaton::ir {
namespace {

bool is_nan(const Value& value) {
  return (value.dtype() == DType::F32 && std::isnan(value.as<float>())) ||
         (value.dtype() == DType::F64 && std::isnan(value.as<double>()));
}

bool same_constant(const Value& a, const Value& b) {
  return a == b || (a.dtype() == b.dtype() && is_nan(a) && is_nan(b));
}

/// What the values of a function are, as far as comparing needs it.
class Constants {
 public:
  explicit Constants(const Function& function) : by_value_(function.values.size(), nullptr) {
    for (const Node& node : function.nodes) {
      if (node.kind == NodeKind::Const) by_value_[node.results[0].index()] = &node.constant;
    }
  }
  /// nullptr where the value is computed.
  const Value* find(ValueId id) const { return by_value_[id.index()]; }

 private:
  std::vector<const Value*> by_value_;
};

/// Walks two functions side by side. Blocks wait in a list, so that deep nesting needs no deep recursion; the
/// values of a block are matched before the blocks inside it are compared.
class Comparison {
 public:
  Comparison(const Function& a, const Function& b)
      : a_(a), b_(b), constants_a_(a), constants_b_(b), matched_(a.values.size()) {}

  bool run() {
    if (!same_signature()) return false;
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
    return a_.name == b_.name && a_.placement == b_.placement && a_.results == b_.results &&
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
      if (function[id].kind != NodeKind::Const) nodes.push_back(id);
    }
    return nodes;
  }

  bool same_node(const Node& a, const Node& b) {
    if (a.kind != b.kind || a.op != b.op || a.callee != b.callee || a.placement != b.placement) return false;
    if (a.blocks.size() != b.blocks.size() || !same_values(a.operands, b.operands)) return false;
    for (std::size_t i = 0; i < a.blocks.size(); ++i) waiting_.emplace_back(a.blocks[i], b.blocks[i]);
    return match(a.results, b.results);
  }

  bool same_values(const std::vector<ValueId>& a, const std::vector<ValueId>& b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](ValueId x, ValueId y) {
      const Value* constant_x = constants_a_.find(x);
      const Value* constant_y = constants_b_.find(y);
      if (constant_x == nullptr || constant_y == nullptr) return matched_[x.index()] == y;
      return same_constant(*constant_x, *constant_y);
    });
  }

  bool match(const std::vector<ValueId>& a, const std::vector<ValueId>& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a_[a[i]].type != b_[b[i]].type) return false;
      matched_[a[i].index()] = b[i];
    }
    return true;
  }

  const Function& a_;
  const Function& b_;
  Constants constants_a_;
  Constants constants_b_;
  std::vector<ValueId> matched_;  ///< by value of a: the value of b that takes its place
  std::vector<std::pair<BlockId, BlockId>> waiting_;
};

}  // namespace

bool equal(const Module& a, const Module& b) {
  const auto same = [](const Function& x, const Function& y) { return Comparison(x, y).run(); };
  return std::equal(a.functions.begin(), a.functions.end(), b.functions.begin(), b.functions.end(), same);
}

}  // namespace hiaton::ir
