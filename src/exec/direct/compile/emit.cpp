#include <algorithm>
#include <limits>

#include "exec/direct/compile/body_emitter.h"

namespace hiaton::exec::direct {

using graph::FunctionId;
using graph::NodeId;
using graph::OutPort;

void BodyEmitter::run() {
  Plan::Body body{.function = function_, .forking = forking_, .to_hole = to_hole_, .begin = here()};
  emit(Opcode::Header);
  begin_params();
  if (to_hole_) hole_slot_ = slots_.take();
  // Both forms have the same slots, so that the forking one can go on in the sequential one.
  if (context_.options.forking && context_.has_groups[function_.index()]) join_slot_ = slots_.take();
  emit_tail(structure_.bodies[function_.index()], structure_.results[function_.index()]);
  if (!forking_) sequential_.slots = slots_.count();
  body.slots = narrow(std::max(slots_.count(), forking_ ? kept_slots_ : 0));
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
  plan_.params_held.push_back(params_held());
  return here() - 1;
}

uint16_t BodyEmitter::narrow(uint32_t slot) const {
  if (slot >= std::numeric_limits<uint16_t>::max()) throw TooManySlots{function_};
  return static_cast<uint16_t>(slot);
}

void BodyEmitter::set_jump(uint32_t from, uint32_t to) {
  at(from).jump = static_cast<int32_t>(to) - static_cast<int32_t>(from);
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

void BodyEmitter::count_region(BlockId block) {
  if (!context_.options.count_regions) return;
  const auto [known, is_new] = context_.region_of.try_emplace(block, context_.region_blocks.size());
  if (is_new) context_.region_blocks.push_back(block);
  const uint32_t count = emit(Opcode::Count);
  at(count).number = known->second;
}

void emit_body(EmitContext& context, FunctionId function, bool forking, bool to_hole,
               SequentialForm& sequential) {
  const std::size_t first_task = context.tasks.size();
  BodyEmitter(context, function, forking, to_hole, sequential).run();
  for (std::size_t i = first_task; i < context.tasks.size(); ++i) {
    SequentialForm none;
    BodyEmitter(context, function, forking, false, none).run_task(context.tasks[i]);
  }
}

}  // namespace hiaton::exec::direct
