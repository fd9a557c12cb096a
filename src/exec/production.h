// The production executor: which machine runs what, direct code or flow.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "exec/phased_run.h"
#include "exec/plan_cache.h"
#include "hiaton/run.h"

namespace hiaton::exec {

/// Runs the program for each argument list, in batches across them.
void run_production_all(const graph::Graph& graph, Examples& examples, const RunOptions& options,
                        PlanCache& plans);
/// The same for one argument list.
RunResult run_as_example(const graph::Graph& graph, std::span<const Value> arguments,
                         const RunOptions& options, PlanCache& plans);

/// Runs a graph, with a plan from `plans`. A graph that has no plan (its Switch and Merge nodes do not nest)
/// runs by the reference rules; RunStats::fallback then says why.
RunResult run_production(const graph::Graph& graph, std::span<const Value> arguments,
                         const RunOptions& options, PlanCache& plans);

/// The same for a graph whose program has several phases, which come one by one. All of it must live as long
/// as the run.
std::unique_ptr<PhasedRun> open_production(const graph::Graph& graph, const RunOptions& options,
                                           PlanCache& plans);

}  // namespace hiaton::exec
