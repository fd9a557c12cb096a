#include <algorithm>
#include <utility>

#include "base/check.h"
#include "exec/direct/compile/body_emitter.h"
#include "exec/direct/kernel_table.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

void BodyEmitter::emit_statement(const statements::If& branch) {
  const Conditional& conditional = structure_.conditionals[branch.conditional];
  const uint32_t jump = emit_side_branch(branch);
  for (const Join& join : conditional.joins) define(join.merge);
  const uint64_t before = params_held_;
  emit_side(branch, branch.first);
  if (branch.has_other) {
    params_held_ = before;
    const uint32_t over = emit(Opcode::Jump);
    set_jump(jump, here());
    emit_side(branch, 1 - branch.first);
    set_jump(over, here());
  } else {
    set_jump(jump, here());
  }
}

void BodyEmitter::emit_side(const statements::If& branch, int side) {
  const Conditional& conditional = structure_.conditionals[branch.conditional];
  const statements::If::Side& scheduled = branch.sides[side];
  emit_all(scheduled.statements);
  const Handover& handover = scheduled.leave.handover;
  forget_params(handover.moved);
  emit_retains(handover);
  for (const Join& join : conditional.joins) {
    emit_move(slot_of_.at(join.merge), operand(join.from[side]));
  }
  emit_drops(scheduled.leave.drops);
}

void BodyEmitter::emit_statement(const statements::TailIf& branch) {
  for (int side = 0; side < 2; ++side) {
    if (emit_return_if(branch, side)) return emit_all(branch.sides[1 - side]);
  }
  const uint64_t before = params_held_;
  const uint32_t jump = emit_side_branch(branch);
  emit_all(branch.sides[branch.first]);
  set_jump(jump, here());
  params_held_ = before;
  emit_all(branch.sides[1 - branch.first]);
}

bool BodyEmitter::emit_return_if(const statements::TailIf& branch, int side) {
  if (!branch.only_returns[side]) return false;
  const std::vector<OutPort>& results = std::get<statements::Return>(branch.sides[side].back().what).results;
  const NodeId predicate = structure_.origin(branch.condition.predicate);
  const Node& node = graph_[predicate];
  const std::optional<FastReturnIf> fast = fast_return_if(kernel_of(node));
  if (!fast) return false;
  const FastReturnIf::Forms& forms = side == 0 ? fast->when : fast->when_not;
  const Operand a = operand(node.inputs[0]);
  const Operand b = operand(node.inputs[1]);
  const Operand result = operand(results[0]);
  const Opcode opcode = b.is_constant ? (result.is_constant ? forms.const_const : forms.const_slot)
                                      : (result.is_constant ? forms.slot_const : forms.slot_slot);
  const uint32_t index = emit(opcode, predicate);
  at(index).a = narrow(a.slot);
  if (b.is_constant) {
    at(index).constant = b.constant;
  } else {
    at(index).d = narrow(b.slot);
  }
  if (result.is_constant) {
    at(index).other = result.constant;
  } else {
    at(index).c() = narrow(result.slot);
  }
  return true;
}

/// The two ways of a part of an outlined task: each computes its values into the same slots.
void BodyEmitter::emit_statement(const statements::SplitIf& split) {
  const uint32_t branch = emit_branch(split.condition, false);
  uint32_t over = branch;
  for (const Join& join : split.joins) define(join.merge);
  const uint64_t before = params_held_;
  for (int side = 0; side < 2; ++side) {
    params_held_ = before;
    emit_all(split.sides[side]);
    for (const Join& join : split.joins) emit_move(slot_of_.at(join.merge), operand(join.from[side]));
    emit_drops(split.drops[side]);
    if (side == 0) {
      over = emit(Opcode::Jump);
      set_jump(branch, here());
    }
  }
  set_jump(over, here());
}

void BodyEmitter::emit_statement(const statements::Loop& scheduled) {
  const LoopShape& loop = structure_.loops[scheduled.loop.index()];
  forget_params(scheduled.initial.moved);
  emit_retains(scheduled.initial);
  for (const LoopShape::Variable& variable : loop.variables) {
    const Operand initial = operand(graph_[variable.enter].inputs[0]);
    emit_move(define(variable.merge), initial);
  }
  emit_drops(scheduled.before);
  std::vector<uint32_t> to_end;
  if (scheduled.window != nullptr) emit_window(scheduled, to_end);
  if (scheduled.condition_first) {
    emit_condition_first(scheduled);
  } else {
    emit_body_first(scheduled);
  }
  for (uint32_t jump : to_end) set_jump(jump, here());
  emit_drops(scheduled.after);
}

void BodyEmitter::emit_body_first(const statements::Loop& scheduled) {
  const uint32_t to_condition = emit(Opcode::Jump);
  const uint32_t top = here();
  emit_loop_body(scheduled);
  set_jump(to_condition, here());
  emit_all(scheduled.condition);
  const uint32_t back = emit_branch(scheduled.predicate, true);
  set_jump(back, top);
}

void BodyEmitter::emit_condition_first(const statements::Loop& scheduled) {
  const uint32_t top = here();
  emit_all(scheduled.condition);
  const uint32_t leave = emit_branch(scheduled.predicate, false);
  const uint64_t at_end = params_held_;
  emit_loop_body(scheduled);
  const uint32_t back = emit(Opcode::JumpBack);
  set_jump(back, top);
  set_jump(leave, here());
  params_held_ = at_end;
  emit_drops(scheduled.at_end);
}

void BodyEmitter::emit_loop_body(const statements::Loop& scheduled) {
  const LoopShape& loop = structure_.loops[scheduled.loop.index()];
  emit_all(scheduled.body);
  const Handover& handover = scheduled.next.handover;
  forget_params(handover.moved);
  emit_retains(handover);
  emit_drops(scheduled.next.drops);  // before the slots of the variables get their next values
  emit_next_values(loop);
}

void BodyEmitter::emit_next_values(const LoopShape& loop) {
  std::vector<Move> moves;
  for (const LoopShape::Variable& variable : loop.variables) {
    moves.push_back({slot_of_.at(variable.merge), operand(graph_[variable.next].inputs[0])});
  }
  emit_moves(std::move(moves));
}

}  // namespace hiaton::exec::direct
