// fold_constants. Its rules:
//   op(constants)                        -> the constant that the kernel gives, unless it gives a Fault
//   an identity (identities.h)           -> the simpler form
//   x << k | x >>> (width of x - k)      -> x rotated left by k
//   if constant then a else b            -> the branch that is taken
//   c, on the sides of `if c`            -> true on one, false on the other; so is what follows from it:
//                                           a of `not a`, both of an `and` that holds, and of an `or`
//                                           that does not
//   if c then true else false            -> c;  if c then false else true -> not c
//   if c then x else x                   -> x, result by result
//   while false (from the start) do ...  -> the initial state, after the condition's other nodes
#include <algorithm>

#include "hiaton/passes.h"
#include "passes/effects.h"
#include "passes/identities.h"
#include "passes/rewrite.h"
#include "passes/simplifications.h"

namespace hiaton::passes {
namespace {

using ir::NodeKind;

class Fold : public Rewriter {
 public:
  Fold(const ir::Function& function, OverflowMode overflow)
      : definitions_(function),
        overflow_(overflow),
        not_(*catalog().find("not")),
        and_(*catalog().find("and")),
        or_(*catalog().find("or")),
        sub_(*catalog().find("sub")),
        bits_of_either_(*catalog().find("bitwise_or")),
        left_shift_(*catalog().find("bitwise_left_shift")),
        logical_right_shift_(*catalog().find("bitwise_logical_right_shift")),
        rotate_left_(*catalog().find("bitwise_rotate_left")) {}

 protected:
  void visit(const ir::Node& node) override {
    switch (node.kind) {
      case NodeKind::Op:
        return visit_op(node);
      case NodeKind::If:
        return visit_if(node);
      case NodeKind::While:
        return visit_while(node);
      case NodeKind::Const:
      case NodeKind::Param:
      case NodeKind::Call:
      case NodeKind::Resume:
      case NodeKind::Accumulate:
        return emit_copy(node);
    }
  }

 private:
  /// Whether it works on scalars only.
  bool is_scalar(const ir::Node& node) const {
    return !node.operands.empty() && old()[node.results[0]].type.is_scalar() &&
           std::all_of(node.operands.begin(), node.operands.end(),
                       [&](ir::ValueId id) { return old()[id].type.is_scalar(); });
  }

  void visit_op(const ir::Node& node) {
    if (!is_scalar(node)) return emit_copy(node);
    if (const std::optional<Value> value = computed(node)) {
      return map(node.results[0], emit_constant(*value, node));
    }
    const KnownOperand a = known(mapped(node.operands[0]));
    const KnownOperand b = node.operands.size() > 1 ? known(mapped(node.operands[1])) : a;
    const DType dtype = made()[a.id].type.dtype;
    const std::optional<Simpler> simpler =
        simpler_form(*node.op, dtype, old()[node.results[0]].type.dtype, a, b);
    if (!simpler) return is_rotation(node, a, b) ? emit_rotation(node, a, b) : emit_copy(node);
    if (const auto* value = std::get_if<ir::ValueId>(&*simpler)) map(node.results[0], *value);
    if (const auto* value = std::get_if<Value>(&*simpler)) map(node.results[0], emit_constant(*value, node));
    if (const auto* negated = std::get_if<Negated>(&*simpler)) emit_not(negated->operand, node, 0);
  }

  /// Shifts take their counts modulo the width, so for k = 0 both are x, and so is x rotated by it.
  bool is_rotation(const ir::Node& node, const KnownOperand& a, const KnownOperand& b) const {
    if (node.op != &bits_of_either_ || a.definition == nullptr || b.definition == nullptr) return false;
    if (b.definition->op == &left_shift_) return is_rotation(*b.definition, *a.definition);
    return is_rotation(*a.definition, *b.definition);
  }

  bool is_rotation(const ir::Node& left, const ir::Node& right) const {
    if (left.op != &left_shift_ || right.op != &logical_right_shift_) return false;
    if (left.operands[0] != right.operands[0]) return false;
    const auto width = static_cast<int64_t>(8 * size_of(made()[left.operands[0]].type.dtype));
    const KnownOperand up = known(left.operands[1]);
    const KnownOperand down = known(right.operands[1]);
    if (up.constant != nullptr && down.constant != nullptr)
      return (integer(*up.constant) % width + integer(*down.constant) % width) % width == 0;
    if (down.definition == nullptr || down.definition->op != &sub_) return false;
    const Value* from = constant(down.definition->operands[0]);
    return from != nullptr && integer(*from) % width == 0 && down.definition->operands[1] == up.id;
  }

  static int64_t integer(const Value& value) {
    if (value.dtype() == DType::U8) return value.as<uint8_t>();
    return value.dtype() == DType::I32 ? value.as<int32_t>() : value.as<int64_t>();
  }

  void emit_rotation(const ir::Node& node, const KnownOperand& a, const KnownOperand& b) {
    const ir::Node& left = a.definition->op == &left_shift_ ? *a.definition : *b.definition;
    const ir::ValueId rotated = emit({.kind = NodeKind::Op,
                                      .op = &rotate_left_,
                                      .operands = left.operands,
                                      .span = node.span,
                                      .placement = node.placement},
                                     old()[node.results[0]].type);
    map(node.results[0], rotated);
  }

