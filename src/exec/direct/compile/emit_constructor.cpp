// Tail calls modulo constructor: where a function ends with `Cons(x, f(rest))`, the call needs no frame to
// come back to. The new value is made first, with an empty field, and the callee's *hole form* gets the
// address of that field, into which it puts its result; it may itself end so. Leijen and Lorenzen, "Tail
// recursion modulo context" (POPL 2023).
#include "exec/direct/compile/body_emitter.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

void BodyEmitter::emit_statement(const statements::TailConstructor& tail) {
  std::vector<Argument> arguments = arguments_of(tail.call);
  forget_params(tail.leave.handover.moved);
  emit_retains(tail.leave.handover);
  uint32_t inner = 0;  // anything: nobody reads the field before it is filled
  NodeId made_before = graph_[tail.call.site].returns[0];
  const uint32_t hole = reader_.next_temporary();
  for (const HoleIn& made : tail.makes) {
    slot_of_[made_before] = inner;
    const std::vector<MadeField> fields = fields_in_slots(made.make);
    const uint32_t outer = reader_.next_temporary();
    emit_make_of(made.make, fields, outer);
    made_before = made.make;
    if (&made == &tail.makes.front()) {
      const uint32_t address = emit(Opcode::HoleOf);
      at(address).d = narrow(hole);
      at(address).a = narrow(outer);
      at(address).number = made.field;
    }
    inner = outer;
  }
  emit_drops(tail.leave.drops);
  arguments.push_back({narrow(hole), 0});
  if (hole_slot_ != kNoSlot) {
    const uint32_t store = emit(Opcode::FillHole);
    at(store).a = narrow(hole_slot_);
    at(store).b() = narrow(inner);
    emit_call(Opcode::TailCall1, tail.call, arguments, tail.forking);
    return;
  }
  emit_nested_call(tail.call, arguments, reader_.next_temporary(), nullptr, tail.forking);
  at(emit(Opcode::Return1)).a = narrow(inner);
}

}  // namespace hiaton::exec::direct
