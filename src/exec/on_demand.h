// Demand-driven runs of a program, by the executor that the options name.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "exec/plan_cache.h"
#include "hiaton/graph.h"
#include "hiaton/run.h"
#include "hiaton/value.h"

namespace hiaton::exec {

/// What demand-driven evaluation runs.
struct DemandProgram {
  graph::Graph graph;
  /// The same program for direct code, which runs it as data-driven evaluation would: what is not computed at
  /// once is a data value of its own, a suspension.
  std::optional<graph::Graph> suspended;
  std::string reason;  ///< why there is no such graph
  PlanCache plans;     ///< plans of `suspended`
};

/// By the reference rules, for the reason beside the graph where the production executor is asked for.
RunResult run_on_demand(const graph::Graph& graph, const std::string& reason,
                        std::span<const Value> arguments, const RunOptions& options);
/// Throws what exec::run throws.
RunResult run_on_demand(DemandProgram& program, std::span<const Value> arguments, const RunOptions& options);

/// Runs the program for each argument list, one after the other.
void run_all_on_demand(DemandProgram& program, Examples& examples, const RunOptions& options);

}  // namespace hiaton::exec
