#include <algorithm>

#include "base/check.h"
#include "exec/direct/compile/body_emitter.h"
#include "exec/direct/compile/operation_kinds.h"
#include "exec/direct/kernel_table.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

void BodyEmitter::emit_statement(const statements::Compute& compute) {
  if (compute.where != statements::Compute::Where::Here) return;
  const NodeId id = compute.node;
  if (emit_string_read(id)) return;
  if (is_tensor_operation(graph_, structure_, graph_[id])) return emit_tensor_op(compute);
  if (emit_data_op(compute)) return;
  const Node& node = graph_[id];
  const Kernel kernel = kernel_of(node);
  HIATON_CHECK(node.inputs.size() <= 3);
  const auto held = held_operands(graph_, structure_, node, context_.options.overflow);
  Operand a = operand(node.inputs[0]);
  const Operand b = node.inputs.size() > 1 ? operand(node.inputs[1]) : Operand();
  const std::optional<FastBinary> binary = node.inputs.size() == 2 ? fast_binary(kernel) : std::nullopt;
  const std::optional<Opcode> unary = node.inputs.size() == 1 ? fast_unary(kernel) : std::nullopt;
  if (!held[0]) a = {false, Slot(), in_slot(a)};
  uint16_t b_slot = 0;
  if (node.inputs.size() >= 2 && !held[1]) b_slot = in_slot(b);
  uint16_t c_slot = 0;
  if (node.inputs.size() == 3) c_slot = in_slot(operand(node.inputs[2]));

  Opcode opcode = node.inputs.size() == 1   ? unary.value_or(Opcode::Apply1)
                  : node.inputs.size() == 2 ? Opcode::Apply2
                                            : Opcode::Apply3;
  if (binary)
    opcode = a.is_constant ? binary->const_slot : b.is_constant ? binary->slot_const : binary->slot_slot;
  const uint32_t index = emit(opcode, id);
  at(index).a = a.is_constant ? 0 : narrow(a.slot);
  if (binary && (a.is_constant || b.is_constant)) {
    at(index).b() = b_slot;
    at(index).constant = a.is_constant ? a.constant : b.constant;
  } else {
    at(index).b() = b_slot;
    at(index).c() = c_slot;
    at(index).kernel = kernel;
  }
  at(index).d = narrow(define(id));
}

uint32_t BodyEmitter::emit_branch(const Condition& condition, bool is_loop) {
  const NodeId value = structure_.origin(condition.predicate);
  switch (condition.kind) {
    case Condition::Kind::Variant:
      return emit_variant_branch(condition.test);
    case Condition::Kind::Comparison:
      return emit_comparison_branch(value, is_loop);
    case Condition::Kind::Both: {
      const uint32_t first = emit_comparison_branch(graph_[value].inputs[0].node, false);
      also_jumps_[first] = emit_comparison_branch(graph_[value].inputs[1].node, false);
      return first;
    }
    case Condition::Kind::Value:
      break;
  }
  const uint16_t slot = in_slot(operand(condition.predicate));
  const uint32_t branch = emit(is_loop ? Opcode::LoopTrue : Opcode::BranchFalse);
  at(branch).a = slot;
  return branch;
}

uint32_t BodyEmitter::emit_comparison_branch(NodeId value, bool is_loop) {
  const Node& node = graph_[value];
  const FastBranch fast = *fast_branch(kernel_of(node));
  const Operand a = operand(node.inputs[0]);
  const Operand b = operand(node.inputs[1]);
  const uint32_t branch = emit(b.is_constant ? (is_loop ? fast.while_const : fast.unless_const)
                                             : (is_loop ? fast.while_slot : fast.unless_slot),
                               value);
  at(branch).a = narrow(a.slot);
  if (b.is_constant) {
    at(branch).constant = b.constant;
  } else {
    at(branch).d = narrow(b.slot);
  }
  return branch;
}

}  // namespace hiaton::exec::direct
