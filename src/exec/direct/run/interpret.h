// The interpreter of plans: the hot path of direct code.
#pragma once

#include "exec/direct/direct_plan.h"
#include "exec/direct/run/direct_worker.h"

namespace hiaton::exec::direct {

/// Runs `frame` from `pc` on, and everything it calls, until the outcome.
Outcome interpret(Worker& worker, Frame* frame, const Instruction* pc);

/// Writes the address of its code into each instruction.
void set_handlers(Plan& plan);

}  // namespace hiaton::exec::direct
