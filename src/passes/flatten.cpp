// flatten_logic. Its rule: a branch of a condition that is cheap and harmless is computed always, so that
//   if a then b else false -> and(a, b)      if a then true else b -> or(a, b)
// Harmless: nothing in b may fail or run on forever. Cheap: at most kCheapNodes operations.
#include <algorithm>

#include "hiaton/passes.h"
#include "passes/effects.h"
#include "passes/rewrite.h"
#include "passes/simplifications.h"

namespace hiaton::passes {
namespace {

using ir::NodeKind;

constexpr std::size_t kCheapNodes = 8;

class Flatten : public Rewriter {
 public:
  Flatten(const ir::Function& function, OverflowMode overflow)
      : definitions_(function), overflow_(overflow), block_costs_(function.blocks.size(), kUnknown) {}

  bool finds_any(const ir::Function& function) {
    return std::any_of(function.nodes.begin(), function.nodes.end(),
                       [&](const ir::Node& node) { return form_of(node).op != nullptr; });
  }

 protected:
  void visit(const ir::Node& node) override {
    const Form form = form_of(node);
    if (form.op == nullptr) return emit_copy(node);
    const ir::ValueId condition = mapped(node.operands[0]);
    visit_nodes(form.computed);
    const ir::ValueId other = mapped(old()[form.computed].results[0]);
    emit({.kind = NodeKind::Op, .op = form.op, .operands = {condition, other}, .span = node.span},
         node.results);
  }

 private:
  static constexpr std::size_t kUnknown = static_cast<std::size_t>(-1);
  static constexpr std::size_t kTooMuch = kCheapNodes + 1;

  /// `op(condition, computed)` stands for the If; null where it cannot.
  struct Form {
    const OpDef* op = nullptr;
    ir::BlockId computed{};
  };

  Form form_of(const ir::Node& node) {
    if (node.kind != NodeKind::If || node.results.size() != 1 || !node.placement.empty()) return {};
    const auto [then, otherwise] = std::pair(node.blocks[0], node.blocks[1]);
    if (is_just(otherwise, false) && cost(then) < kTooMuch) return {and_, then};
    if (is_just(then, true) && cost(otherwise) < kTooMuch) return {or_, otherwise};
    return {};
  }

  /// Whether the block's result is this constant, and it has no nodes that matter beside.
  bool is_just(ir::BlockId id, bool expected) {
    const Value* value = definitions_.constant(function()[id].results[0]);
    return value != nullptr && *value == Value(expected) && cost(id) < kTooMuch;
  }

  /// How many operations the block takes without a branch; kTooMuch also where it must keep one.
  std::size_t cost(ir::BlockId id) {
    std::size_t& known = block_costs_[id.index()];
    if (known != kUnknown) return known;
    std::size_t sum = 0;
    for (const ir::NodeId node : function()[id].nodes) sum += cost(function()[node]);
    return known = std::min(sum, kTooMuch);
  }

  std::size_t cost(const ir::Node& node) {
    if (node.kind == NodeKind::Const) return 0;
    if (!node.placement.empty()) return kTooMuch;
    if (node.kind == NodeKind::Op && node.op->fusion.value == Fusion::Data) return kTooMuch;
    if (node.kind == NodeKind::Op) return may_fail(definitions_, node, overflow_) ? kTooMuch : 1;
    const Form form = form_of(node);
    return form.op == nullptr ? kTooMuch : 1 + cost(form.computed);
  }

  const ir::Function& function() const { return definitions_.function(); }

  Definitions definitions_;
  OverflowMode overflow_;
  std::vector<std::size_t> block_costs_;
  const OpDef* and_ = catalog().find("and");
  const OpDef* or_ = catalog().find("or");
};

}  // namespace

void flatten_logic_in(ir::Function& function, OverflowMode overflow) {
  Flatten flatten(function, overflow);
  if (flatten.finds_any(function)) function = flatten.rewrite(function);
}

ir::Module flatten_logic(ir::Module module, OverflowMode overflow) {
  for (ir::Function& function : module.functions) {
    if (function.body.valid()) flatten_logic_in(function, overflow);
  }
  return module;
}

}  // namespace hiaton::passes
