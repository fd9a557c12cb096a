// The production executor: plans, run by workers.
#pragma once

#include <memory>
#include <span>

#include "exec/plan.h"
#include "hiaton/run.h"

namespace hiaton::exec {

/// Runs a compiled graph. Throws RunError. `plan` must come from `graph`, with the overflow mode of `options`
/// and, for more than one worker, with forking forms.
RunResult run_plan(const graph::Graph& graph, const Plan& plan, std::span<const Value> arguments,
                   const RunOptions& options);

/// Compiles and runs. A graph that has no plan (its Switch and Merge nodes do not nest) runs by the reference
/// rules.
RunResult run_production(const graph::Graph& graph, std::span<const Value> arguments,
                         const RunOptions& options);

}  // namespace hiaton::exec
