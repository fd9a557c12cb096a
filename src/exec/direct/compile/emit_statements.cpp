#include "exec/direct/compile/body_emitter.h"
#include "exec/direct/compile/operation_kinds.h"
#include "exec/direct/kernel_table.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

void BodyEmitter::emit_all(const Statements& statements) {
  for (const Statement& statement : statements) {
    with_slots(statement.slots.at(place_),
               [&] { std::visit([&](const auto& what) { emit_statement(what); }, statement.what); });
  }
}

void BodyEmitter::emit_statement(const statements::Count& count) {
  const auto [known, is_new] = context_.region_of.try_emplace(count.block, context_.region_blocks.size());
  if (is_new) context_.region_blocks.push_back(count.block);
  const uint32_t index = emit(Opcode::Count);
  at(index).number = known->second;
}

void BodyEmitter::emit_statement(const statements::GroupBegins& begins) {
  sequential_.group_starts[begins.group] = here();
}

void BodyEmitter::emit_statement(const statements::Return& ends) {
  if (ends.operation.valid()) return emit_returned_operation(ends.operation);
  const std::vector<graph::OutPort>& results = ends.results;
  std::vector<Operand> operands;
  for (OutPort result : results) operands.push_back(operand(result));
  // Constants get slots of their own before those of what moves are free.
  ReturnList list;
  if (results.size() != 1) {
    for (const Operand& result : operands) list.slots.push_back(in_slot(result));
  }
  emit_leave(ends.leave);
  if (hole_slot_ != kNoSlot) {
    const uint16_t slot = in_slot(operands[0]);
    const uint32_t index = emit(Opcode::ReturnToHole);
    at(index).a = narrow(hole_slot_);
    at(index).b() = slot;
    return;
  }
  if (results.size() == 1) {
    const Operand result = operands[0];
    if (!result.is_constant && fuse_return_of_make(result.slot)) return;
    const uint32_t index = emit(result.is_constant ? Opcode::ReturnConst : Opcode::Return1);
    if (result.is_constant) {
      at(index).constant = result.constant;
    } else {
      at(index).a = narrow(result.slot);
    }
    return;
  }
  plan_.return_lists.push_back(std::move(list));
  const uint32_t index = emit(Opcode::ReturnN);
  at(index).returns = &plan_.return_lists.back();
}

void BodyEmitter::emit_returned_operation(NodeId value) {
  const Node& node = graph_[value];
  const FastReturn fast = *fast_return(kernel_of(node));
  const Operand a = operand(node.inputs[0]);
  const Operand b = operand(node.inputs[1]);
  if (fuse_sum(a, b, b.is_constant ? fast.slot_const : fast.slot_slot)) return;
  const uint32_t index = emit(b.is_constant ? fast.slot_const : fast.slot_slot, value);
  at(index).a = narrow(a.slot);
  if (b.is_constant) {
    at(index).constant = b.constant;
  } else {
    at(index).b() = narrow(b.slot);
  }
}

/// The sum of two slots and a constant, one of whose additions stands just before.
bool BodyEmitter::fuse_sum(const Operand& a, const Operand& b, Opcode returning) {
  const uint32_t last = here() - 1;
  Opcode& before = plan_.opcodes[last];
  if (last_label_ == here() || at(last).d != a.slot) return false;
  if (before == Opcode::AddI64_SlotSlot && returning == Opcode::ReturnAddI64_SlotConst) {
    at(last).constant = b.constant;
  } else if (before == Opcode::AddI64_SlotConst && returning == Opcode::ReturnAddI64_SlotSlot &&
             b.slot != a.slot) {
    at(last).b() = narrow(b.slot);
  } else {
    return false;
  }
  before = Opcode::ReturnSum;
  return true;
}

}  // namespace hiaton::exec::direct
