// Plans how functions that call each other are split together.
#pragma once

#include <vector>

#include "passes/result_needs.h"
#include "passes/split_plan.h"

namespace hiaton::passes {

/// What is known of the module while its functions are planned, callees first.
struct SplitContext {
  const ir::Module& module;
  const CallGraph& calls;
  const SplitCandidates& candidates;
  const Effects& effects;
  ResultNeeds needs;           ///< of functions that are not to be split, where they may be after all
  Phasings phasings;           ///< of the functions that are to be split
  std::vector<bool> in_group;  ///< by function; none between two plans

  bool works(const ir::Node& call) const { return candidates.works[call.callee.index()]; }
};

/// A function of a group.
struct Member {
  ir::FunctionId id;
  ir::Function from;             ///< its body, perhaps with others in the place of calls
  std::vector<uint32_t> phases;  ///< in which phase a parameter comes at least; none: the first for all
};

/// A call of a function that has one phase, with the phases in which the arguments are there.
struct PlainCall {
  ir::FunctionId callee;
  std::vector<uint32_t> phases;
};

/// What stands in the way of a plan.
struct Obstacles {
  std::vector<PlainCall> late_work;  ///< they take an accumulator and work
  std::vector<PlainCall>
      mixed;  ///< some of their results could be there before others; nothing else is known
};

/// How the members that can be split are, together; none where it is not worth it. Their phasings are in the
/// context then.
std::vector<PlannedSplit> plan_group(SplitContext& context, const std::vector<Member>& members,
                                     Obstacles& obstacles);

}  // namespace hiaton::passes
