#include <algorithm>

#include "exec/direct/compile/body_emitter.h"
#include "exec/direct/kernel_table.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

void BodyEmitter::emit_block(BlockId block) {
  if (!block.valid()) return;
  emit_list(structure_[block].items);
}

void BodyEmitter::emit_list(std::span<const Item> items) {
  expect(items);
  emit_expected(items);
}

void BodyEmitter::emit_expected(std::span<const Item> items) {
  for (std::size_t i = 0; i < items.size();) {
    i = emit_items(items, i);
    drop_dead();
  }
}

void BodyEmitter::emit_tail(BlockId block, const Ending& ending) {
  if (to_hole_ && ending.kind == Ending::Kind::TailCall &&
      is_sent({.site = CallSite(structure_[block].items.back().index)})) {
    Ending own = ending;  // another process cannot write to the hole
    own.kind = Ending::Kind::Return;
    ++own.items;
    return emit_tail(block, own);
  }
  expect(ending.results);
  block_ = block;
  const std::span<const Item> items =
      block.valid() ? std::span<const Item>(structure_[block].items) : std::span<const Item>();
  if (block.valid()) {
    expect(items);
    drop_dead();
    count_region(block);
  }
  // What goes to a hole is computed first: the instruction that returns it computes nothing.
  const NodeId returned = to_hole_ ? NodeId() : ending.operation;
  if (returned.valid()) returned_.insert(returned);
  // What the last conditional is beside runs without it.
  const bool branches = ending.kind == Ending::Kind::Branch;
  const std::span<const Item> before = branches ? items.first(ending.items) : items;
  for (std::size_t i = 0; i < ending.items;) {
    i = emit_items(before, i);
    drop_dead();
  }
  switch (ending.kind) {
    case Ending::Kind::Branch:
      met(ending.results);
      met(items.back());
      dying_.clear();  // each side of it knows which values are dead there
      return emit_tail_conditional(items.back(), ending);
    case Ending::Kind::TailConstructor:
      return emit_constructor_tail(items, ending);
    case Ending::Kind::TailCall:
      met(ending.results);
      met(items.back());
      return emit_tail_call(CallSite(items.back().index));
    case Ending::Kind::Return:
    case Ending::Kind::ReturnOperation:
      drop_dead();
      met(ending.results);
      if (returned.valid()) return emit_returned_operation(returned);
      return emit_return(ending.results);
  }
}

std::size_t BodyEmitter::emit_items(std::span<const Item> items, std::size_t i) {
  if (early_.erase(items[i].key()) > 0) return i + 1;
  if (is_done(items[i])) {
    met(items[i]);
    return i + 1;
  }
  std::size_t end = i + 1;
  while (end < items.size() && items[end].group == items[i].group) ++end;
  const std::span<const Item> group = items.subspan(i, end - i);
  if (forks(group)) {
    emit_fork(group);
    return end;
  }
  const uint64_t group_start = items[i].key();
  if (!forking_ && group.size() > 1) sequential_.group_starts[group_start] = here();
  if (items[i].kind == Item::Kind::Call) {
    std::vector<Item> calls;
    for (; i < end && items[i].kind == Item::Kind::Call; ++i) {
      met(items[i]);
      if (!is_done(items[i])) calls.push_back(items[i]);
    }
    emit_calls(calls, group_start);
    return i;
  }
  met(items[i]);
  switch (items[i].kind) {
    case Item::Kind::Op:
      emit_op(NodeId(items[i].index), items.subspan(i + 1));
      break;
    case Item::Kind::Conditional:
      emit_conditional(items[i]);
      break;
    case Item::Kind::Loop:
      emit_loop(LoopId(items[i].index));
      break;
    case Item::Kind::Call:
      break;
  }
  return i + 1;
}

void BodyEmitter::emit_return(const std::vector<OutPort>& results) {
  std::vector<uint32_t> temporaries;
  std::vector<Operand> operands;
  for (OutPort result : results) operands.push_back(operand(result));
  // Constants get slots of their own before those of what moves are free.
  ReturnList list;
  if (results.size() != 1) {
    for (const Operand& result : operands) list.slots.push_back(in_slot(result, temporaries));
  }
  hand_on_now(results);
  drop_dead();
  if (to_hole_) {
    const uint16_t slot = in_slot(operands[0], temporaries);
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
  give_back(temporaries);
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
