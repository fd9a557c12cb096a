#include <algorithm>
#include <utility>

#include "base/check.h"
#include "exec/direct/compile/body_emitter.h"
#include "exec/direct/kernel_table.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

void BodyEmitter::emit_conditional(const Item& item) {
  const Conditional& conditional = structure_.conditionals[item.index];
  const int first = other_side_first(conditional.predicate) ? 1 : 0;
  const uint32_t branch = emit_side_branch(conditional, first);
  for (const Join& join : conditional.joins) define(join.merge, result_slot(join.merge));
  const HeldValues before = held_;
  dying_.clear();
  open_branch();
  emit_side(item, first);
  const HeldValues after = std::exchange(held_, before);
  if (!side_has_code(item, 1 - first)) {
    set_jump(branch, here());
    held_ = after;
  } else {
    const uint32_t over = emit(Opcode::Jump);
    set_jump(branch, here());
    emit_side(item, 1 - first);
    set_jump(over, here());
    HIATON_CHECK(std::ranges::equal(
        held_, after, {}, [](const auto& one) { return one.first; },
        [](const auto& one) { return one.first; }));
  }
  close_branch();
  for (const Join& join : conditional.joins) {
    if (is_data(join.merge)) hold(join.merge, true);
    give_back_if_unread(join.merge);
  }
}

bool BodyEmitter::side_has_code(const Item& item, int side) const {
  const Conditional& conditional = structure_.conditionals[item.index];
  if (!conditional.joins.empty()) return true;
  if (conditional.sides[side].valid() && !structure_[conditional.sides[side]].items.empty()) return true;
  return std::ranges::any_of(context_.ownership.reads_of(item), [&](NodeId value) {
    const auto held = held_.find(value);
    return held != held_.end() && held->second.owned && !is_live(value);
  });
}

void BodyEmitter::emit_side(const Item& item, int side) {
  const Conditional& conditional = structure_.conditionals[item.index];
  const BlockId block = conditional.sides[side];
  std::vector<OutPort> given;
  for (const Join& join : conditional.joins) given.push_back(join.from[side]);
  const std::span<const Item> items =
      block.valid() ? std::span<const Item>(structure_[block].items) : std::span<const Item>();
  const BlockId around = std::exchange(block_, block);
  expect(given);
  expect(items);
  note_reads(item);
  drop_dead();
  for (const Join& join : conditional.joins) {
    const NodeId value = structure_.origin(join.from[side]);
    const bool computed_here = structure_.block_of[value.index()] == block && is_single_result(value);
    if (computed_here && context_.lifetimes.reads[value.index()] == 1)
      wanted_in_[value] = slot_of_.at(join.merge);
  }
  if (block.valid()) {
    if (task_before_ == nullptr || !task_before_->split_sides.contains(block)) count_region(block);
    emit_expected(items);
  }
  met(given);
  const Handover handover = hand_on(given);
  emit_retains(handover);
  for (const Join& join : conditional.joins) {
    emit_move(slot_of_.at(join.merge), operand(join.from[side]));
    release(join.from[side]);
  }
  free_moved(handover);
  drop_dead();
  block_ = around;
}

bool BodyEmitter::is_single_result(NodeId value) const {
  const Node& node = graph_[value];
  if (node.kind == NodeKind::Return) return graph_[node.site].returns.size() == 1;
  if (node.kind == NodeKind::Merge) return !is_param(value);
  return node.kind == NodeKind::Op;
}

void BodyEmitter::emit_tail_conditional(const Item& item, const Ending& ending) {
  const Conditional& conditional = structure_.conditionals[item.index];
  const auto emit_tail_side = [&](int side) {
    note_reads(item);
    emit_tail(conditional.sides[side], ending.sides[static_cast<std::size_t>(side)]);
  };
  open_branch();
  const HeldValues before = held_;
  for (int side = 0; side < 2; ++side) {
    if (!emit_return_if(item, side, ending.sides[static_cast<std::size_t>(side)])) continue;
    emit_tail_side(1 - side);
    parked_.pop_back();
    --depth_;
    return;
  }
  const int first = other_side_first(conditional.predicate) ? 1 : 0;
  const uint32_t branch = emit_side_branch(conditional, first);
  emit_tail_side(first);
  set_jump(branch, here());
  held_ = before;
  emit_tail_side(1 - first);
  parked_.pop_back();
  --depth_;
}

