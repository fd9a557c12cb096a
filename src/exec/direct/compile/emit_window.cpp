// Loops whose iterations run ahead of each other; see window.h.
//
// The code of a window, before the loop's ordinary code:
//
//   top:    is there room for a fork?                        no: the ordinary loop
//   for each place j of the window:
//           condition of iteration j                         false: count = j calls; to `calls` (j = 0: done)
//           what runs ahead of iteration j
//   calls:  fork the first `count` calls (or tasks), run what nobody steals, wait for the others
//   for each place j:  (count reached: done)  the rest of iteration j
//           the variables take their values after the last place; back to top
//
// Every place has its own slots, so that the iterations do not disturb each other.

#include <algorithm>

#include "exec/direct/compile/body_emitter.h"
#include "exec/direct/compile/window_variables.h"
#include "exec/direct/kernel_table.h"
#include "exec/graph_names.h"
#include "kernels/scalar.h"

namespace hiaton::exec::direct {

void BodyEmitter::emit_window(const statements::Loop& loop_statement, std::vector<uint32_t>& to_end) {
  const statements::WindowOfLoop& scheduled = *loop_statement.window;
  const LoopShape& loop = structure_.loops[loop_statement.loop.index()];
  const ScheduledWindow& found = *context_.schedule.windows[loop_statement.loop.index()];
  const Window& window = found.window;
  const std::size_t places = found.places;

  const SlotMap outside = slot_of_;
  const uint64_t held_outside = params_held_;
  const uint32_t count = reader_.next_temporary();
  const uint32_t top = here();
  const uint32_t room = emit(Opcode::ForkRoom);

  Places at_place;
  std::vector<uint32_t> leaves;  ///< by place: where its condition is false
  for (place_ = 0; place_ < places; ++place_) {
    params_held_ = held_outside;
    leaves.push_back(emit_ahead(scheduled));
    at_place.push_back(slot_of_);
    take_next_values(loop, window.variable_waits, false);
  }
  const SlotMap after_last = slot_of_;
  emit_count(leaves, count, scheduled.calls.size());
  emit_window_calls(scheduled, at_place, count);

  std::vector<std::pair<uint32_t, SlotMap>> done;  ///< jumps to the end, with the variables' slots there
  WindowVariables variables(loop, window.variable_waits, outside);
  for (place_ = 0; place_ < places; ++place_) {
    variables.begin(at_place[place_]);
    if (place_ > 0)
      done.emplace_back(emit_unless_reached(count, place_ * scheduled.calls.size()), variables.slots());
    emit_rest(loop, window, scheduled, at_place[place_]);
    variables.end(slot_of_);
  }
  place_ = 0;
  variables.end_last(after_last);
  emit_moves(variables.moves_from(variables.slots()));
  set_jump(emit(Opcode::JumpBack), top);
  for (const auto& [jump, slots] : done) {
    set_jump(jump, here());
    emit_moves(variables.moves_from(slots));
    to_end.push_back(emit(Opcode::Jump));
  }
  to_end.push_back(leaves[0]);
  set_jump(room, here());
  slot_of_ = outside;
  params_held_ = held_outside;
}

/// The condition of an iteration, and what runs ahead of it. Returns the jump that leaves the window.
uint32_t BodyEmitter::emit_ahead(const statements::WindowOfLoop& scheduled) {
  emit_all(scheduled.condition);
  const uint32_t leaves = emit_branch(scheduled.predicate, false);
  emit_all(scheduled.ahead);
  emit_handover(scheduled.to_calls);
  emit_handover(scheduled.to_next);
  return leaves;
}

/// How many calls there are: those of all places, or of the places before the one where the window was left.
/// It is left for good where that is the first one.
void BodyEmitter::emit_count(const std::vector<uint32_t>& leaves, uint32_t count,
                             std::size_t calls_of_place) {
  std::vector<uint32_t> to_calls;
  const auto set_count = [&](std::size_t places) {
    const uint32_t index = emit(Opcode::Const);
    at(index).d = narrow(count);
    at(index).constant = make_slot(static_cast<int64_t>(places * calls_of_place));
    to_calls.push_back(emit(Opcode::Jump));
  };
  set_count(leaves.size());
  for (std::size_t j = 1; j < leaves.size(); ++j) {
    set_jump(leaves[j], here());
    set_count(j);
  }
  for (const uint32_t jump : to_calls) set_jump(jump, here());
}

/// A jump that is taken where there were no more than so many calls.
uint32_t BodyEmitter::emit_unless_reached(uint32_t count, std::size_t calls) {
  const FastBranch branch = *fast_branch(kernels::binary<kernels::Ne, int64_t, bool>);
  const uint32_t reached = emit(branch.unless_const);
  at(reached).a = narrow(count);
  at(reached).constant = make_slot(static_cast<int64_t>(calls));
  return reached;
}

/// What of an iteration needs its calls, or those of earlier ones.
void BodyEmitter::emit_rest(const LoopShape& loop, const Window& window,
                            const statements::WindowOfLoop& scheduled, const SlotMap& place) {
  slot_of_ = place;
  emit_drops(scheduled.returned);
  emit_all(scheduled.rest);
  emit_leave(scheduled.leave);
  take_next_values(loop, window.variable_waits, true);
}

/// The variables that wait for calls, or the others, stand for their next values from here on.
void BodyEmitter::take_next_values(const LoopShape& loop, const std::vector<bool>& variable_waits,
                                   bool waiting) {
  std::vector<std::pair<NodeId, uint32_t>> next;
  for (std::size_t v = 0; v < loop.variables.size(); ++v) {
    if (variable_waits[v] != waiting) continue;
    const Operand value = operand(graph_[loop.variables[v].next].inputs[0]);
    next.emplace_back(loop.variables[v].merge, in_slot(value));
  }
  for (const auto& [merge, slot] : next) slot_of_[merge] = slot;
}

void BodyEmitter::emit_window_calls(const statements::WindowOfLoop& scheduled, Places& places,
                                    uint32_t count) {
  std::vector<const ScheduledCall*> calls;
  std::vector<std::vector<Argument>> arguments;
  std::vector<uint32_t> results;
  for (SlotMap& place : places) {
    std::swap(slot_of_, place);
    for (const ScheduledCall& call : scheduled.calls) {
      calls.push_back(&call);
      arguments.push_back(arguments_of(call));
      results.push_back(define_results(call));
    }
    std::swap(slot_of_, place);
  }
  const Forked forked = emit_group(calls, arguments, results, {}, count);
  set_jump(forked.over, here());
}

}  // namespace hiaton::exec::direct
