// The interpreter of plans, the hot path of direct code, and the rare ways in which it begins a call: where a
// frame is too small, and after a poll.
#pragma once

#include "exec/direct/direct_plan.h"
#include "exec/direct/run/direct_worker.h"

namespace hiaton::exec::direct {

/// Runs `frame` from `pc` on, and everything it calls, until the outcome.
Outcome interpret(Worker& worker, Frame* frame, const Instruction* pc);

/// Writes the address of its code into each instruction.
void set_handlers(Plan& plan);

/// A frame with room for `slots` in place of `frame`, whose function makes a tail call. Null where none can
/// be had.
Frame* replace_frame(Worker& worker, Frame* frame, uint32_t slots);

/// A call after a poll was answered: rare, so one general form for all call instructions. A worker that
/// somebody waits for goes on in the forking form. Gives null where no frame can be had.
Frame* start_call(Worker& worker, Frame* caller, const Instruction* call);

}  // namespace hiaton::exec::direct
