// What split_loops finds out about a function: what of it depends on an accumulator, and whether it is to be
// split.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "hiaton/ir.h"
#include "passes/effects.h"

namespace hiaton::passes {

/// What of a function depends on an accumulator.
struct Dependence {
  std::vector<bool> values;  ///< by value
  std::vector<bool> nodes;   ///< by node: nodes with blocks, where anything in them does
};

/// How a function is to be split.
struct SplitPlan {
  std::vector<std::size_t> early;  ///< parameters of the first phase
  std::vector<std::size_t> late;   ///< the accumulators
  std::vector<std::size_t> early_results;
  std::vector<std::size_t> late_results;
  Dependence on_late;
};

/// A function, perhaps with bodies in the place of calls, and how it is to be split.
struct PlannedSplit {
  ir::FunctionId id;
  ir::Function from;
  SplitPlan plan;
};

/// None where the function is not to be split. `works`: by function, whether it multiplies matrices.
std::optional<PlannedSplit> plan_of(const ir::Module& module, ir::FunctionId id,
                                    const std::vector<bool>& works, const Effects& effects);

}  // namespace hiaton::passes
