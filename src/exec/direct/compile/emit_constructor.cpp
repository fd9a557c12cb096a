// Tail calls modulo constructor: where a function ends with `Cons(x, f(rest))`, the call needs no frame to
// come back to. The new value is made first, with an empty field, and the callee's *hole form* gets the
// address of that field, into which it puts its result; it may itself end so. Leijen and Lorenzen, "Tail
// recursion modulo context" (POPL 2023).
#include <algorithm>

#include "base/check.h"
#include "exec/direct/compile/body_emitter.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

void BodyEmitter::emit_constructor_tail(std::span<const Item> items, const Ending& tail) {
  const CallSite site(items[tail.items].index);
  for (const Item& item : items.subspan(tail.items)) met(item);
  met(tail.results);
  std::vector<uint32_t> temporaries;
  std::vector<Argument> arguments = arguments_of(site, temporaries);
  std::vector<OutPort> handed = handed_to(site);
  for (const HoleIn& made : tail.makes) {
    const auto& inputs = graph_[made.make].inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (i != made.field) handed.push_back(inputs[i]);
    }
  }
  std::set<NodeId> borrowed = borrowed_by(items.subspan(tail.items, 1));
  emit_retains(hand_on(handed, borrowed));
  // The slots of what moves stay: the function ends here.
  uint32_t inner = 0;  // anything: nobody reads the field before it is filled
  NodeId made_before = graph_[site].returns[0];
  const uint32_t hole = take_slot();
  for (const HoleIn& made : tail.makes) {
    slot_of_[made_before] = inner;
    const std::vector<MadeField> fields = fields_in_slots(made.make, temporaries);
    const uint32_t outer = take_slot();
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
  drop_dead();
  arguments.push_back({narrow(hole), 0});
  const Callee callee{.site = site, .to_hole = true};
  if (hole_slot_ != kNoSlot) {
    const uint32_t store = emit(Opcode::FillHole);
    at(store).a = narrow(hole_slot_);
    at(store).b() = narrow(inner);
    emit_call(Opcode::TailCall1, callee, arguments, forking_ && !no_room_);
    return;
  }
  emit_nested_call(callee, arguments, take_slot(), nullptr, forking_ && !no_room_);
  at(emit(Opcode::Return1)).a = narrow(inner);
}

}  // namespace hiaton::exec::direct
