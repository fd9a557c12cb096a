// Which slots of its frame the values of a body have. Slots are handed out lowest first and given back with
// the last read of a value, so that frames stay small; the result of an operation stands where a branch or a
// loop wants it, so that no move is needed.
//
// Both forms of a function have the same slots, so that the forking one can go on in the sequential one where
// there is no room for a fork. What the forking form needs beyond, in windows and forks, stands behind those,
// each value in a slot that it keeps: while calls are under way, those that are not yet started need their
// arguments.
#pragma once

#include "exec/direct/compile/lifetimes.h"
#include "exec/direct/compile/schedule.h"
#include "hiaton/run.h"

namespace hiaton::exec::direct {

struct TooManySlots {
  graph::FunctionId function;
};

/// Adds the slots to the statements and bodies of the schedule. Throws TooManySlots.
void assign_slots(Schedule& schedule, const graph::Graph& graph, const Structure& structure,
                  const Lifetimes& lifetimes, OverflowMode overflow);

/// Reads the slots of a statement in the order in which it comes to need them.
struct SlotReader {
  const StatementSlots* slots = nullptr;
  std::size_t values = 0;       ///< that were read already
  std::size_t temporaries = 0;  ///< the same

  uint32_t next_value() { return slots->values.at(values++); }
  uint32_t next_temporary() { return slots->temporaries.at(temporaries++); }
  bool is_done() const { return values == slots->values.size() && temporaries == slots->temporaries.size(); }
};

/// Throws InternalError where the slots are wrong: a value is read from a slot that holds something else by
/// then, or that is not of the frame; or the forking form of a function goes on in the sequential one with a
/// value in another slot. compile() calls it in debug builds and under sanitizers.
void verify_slots(const Schedule& schedule, const graph::Graph& graph, const Structure& structure);

/// Whether there may be something behind a value of the type that is counted: not of a type whose variants
/// have no fields.
bool may_refer(const Type& type);

/// The results of a call: of a task, or of a function.
inline const std::vector<graph::NodeId>& results_of(const Schedule& schedule, const graph::Graph& graph,
                                                    const ScheduledCall& call) {
  return call.task ? schedule.tasks[*call.task].task.results : graph[call.site].returns;
}

}  // namespace hiaton::exec::direct
