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

/// Which functions of the module are to be split. `works`: by function, whether it multiplies matrices.
/// `may_split`: by function, whether it may be split at all.
std::vector<PlannedSplit> plan_splits(const ir::Module& module, const CallGraph& calls,
                                      const std::vector<bool>& works, const std::vector<bool>& may_split,
                                      const Effects& effects);

}  // namespace hiaton::passes
