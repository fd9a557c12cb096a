// Tail calls modulo constructor: where a function ends with `Cons(x, f(rest))`, the call needs no frame to
// come back to. The new value is made first, with an empty field, and the callee's *hole form* gets the
// address of that field, into which it puts its result; it may itself end so. Leijen and Lorenzen, "Tail
// recursion modulo context" (POPL 2023).
#include <algorithm>

#include "base/check.h"
#include "exec/direct/compile/body_emitter.h"

namespace hiaton::exec::direct {

using graph::Node;
using graph::NodeKind;
using graph::OutPort;

std::optional<BodyEmitter::ConstructorTail> BodyEmitter::constructor_tail(
    std::span<const Item> items, const std::vector<OutPort>& results) const {
  if (results.size() != 1 || !is_data(results[0]) || in_task_ || in_window_) return std::nullopt;
  ConstructorTail tail{.call = items.size()};
  for (std::size_t i = items.size(); i-- > 0 && tail.call == items.size();) {
    if (items[i].kind == Item::Kind::Call) {
      tail.call = i;
    } else if (items[i].kind != Item::Kind::Op || !has_role(graph_[NodeId(items[i].index)], Role::Make)) {
      return std::nullopt;
    }
  }
  if (tail.call + 1 >= items.size()) return std::nullopt;
  if (tail.call > 0 && items[tail.call - 1].group == items[tail.call].group) return std::nullopt;
  const CallSite site(items[tail.call].index);
  if (graph_[site].returns.size() != 1) return std::nullopt;
  NodeId inner = graph_[site].returns[0];
  for (std::size_t i = tail.call + 1; i < items.size(); ++i) {
    const NodeId make(items[i].index);
    const auto& inputs = graph_[make].inputs;
    const auto is_inner = [&](OutPort input) { return structure_.origin(input) == inner; };
    if (std::ranges::count_if(inputs, is_inner) != 1 || context_.lifetimes.reads[inner.index()] != 1) {
      return std::nullopt;
    }
    const auto hole = std::ranges::find_if(inputs, is_inner);
    tail.makes.push_back({make, static_cast<std::size_t>(hole - inputs.begin())});
    inner = make;
  }
  if (structure_.origin(results[0]) != inner || context_.lifetimes.reads[inner.index()] != 1) {
    return std::nullopt;
  }
  if (!may_be_tail_call(site)) return std::nullopt;
  return tail;
}

void BodyEmitter::emit_constructor_tail(std::span<const Item> items, const ConstructorTail& tail,
                                        const std::vector<OutPort>& results) {
  const CallSite site(items[tail.call].index);
  for (std::size_t i = tail.call; i < items.size(); ++i) met(items[i]);
  met(results);
  std::vector<uint32_t> temporaries;
  std::vector<Argument> arguments = arguments_of(site, temporaries);
  std::vector<OutPort> handed = handed_to(site);
  for (const HoleIn& made : tail.makes) {
    const auto& inputs = graph_[made.make].inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (i != made.field) handed.push_back(inputs[i]);
    }
  }
  std::set<NodeId> borrowed = borrowed_by(items.subspan(tail.call, 1));
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
