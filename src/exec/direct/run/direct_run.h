// A run of a program in direct code: its workers, from the arguments to the results.
#pragma once

#include <span>

#include "exec/direct/plan.h"
#include "hiaton/run.h"

namespace hiaton::exec::direct {

/// Runs a compiled graph. Throws RunError. `plan` must come from `graph`, with the overflow mode of `options`
/// and, for more than one worker, with forking forms.
RunResult run_plan(const graph::Graph& graph, const Plan& plan, std::span<const Value> arguments,
                   const RunOptions& options);

}  // namespace hiaton::exec::direct