  KnownOperand known(ir::ValueId value) const { return {value, known_value(value), definition(value)}; }

  /// The constant that the new value is where the open block runs; nullptr where that is not known.
  const Value* known_value(ir::ValueId value) const {
    const bool is_decided = value.index() < decision_.size() && decision_[value.index()] != nullptr;
    return is_decided ? decision_[value.index()] : constant(value);
  }

  std::optional<Value> computed(const ir::Node& node) const {
    std::vector<Slot> operands;
    for (const ir::ValueId operand : node.operands) {
      const Value* value = known_value(mapped(operand));
      if (value == nullptr) return std::nullopt;
      operands.push_back(value->slot());
    }
    const KernelVariant* kernels = node.op->find_kernel(old()[node.operands[0]].type.dtype);
    if (kernels == nullptr) return std::nullopt;
    const Kernel kernel = overflow_ == OverflowMode::Trap ? kernels->trap : kernels->wrap;
    Slot result;
    if (kernel(operands.data(), &result) != Fault::None) return std::nullopt;
    return Value(old()[node.results[0]].type.dtype, result);
  }

  void emit_not(ir::ValueId operand, const ir::Node& instead_of, std::size_t result) {
    const ir::ValueId negated = emit({.kind = NodeKind::Op,
                                      .op = &not_,
                                      .operands = {operand},
                                      .span = instead_of.span,
                                      .placement = instead_of.placement},
                                     DType::Bool);
    map(instead_of.results[result], negated);
  }

  void visit_if(const ir::Node& node) {
    const ir::ValueId condition = mapped(node.operands[0]);
    if (const Value* known = known_value(condition)) {
      const ir::BlockId taken = node.blocks[known->as<bool>() ? 0 : 1];
      visit_nodes(taken);
      return map_all(node.results, mapped(old()[taken].results));
    }
    ir::Node branch = copy_without_blocks(node);
    for (std::size_t side = 0; side < 2; ++side) {
      const std::size_t outside = decided_.size();
      decide(condition, side == 0);
      branch.blocks.push_back(rebuild(node.blocks[side]));
      for (; decided_.size() > outside; decided_.pop_back()) decision_[decided_.back().index()] = nullptr;
    }
    emit(std::move(branch), node.results);
    for (std::size_t i = 0; i < node.results.size(); ++i) simplify_result(node, condition, i);
  }

  /// Takes note of what a condition is on a side of its branch, and of what follows.
  void decide(ir::ValueId condition, bool value) {
    static const Value is_true(true);
    static const Value is_false(false);
    if (known_value(condition) != nullptr) return;
    decision_.resize(std::max(decision_.size(), condition.index() + 1));
    decision_[condition.index()] = value ? &is_true : &is_false;
    decided_.push_back(condition);
    const ir::Node* const node = definition(condition);
    if (node == nullptr || node->kind != NodeKind::Op) return;
    if (node->op == &not_) return decide(node->operands[0], !value);
    if (node->op != (value ? &and_ : &or_)) return;
    for (const ir::ValueId operand : node->operands) decide(operand, value);
  }

  void simplify_result(const ir::Node& node, ir::ValueId condition, std::size_t index) {
    const ir::ValueId then = old()[node.blocks[0]].results[index];
    const ir::ValueId otherwise = old()[node.blocks[1]].results[index];
    if (then == otherwise) return map(node.results[index], mapped(then));
    const Value* then_value = definitions_.constant(then);
    const Value* else_value = definitions_.constant(otherwise);
    if (then_value == nullptr || else_value == nullptr) return;
    if (*then_value == *else_value) {
      map(node.results[index], emit_constant(*then_value, node, index));
    } else if (*then_value == Value(true)) {
      map(node.results[index], condition);
    } else if (*then_value == Value(false)) {
      emit_not(condition, node, index);
    }
  }

  void visit_while(const ir::Node& node) {
    const ir::Block& condition = old()[node.blocks[0]];
    const Value* known = definitions_.constant(condition.results[0]);
    if (known == nullptr || known->as<bool>()) return emit_copy(node);
    const std::vector<ir::ValueId> initial = mapped(node.operands);
    map_all(condition.params, initial);
    visit_nodes(node.blocks[0]);
    map_all(node.results, initial);
  }

  void map_all(std::span<const ir::ValueId> old_values, std::span<const ir::ValueId> new_values) {
    for (std::size_t i = 0; i < old_values.size(); ++i) map(old_values[i], new_values[i]);
  }

  Definitions definitions_;
  OverflowMode overflow_;
  std::vector<ir::ValueId> decided_;    ///< by the branches around the open block
  std::vector<const Value*> decision_;  ///< by new value: what it is there; null where that is not decided
  const OpDef& not_;
  const OpDef& and_;
  const OpDef& or_;
  const OpDef& sub_;
  const OpDef& bits_of_either_;
  const OpDef& left_shift_;
  const OpDef& logical_right_shift_;
  const OpDef& rotate_left_;
};

}  // namespace

void fold_constants_in(ir::Function& function, OverflowMode overflow) {
  function = Fold(function, overflow).rewrite(function);
}

ir::Module fold_constants(ir::Module module, OverflowMode overflow) {
  for (ir::Function& function : module.functions) {
    if (function.body.valid()) fold_constants_in(function, overflow);
  }
  return module;
}

}  // namespace hiaton::passes
