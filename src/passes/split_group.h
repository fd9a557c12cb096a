// Plans how functions that call each other are split together.
#pragma once

#include <optional>
#include <vector>

#include "passes/split_plan.h"

namespace hiaton::passes {

/// What is known of the module while its functions are planned, callees first.
struct SplitContext {
  const ir::Module& module;
  const SplitCandidates& candidates;
  const Effects& effects;
  Phasings phasings;           ///< of the functions that are to be split
  std::vector<bool> in_group;  ///< by function; none between two plans

  bool works(const ir::Node& call) const { return candidates.works[call.callee.index()]; }
};

/// Functions of a group, and what stands for them: their bodies, perhaps with others in the place of calls.
struct Member {
  ir::FunctionId id;
  ir::Function from;
};

/// How the members that can be split are, together; none where it is not worth it. Their phasings are in the
/// context then. `late_work`: gets the functions that stand in the way since they take an accumulator and
/// work.
std::vector<PlannedSplit> plan_group(SplitContext& context, const std::vector<Member>& members,
                                     std::vector<ir::FunctionId>& late_work);

}  // namespace hiaton::passes
