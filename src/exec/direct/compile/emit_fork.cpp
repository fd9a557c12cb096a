// Branches and loops with calls, outside of windows, that run at the same time as each other and as calls:
// each is a task, and together they are a group. The code:
//
//           are there two that call?                                        no: to `alone`
//           fork, run what nobody steals as tasks, wait for the others     no room: the sequential form
//           the results go where the code below puts them; to `end`
//   alone:  the items one after the other
//   end:
//
// Where it is sure that two call, and in tasks, which have no sequential form, `alone` is for no room. It
// leaves the slots as the sequential form does, so that later groups can go on there. Tasks give their
// results into slots behind those: while they run, the items that are not yet started need their operands.

#include <utility>

#include "exec/direct/compile/body_emitter.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

void BodyEmitter::emit_statement(const statements::Fork& fork) {
  using To = statements::Fork::Given::To;
  const uint64_t held_before = params_held_;
  const std::vector<uint32_t> to_alone = emit_worth(fork);
  std::vector<const ScheduledCall*> calls;
  std::vector<std::vector<Argument>> arguments;
  std::vector<uint32_t> results;
  std::vector<uint32_t> given;  ///< the slots of all results
  for (const ScheduledCall& call : fork.calls) {
    const auto count = static_cast<uint32_t>(results_of(call).size());
    calls.push_back(&call);
    arguments.push_back(arguments_of(call));
    results.push_back(reader_.next_temporary());
    for (uint32_t i = 0; i < count; ++i) given.push_back(results.back() + i);
  }
  forget_params(fork.handover.moved);
  const Forked forked = emit_group(calls, arguments, results, fork.handover);
  const uint64_t held_forked = std::exchange(params_held_, held_before);

  for (uint32_t jump : to_alone) set_jump(jump, here());
  const bool is_for_no_room = to_alone.empty() || in_task_;
  set_jump(forked.fork, is_for_no_room ? here() : sequential_.group_starts.at(fork.group));
  emit_all(fork.alone);
  const uint32_t to_end = emit(Opcode::Jump);
  set_jump(forked.over, here());
  const uint64_t held_alone = std::exchange(params_held_, held_forked);
  emit_drops(fork.drops);
  params_held_ = held_alone;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const NodeId value = fork.given[i].value;
    if (fork.given[i].to == To::Readers) emit_move(slot_of_.at(value), {false, Slot(), given[i]});
    if (fork.given[i].to == To::Release) emit_release(graph_[value].type, given[i]);
  }
  set_jump(to_end, here());
}

std::vector<uint32_t> BodyEmitter::emit_worth(const statements::Fork& fork) {
  std::vector<uint32_t> without_calls;
  for (const statements::Fork::Worth& worth : fork.worth) {
    const uint32_t when_false = emit_branch(worth.condition, false);
    if (worth.side == 0) {
      without_calls.push_back(when_false);
    } else {
      without_calls.push_back(emit(Opcode::Jump));
      set_jump(when_false, here());
    }
  }
  return without_calls;
}

}  // namespace hiaton::exec::direct
