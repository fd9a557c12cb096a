// Programs that run phase by phase.
#pragma once

#include <memory>
#include <vector>

#include "exec/phased_run.h"
#include "exec/plan_cache.h"
#include "hiaton/graph.h"
#include "hiaton/run.h"

namespace hiaton::exec {

/// What all open runs of a program share.
struct OpenProgram {
  graph::Graph graph;  ///< whose program has the phases, if they are several
  std::vector<Phase> phases;
  std::shared_ptr<PlanCache> plans;  ///< of that graph
  OverflowMode overflow;

  /// `plans` are those of the graph.
  OpenProgram(const graph::Graph& program, std::shared_ptr<PlanCache> plans_of_graph, OverflowMode overflow);
};

/// Begins a run. Both must live as long. A program of one phase runs as any other once that has come. Throws
/// ProgramError where the options are wrong, or none for a run in several phases.
std::unique_ptr<PhasedRun> open_run(const OpenProgram& program, const RunOptions& options);

}  // namespace hiaton::exec
