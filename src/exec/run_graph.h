// The way into the executors.
#pragma once

#include <span>
#include <vector>

#include "exec/plan_cache.h"
#include "hiaton/graph.h"
#include "hiaton/run.h"
#include "hiaton/value.h"

namespace hiaton::exec {

/// Runs the program with the executor that `options` names. `arguments` are by parameter of the program.
///
/// Throws ProgramError where number or types of the arguments, or an option, are wrong; RunError where the
/// run ends without its results.
RunResult run(const graph::Graph& graph, std::span<const Value> arguments, const RunOptions& options = {});
/// The same, with plans of the graph that are kept between runs.
RunResult run(const graph::Graph& graph, std::span<const Value> arguments, const RunOptions& options,
              PlanCache& plans);

/// Runs the program for each argument list; what is alike in them runs in batches.
void run_all(const graph::Graph& graph, Examples& examples, const RunOptions& options, PlanCache& plans);

}  // namespace hiaton::exec
