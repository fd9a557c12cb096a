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
  for (const Join& join : conditional.joins) define(join.merge, result_slot(join.merge));
  const uint64_t before = params_held_;
  open_branch();
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
  close_branch();
  for (const Join& join : conditional.joins) give_back_if_unread(join.merge);
}

void BodyEmitter::emit_side(const statements::If& branch, int side) {
  const Conditional& conditional = structure_.conditionals[branch.conditional];
  const statements::If::Side& scheduled = branch.sides[side];
  for (const Join& join : conditional.joins) {
    const NodeId value = structure_.origin(join.from[side]);
    const bool computed_here =
        structure_.block_of[value.index()] == conditional.sides[side] && is_single_result(value);
    if (computed_here && context_.lifetimes.reads[value.index()] == 1)
      wanted_in_[value] = slot_of_.at(join.merge);
  }
  emit_all(scheduled.statements);
  const Handover& handover = scheduled.leave.handover;
  forget_params(handover.moved);
  emit_retains(handover);
  for (const Join& join : conditional.joins) {
    emit_move(slot_of_.at(join.merge), operand(join.from[side]));
    release(join.from[side]);
  }
  free_moved(handover);
  emit_drops(scheduled.leave.drops);
}

bool BodyEmitter::is_single_result(NodeId value) const {
  const Node& node = graph_[value];
  if (node.kind == NodeKind::Return) return graph_[node.site].returns.size() == 1;
  if (node.kind == NodeKind::Merge) return !is_param(value);
  return node.kind == NodeKind::Op;
}

void BodyEmitter::emit_statement(const statements::TailIf& branch) {
  const auto emit_last_side = [&](int side) {
    emit_all(branch.sides[side]);
    parked_.pop_back();
    --depth_;
  };
  open_branch();
  for (int side = 0; side < 2; ++side) {
    if (emit_return_if(branch, side)) return emit_last_side(1 - side);
  }
  const uint64_t before = params_held_;
  const uint32_t jump = emit_side_branch(branch);
  emit_all(branch.sides[branch.first]);
  set_jump(jump, here());
  params_held_ = before;
  emit_last_side(1 - branch.first);
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
  for (OutPort input : node.inputs) release(input);
  return true;
}

/// The two ways of a part of an outlined task: each computes its values into the same slots.
void BodyEmitter::emit_statement(const statements::SplitIf& split) {
  const uint32_t branch = emit_branch(split.condition, false);
  uint32_t over = branch;
  for (const Join& join : split.joins) define(join.merge, take_slot());
  const uint64_t before = params_held_;
  open_branch();
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
  close_branch();
  set_jump(over, here());
}

void BodyEmitter::emit_statement(const statements::Loop& scheduled) {
  const LoopShape& loop = structure_.loops[scheduled.loop.index()];
  std::vector<OutPort> initial;
  for (const LoopShape::Variable& variable : loop.variables) {
    initial.push_back(graph_[variable.enter].inputs[0]);
  }
  forget_params(scheduled.initial.moved);
  emit_retains(scheduled.initial);
  for (std::size_t i = 0; i < initial.size(); ++i) {
    const uint32_t slot = take_slot();
    emit_move(slot, operand(initial[i]));
    define(loop.variables[i].merge, slot);
  }
  for (OutPort port : initial) release(port);
  free_moved(scheduled.initial);
  for (const LoopShape::Variable& variable : loop.variables) {
    // The slot is the loop's, whatever becomes of a value in it.
    if (is_data(variable.merge)) shares_slot_.insert(variable.merge);
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
  for (const LoopShape::Variable& variable : loop.variables) {
    if (is_data(variable.merge)) shares_slot_.erase(variable.merge);
  }
  emit_drops(scheduled.after);
  for (NodeId value : context_.lifetimes.kept_through[scheduled.loop.index()]) release_value(value);
  for (const LoopShape::Variable& variable : loop.variables) release_value(variable.merge);
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
  frees_slots_ = false;  // the body has freed them
  emit_drops(scheduled.at_end);
  frees_slots_ = true;
}

void BodyEmitter::emit_loop_body(const statements::Loop& scheduled) {
  const LoopShape& loop = structure_.loops[scheduled.loop.index()];
  for (const LoopShape::Variable& variable : loop.variables) {
    body_of_variable_[variable.merge] = true;
    const NodeId next = structure_.origin(graph_[variable.next].inputs[0]);
    const bool computed_here =
        graph_[next].kind == NodeKind::Op && structure_.block_of[next.index()] == loop.body;
    if (computed_here && context_.lifetimes.reads[next.index()] == 1) next_of_[next] = variable.merge;
  }
  open_branch();
  emit_all(scheduled.body);
  const Handover& handover = scheduled.next.handover;
  forget_params(handover.moved);
  emit_retains(handover);
  emit_drops(scheduled.next.drops);  // before the slots of the variables get their next values
  emit_next_values(loop);
  free_moved(handover);
  close_branch();
  for (const LoopShape::Variable& variable : loop.variables) body_of_variable_[variable.merge] = false;
}

void BodyEmitter::emit_next_values(const LoopShape& loop) {
  std::vector<Move> moves;
  for (const LoopShape::Variable& variable : loop.variables) {
    moves.push_back({slot_of_.at(variable.merge), operand(graph_[variable.next].inputs[0])});
  }
  emit_moves(std::move(moves));
  for (const LoopShape::Variable& variable : loop.variables) release(graph_[variable.next].inputs[0]);
}

void BodyEmitter::emit_moves(std::vector<Move> moves) {
  std::erase_if(moves, [](const Move& move) { return !move.from.is_constant && move.from.slot == move.to; });
  std::unordered_map<uint32_t, std::vector<std::size_t>> readers;  ///< by slot: moves that still need it
  std::unordered_map<uint32_t, std::size_t> writer;                ///< by slot: the move into it
  for (std::size_t i = 0; i < moves.size(); ++i) {
    if (!moves[i].from.is_constant) readers[moves[i].from.slot].push_back(i);
    writer[moves[i].to] = i;
  }
  std::vector<bool> done(moves.size(), false);
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    if (!readers.contains(moves[i].to)) ready.push_back(i);
  }
  std::vector<uint32_t> asides;
  for (std::size_t first = 0; first < moves.size(); ++first) {
    if (ready.empty() && !done[first]) {  // only cycles are left: keep one old value aside
      asides.push_back(take_slot());
      const uint32_t broken = moves[first].to;
      emit_move(asides.back(), {false, Slot(), broken});
      for (std::size_t reader : readers[broken]) moves[reader].from.slot = asides.back();
      readers.erase(broken);
      ready.push_back(first);
    }
    while (!ready.empty()) {
      const std::size_t i = ready.back();
      ready.pop_back();
      emit_move(moves[i].to, moves[i].from);
      done[i] = true;
      if (moves[i].from.is_constant) continue;
      const auto found = readers.find(moves[i].from.slot);
      if (found == readers.end()) continue;
      std::erase(found->second, i);
      if (!found->second.empty()) continue;
      readers.erase(found);
      if (const auto next = writer.find(moves[i].from.slot); next != writer.end())
        ready.push_back(next->second);
    }
  }
  give_back(asides);
}

}  // namespace hiaton::exec::direct
