// merge_common. Its rule: a node that computes what another node already computed, on the same operands (in
// either order where the operation is commutative) and at the same placement, becomes that node's results.
// The other node stands earlier in the same block or in a block around it, so it has run whenever this one
// would. Calls take part only where the callee can neither fail nor run on forever; branches and loops never.
#include <algorithm>
#include <functional>
#include <string_view>
#include <unordered_map>

#include "hiaton/passes.h"
#include "passes/effects.h"
#include "passes/rewrite.h"

namespace hiaton::passes {
namespace {

using ir::NodeKind;

/// All that two nodes must share to be one. Operands are numbers of values: equal constants share one, though
/// each block keeps constants of its own (a constant needs no edge from the block around).
struct Expression {
  NodeKind kind;
  const OpDef* op;
  ir::FunctionId callee;
  Value constant;
  ir::BlockId block;  ///< Const only
  std::string_view placement;
  std::vector<ir::ValueId> operands;

  friend bool operator==(const Expression&, const Expression&) = default;
};

struct ExpressionHash {
  std::size_t operator()(const Expression& expression) const {
    std::size_t hash = static_cast<std::size_t>(expression.kind);
    const auto mix = [&](std::size_t part) { hash = (hash ^ part) * 0x9E3779B97F4A7C15u; };
    mix(std::hash<const OpDef*>{}(expression.op));
    mix(expression.callee.value);
    mix(expression.constant.slot().bits);
    mix(static_cast<std::size_t>(expression.constant.dtype()));
    mix(expression.block.value);
    mix(std::hash<std::string_view>{}(expression.placement));
    for (const ir::ValueId operand : expression.operands) mix(operand.value);
    return hash ^ (hash >> 32);
  }
};

class MergeCommon : public Rewriter {
 public:
  MergeCommon(const ir::Function& function, const Effects& effects)
      : definitions_(function), effects_(effects) {}

 protected:
  void visit(const ir::Node& node) override {
    if (!may_merge(node)) return emit_copy(node);
    const auto [known, is_new] = results_.try_emplace(expression(node));
    if (!is_new) {
      for (std::size_t i = 0; i < node.results.size(); ++i) map(node.results[i], known->second[i]);
      return;
    }
    emit_copy(node);
    known->second = mapped(node.results);
    scopes_.back().push_back(&known->first);
    if (node.kind == NodeKind::Const) number_constant(node.constant, known->second[0]);
  }

  void block_begins() override { scopes_.emplace_back(); }
  void block_ends() override {
    for (const Expression* expression : scopes_.back()) results_.erase(results_.find(*expression));
    scopes_.pop_back();
  }

 private:
  bool may_merge(const ir::Node& node) const {
    switch (node.kind) {
      case NodeKind::Const:
      case NodeKind::Op:
        return true;
      case NodeKind::Call:
        return !effects_.may_fail_or_diverge(definitions_, node);
      case NodeKind::If:
      case NodeKind::While:
        return false;
    }
    return false;
  }

  Expression expression(const ir::Node& node) const {
    Expression expression{.kind = node.kind,
                          .op = node.op,
                          .callee = node.callee,
                          .constant = node.kind == NodeKind::Const ? node.constant : Value(),
                          .block = node.kind == NodeKind::Const ? open_block() : ir::BlockId(),
                          .placement = node.placement,
                          .operands = mapped(node.operands)};
    for (ir::ValueId& operand : expression.operands) operand = number(operand);
    const bool any_order = node.kind == NodeKind::Op && node.op->algebra.value == Algebra::Commutative;
    if (any_order) std::sort(expression.operands.begin(), expression.operands.end());
    return expression;
  }

  void number_constant(Value value, ir::ValueId id) {
    const Expression any_block{.kind = NodeKind::Const,
                               .op = nullptr,
                               .callee = {},
                               .constant = value,
                               .block = {},
                               .placement = {},
                               .operands = {}};
    numbers_[id] = constant_numbers_.try_emplace(any_block, id).first->second;
  }

  ir::ValueId number(ir::ValueId value) const {
    const auto found = numbers_.find(value);
    return found == numbers_.end() ? value : found->second;
  }

  Definitions definitions_;
  const Effects& effects_;
  std::unordered_map<Expression, std::vector<ir::ValueId>, ExpressionHash> results_;
  std::vector<std::vector<const Expression*>> scopes_;  ///< what each open block added to results_
  std::unordered_map<Expression, ir::ValueId, ExpressionHash> constant_numbers_;
  std::unordered_map<ir::ValueId, ir::ValueId> numbers_;  ///< of constants; other values number themselves
};

}  // namespace

ir::Module merge_common(const ir::Module& module, OverflowMode overflow) {
  const Effects effects(module, overflow);
  return rewrite_functions(module,
                           [&](const ir::Function& function) { return MergeCommon(function, effects); });
}

}  // namespace hiaton::passes
