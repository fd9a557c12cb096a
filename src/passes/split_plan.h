// What split_loops finds out: which functions are to be split, and what of them runs in which phase.
#pragma once

#include <cstdint>
#include <vector>

#include "hiaton/ir.h"
#include "passes/call_graph.h"
#include "passes/effects.h"
#include "passes/phase_analysis.h"

namespace hiaton::passes {

/// How a function is to be split.
struct SplitPlan {
  Phasing phasing;
  std::vector<NumberSet> nodes;  ///< phases_of_nodes
  std::vector<uint32_t> values;  ///< in which phase each value is there
};

/// A function, perhaps with bodies in the place of calls, and how it is to be split.
struct PlannedSplit {
  ir::FunctionId id;
  ir::Function from;
  SplitPlan plan;
};

/// What is known of each function, by its number.
struct SplitCandidates {
  std::vector<bool> works;     ///< it, or what it calls, multiplies matrices
  std::vector<bool> recurses;  ///< it, or what it calls, calls itself
  std::vector<bool> is_plain;  ///< it may have several phases
};

/// Which functions of the module are to be split.
std::vector<PlannedSplit> plan_splits(const ir::Module& module, const CallGraph& calls,
                                      const SplitCandidates& candidates, const Effects& effects);

}  // namespace hiaton::passes
