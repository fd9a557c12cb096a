#include "exec/scalar/body_emitter.h"
#include "exec/scalar/kernel_table.h"

namespace hiaton::exec {

using graph::LoopId;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;
using graph::OutPort;

void BodyEmitter::emit_conditional(const Conditional& conditional) {
  const uint32_t branch = emit_branch(conditional.predicate, false);
  for (const Join& join : conditional.joins) define(join.merge, result_slot(join.merge));
  emit_side(conditional, 0);
  if (!side_has_code(conditional, 1)) {
    set_jump(branch, here());
  } else {
    const uint32_t over = emit(Opcode::Jump);
    set_jump(branch, here());
    emit_side(conditional, 1);
    set_jump(over, here());
  }
  for (const Join& join : conditional.joins) give_back_if_unread(join.merge);
}

bool BodyEmitter::side_has_code(const Conditional& conditional, int side) const {
  return !conditional.joins.empty() ||
         (conditional.sides[side].valid() && !structure_[conditional.sides[side]].items.empty());
}

void BodyEmitter::emit_side(const Conditional& conditional, int side) {
  const BlockId block = conditional.sides[side];
  for (const Join& join : conditional.joins) {
    const NodeId value = structure_.origin(join.from[side]);
    const bool computed_here = structure_.block_of[value.index()] == block && is_single_result(value);
    if (computed_here && context_.lifetimes.reads[value.index()] == 1)
      wanted_in_[value] = slot_of_.at(join.merge);
  }
  if (block.valid()) {
    if (piece_before_ == nullptr || !piece_before_->split_sides.contains(block)) count_region(block);
    emit_block(block);
  }
  for (const Join& join : conditional.joins) {
    emit_move(slot_of_.at(join.merge), operand(join.from[side]));
    release(join.from[side]);
  }
}

bool BodyEmitter::is_single_result(NodeId value) const {
  const Node& node = graph_[value];
  if (node.kind == NodeKind::Return) return graph_[node.site].returns.size() == 1;
  if (node.kind == NodeKind::Merge) return !is_param(value);
  return node.kind == NodeKind::Op;
}

void BodyEmitter::emit_tail_conditional(const Conditional& conditional, const std::vector<OutPort>& results) {
  std::vector<OutPort> side_results[2] = {results, results};
  for (int side = 0; side < 2; ++side) {
    for (OutPort& result : side_results[side]) {
      for (const Join& join : conditional.joins) {
        if (structure_.origin(result) == join.merge) {
          result = join.from[side];
          break;
        }
      }
    }
  }
  for (int side = 0; side < 2; ++side) {
    if (!emit_return_if(conditional, side, side_results[side])) continue;
    return emit_tail(conditional.sides[1 - side], side_results[1 - side]);
  }
  const uint32_t branch = emit_branch(conditional.predicate, false);
  emit_tail(conditional.sides[0], side_results[0]);
  set_jump(branch, here());
  emit_tail(conditional.sides[1], side_results[1]);
}

bool BodyEmitter::emit_return_if(const Conditional& conditional, int side,
                                 const std::vector<OutPort>& results) {
  const BlockId block = conditional.sides[side];
  if ((block.valid() && !structure_[block].items.empty()) || results.size() != 1) return false;
  if (returned_.contains(structure_.origin(results[0]))) return false;
  const NodeId predicate = structure_.origin(conditional.predicate);
  if (context_.options.count_regions || !deferred_.contains(predicate)) return false;
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
  for (const LoopShape::Variable& variable : loop.variables) {
    const OutPort initial = graph_[variable.enter].inputs[0];
    const uint32_t slot = take_slot();
    emit_move(slot, operand(initial));
    define(variable.merge, slot);
  }
  for (const LoopShape::Variable& variable : loop.variables) release(graph_[variable.enter].inputs[0]);
  std::vector<uint32_t> to_end;
  emit_window(id, to_end);
  if (context_.lifetimes.body_needs_condition[id.index()]) {
    emit_condition_first(loop);
  } else {
    emit_body_first(loop);
  }
  for (uint32_t jump : to_end) set_jump(jump, here());
  for (NodeId value : context_.lifetimes.kept_through[id.index()]) release_value(value);
  for (const LoopShape::Variable& variable : loop.variables) release_value(variable.merge);
}

void BodyEmitter::emit_body_first(const LoopShape& loop) {
  const uint32_t to_condition = emit(Opcode::Jump);
  const uint32_t top = here();
  emit_loop_body(loop);
  set_jump(to_condition, here());
  count_region(loop.condition);
  emit_block(loop.condition);
  const uint32_t back = emit_branch(loop.predicate, true);
  set_jump(back, top);
}

void BodyEmitter::emit_condition_first(const LoopShape& loop) {
  const uint32_t top = here();
  count_region(loop.condition);
  emit_block(loop.condition);
  const uint32_t leave = emit_branch(loop.predicate, false);
  emit_loop_body(loop);
  const uint32_t back = emit(Opcode::JumpBack);
  set_jump(back, top);
  set_jump(leave, here());
}

void BodyEmitter::emit_loop_body(const LoopShape& loop) {
  for (const LoopShape::Variable& variable : loop.variables) {
    body_of_variable_[variable.merge] = true;
    const NodeId next = structure_.origin(graph_[variable.next].inputs[0]);
    const bool computed_here =
        graph_[next].kind == NodeKind::Op && structure_.block_of[next.index()] == loop.body;
    if (computed_here && context_.lifetimes.reads[next.index()] == 1) next_of_[next] = variable.merge;
  }
  count_region(loop.body);
  emit_block(loop.body);
  emit_next_values(loop);
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

}  // namespace hiaton::exec
