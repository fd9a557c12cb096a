#include <algorithm>
#include <limits>

#include "base/check.h"
#include "exec/direct/compile/body_emitter.h"
#include "exec/direct/kernel_table.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

void BodyEmitter::run() {
  Plan::Body body{.function = function_, .forking = body_.forking, .to_hole = body_.to_hole, .begin = here()};
  const BodySlots& slots = body_.slots;
  emit(Opcode::Header);
  entry_ = here();
  begin_params();
  hole_slot_ = slots.hole.value_or(kNoSlot);
  join_slot_ = slots.join.value_or(kNoSlot);
  begin_parameters(slots);
  emit_all(body_.statements);
  finish_matches();
  return_instead_of_jumping(body.begin);
  end_body(body, slots);
}

/// A task is called like a function, with what it captures as its arguments, and returns its results. Its
/// frame is left out of chains of calls: it belongs to the function.
void BodyEmitter::run_task(std::size_t number) {
  const ScheduledTask& scheduled = context_.schedule.tasks[number];
  Plan::Body body{.function = function_, .forking = body_.forking, .begin = here()};
  body.part =
      scheduled.part == ScheduledTask::Part::Branch ? Plan::Body::Part::Branch : Plan::Body::Part::Iteration;
  context_.task_begins.push_back(here());
  HIATON_CHECK(context_.task_begins.size() == number + 1);
  emit(Opcode::Header);
  in_task_ = true;
  const std::vector<NodeId>& captures = scheduled.task.captures;
  for (std::size_t i = 0; i < captures.size(); ++i) slot_of_[captures[i]] = scheduled.slots.entered[i];
  join_slot_ = *scheduled.slots.join;
  begin_parameters(scheduled.slots);
  emit_all(scheduled.statements);
  with_slots(scheduled.slots.at_end, [&] { emit_leave(scheduled.leave); });
  ReturnList list;
  for (NodeId result : scheduled.task.results) list.slots.push_back(narrow(slot_of_.at(result)));
  plan_.return_lists.push_back(std::move(list));
  const uint32_t index = emit(Opcode::ReturnN);
  at(index).returns = &plan_.return_lists.back();
  finish_matches();
  end_body(body, scheduled.slots);
}

void BodyEmitter::end_body(Plan::Body& body, const BodySlots& slots) {
  fuse_instructions(plan_, body.begin);
  merge_tests(body.begin);
  body.slots = narrow(slots.count);
  at(body.begin).d = body.slots;
  body.end = here();
  plan_.bodies.push_back(body);
}

uint32_t BodyEmitter::emit(Opcode opcode, NodeId node) {
  plan_.code.emplace_back();
  plan_.opcodes.push_back(opcode);
  plan_.nodes.push_back(node);
  plan_.sites.emplace_back();
  plan_.groups_at.push_back(nullptr);
  plan_.params_held.push_back(params_held_);
  return here() - 1;
}

uint16_t BodyEmitter::narrow(uint32_t slot) {
  HIATON_CHECK(slot < std::numeric_limits<uint16_t>::max());  // assign_slots() has seen to it
  return static_cast<uint16_t>(slot);
}

void BodyEmitter::set_jump(uint32_t from, uint32_t to) {
  last_label_ = std::max(last_label_, to);
  if (plan_.opcodes[from] == Opcode::MatchJump) return set_other_variants(from, to);
  at(from).jump = static_cast<int32_t>(to) - static_cast<int32_t>(from);
  if (const auto also = also_jumps_.find(from); also != also_jumps_.end()) set_jump(also->second, to);
}

void BodyEmitter::return_instead_of_jumping(uint32_t begin) {
  const auto returns = [](Opcode opcode) {
    return opcode == Opcode::Return1 || opcode == Opcode::ReturnConst || opcode == Opcode::ReturnN ||
           opcode == Opcode::ReturnToHole || opcode == Opcode::ReturnSum ||
           (opcode >= Opcode::ReturnMake1 && opcode <= Opcode::ReturnMakeConst4) ||
           is_returned_kernel(opcode);
  };
  for (uint32_t i = begin; i < here(); ++i) {
    if (plan_.opcodes[i] != Opcode::Jump) continue;
    auto to = static_cast<uint32_t>(static_cast<int32_t>(i) + at(i).jump);
    while (plan_.opcodes[to] == Opcode::Jump)
      to = static_cast<uint32_t>(static_cast<int32_t>(to) + at(to).jump);
    if (!returns(plan_.opcodes[to])) continue;
    at(i) = at(to);
    plan_.opcodes[i] = plan_.opcodes[to];
    plan_.nodes[i] = plan_.nodes[to];
  }
}

void BodyEmitter::emit_move(uint32_t to, const Operand& from) {
  if (!from.is_constant && from.slot == to) return;
  const uint32_t move = emit(from.is_constant ? Opcode::Const : Opcode::Move);
  at(move).d = narrow(to);
  if (from.is_constant) {
    at(move).constant = from.constant;
  } else {
    at(move).a = narrow(from.slot);
  }
}

void emit_body(EmitContext& context, const ScheduledBody& body, SequentialForm& sequential) {
  BodyEmitter(context, body, sequential).run();
  for (std::size_t task = body.first_task; task < body.end_task; ++task) {
    SequentialForm none;
    BodyEmitter(context, body, none).run_task(task);
  }
}

}  // namespace hiaton::exec::direct