bool BodyEmitter::emit_return_if(const Item& item, int side, const Ending& ending) {
  const std::vector<OutPort>& results = ending.results;
  const Conditional& conditional = structure_.conditionals[item.index];
  const BlockId block = conditional.sides[side];
  if ((block.valid() && !structure_[block].items.empty()) || results.size() != 1) return false;
  if (ending.kind != Ending::Kind::Return) return false;
  const NodeId predicate = structure_.origin(conditional.predicate);
  if (context_.options.count_regions || !is_in_branch(predicate)) return false;
  if (to_hole_ || tested_in_branch(conditional.predicate)) return false;
  // Data values that the frame holds would have to be let go of first.
  if (std::ranges::any_of(held_, [](const auto& one) { return one.second.owned; })) return false;
  if (is_data(results[0]) && graph_[structure_.origin(results[0])].kind != NodeKind::Const) return false;
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

void BodyEmitter::emit_loop(LoopId id) {
  const LoopShape& loop = structure_.loops[id.index()];
  // What the body reads from outside stays for the next iteration.
  std::vector<NodeId> kept;
  for (NodeId value : context_.lifetimes.kept_through[id.index()]) {
    if (is_data(value)) kept.push_back(value);
  }
  for (NodeId value : kept) expect(value);
  std::vector<OutPort> initial;
  for (const LoopShape::Variable& variable : loop.variables) {
    initial.push_back(graph_[variable.enter].inputs[0]);
  }
  const Handover handover = hand_on(initial);
  emit_retains(handover);
  for (std::size_t i = 0; i < initial.size(); ++i) {
    const uint32_t slot = take_slot();
    emit_move(slot, operand(initial[i]));
    define(loop.variables[i].merge, slot);
  }
  for (OutPort port : initial) release(port);
  free_moved(handover);
  for (const LoopShape::Variable& variable : loop.variables) {
    if (!is_data(variable.merge)) continue;
    hold(variable.merge, true);
    shares_slot_.insert(variable.merge);  // the slot is the loop's, whatever becomes of a value in it
  }
  drop_outside_loop(loop);
  std::vector<uint32_t> to_end;
  emit_window(id, to_end);
  if (context_.lifetimes.body_needs_condition[id.index()]) {
    emit_condition_first(loop);
  } else {
    emit_body_first(loop);
  }
  for (uint32_t jump : to_end) set_jump(jump, here());
  for (NodeId value : kept) met(value);
  for (const LoopShape::Variable& variable : loop.variables) {
    if (!is_data(variable.merge)) continue;
    shares_slot_.erase(variable.merge);
    dying_.push_back(variable.merge);
  }
  drop_dead();
  for (NodeId value : context_.lifetimes.kept_through[id.index()]) release_value(value);
  for (const LoopShape::Variable& variable : loop.variables) release_value(variable.merge);
}

/// What the initial values leave behind goes before the loop, not in its first iteration.
void BodyEmitter::drop_outside_loop(const LoopShape& loop) {
  expect_variables(loop);
  drop_dead();
  meet_variables(loop);
}

void BodyEmitter::expect_variables(const LoopShape& loop) {
  for (const LoopShape::Variable& variable : loop.variables) {
    if (is_data(variable.merge)) expect(variable.merge);
  }
}

void BodyEmitter::meet_variables(const LoopShape& loop) {
  for (const LoopShape::Variable& variable : loop.variables) {
    if (is_data(variable.merge)) met(variable.merge);
  }
  dying_.clear();
}

/// All variables are there for the body and the end of the loop.
void BodyEmitter::emit_condition(const LoopShape& loop) {
  expect_variables(loop);
  emit_block(loop.condition);
  meet_variables(loop);
}

void BodyEmitter::emit_body_first(const LoopShape& loop) {
  const uint32_t to_condition = emit(Opcode::Jump);
  const uint32_t top = here();
  emit_loop_body(loop);
  set_jump(to_condition, here());
  count_region(loop.condition);
  emit_condition(loop);
  const uint32_t back = emit_branch(loop.predicate, true);
  set_jump(back, top);
}

void BodyEmitter::emit_condition_first(const LoopShape& loop) {
  const uint32_t top = here();
  const HeldValues before = held_;
  count_region(loop.condition);
  emit_condition(loop);
  const uint32_t leave = emit_branch(loop.predicate, false);
  const HeldValues at_end = held_;
  emit_loop_body(loop);
  const uint32_t back = emit(Opcode::JumpBack);
  set_jump(back, top);
  set_jump(leave, here());
  // What the condition made is for the body, which has freed its slots.
  held_ = at_end;
  for (const auto& [value, held] : at_end) {
    if (!before.contains(value)) dying_.push_back(value);
  }
  frees_slots_ = false;
  drop_dead();
  frees_slots_ = true;
}

/// What follows the loop reads the variables of the last iteration, not those that an iteration begins with.
BodyEmitter::PendingReads BodyEmitter::set_reads_behind_aside(const LoopShape& loop) {
  PendingReads behind;
  for (const LoopShape::Variable& variable : loop.variables) {
    if (is_data(variable.merge)) behind[variable.merge] = std::exchange(pending_[variable.merge], 0);
  }
  return behind;
}

void BodyEmitter::emit_loop_body(const LoopShape& loop) {
  const PendingReads behind = set_reads_behind_aside(loop);
  for (const LoopShape::Variable& variable : loop.variables) {
    body_of_variable_[variable.merge] = true;
    const NodeId next = structure_.origin(graph_[variable.next].inputs[0]);
    const bool computed_here =
        graph_[next].kind == NodeKind::Op && structure_.block_of[next.index()] == loop.body;
    if (computed_here && context_.lifetimes.reads[next.index()] == 1) next_of_[next] = variable.merge;
  }
  std::vector<OutPort> next_values;
  for (const LoopShape::Variable& variable : loop.variables) {
    next_values.push_back(graph_[variable.next].inputs[0]);
    if (is_data(variable.merge)) dying_.push_back(variable.merge);
  }
  const std::span<const Item> items = structure_[loop.body].items;
  open_branch();
  expect(next_values);
  expect(items);
  drop_dead();
  count_region(loop.body);
  emit_expected(items);
  met(next_values);
  const Handover handover = hand_on(next_values);
  emit_retains(handover);
  drop_dead();  // before the slots of the variables get their next values
  emit_next_values(loop);
  free_moved(handover);
  close_branch();
  for (const LoopShape::Variable& variable : loop.variables) {
    if (is_data(variable.merge)) hold(variable.merge, true);
  }
  dying_.clear();
  for (const auto& [variable, reads] : behind) pending_[variable] = reads;
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
