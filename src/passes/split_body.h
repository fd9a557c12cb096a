// Makes what split_loops makes: bodies of functions of several phases, and calls of them.
#pragma once

#include <optional>
#include <vector>

#include "passes/body_copier.h"
#include "passes/split_plan.h"

namespace hiaton::passes {

/// A function that was split, and the function of its phases.
struct Split {
  Phasing phasing;
  FunctionRef phases;
};

/// By function: those that were split.
using Splits = std::vector<std::optional<Split>>;

inline bool is_split_call(const Splits& splits, const ir::Node& node) {
  return node.kind == ir::NodeKind::Call && splits[node.callee.index()].has_value();
}

/// All phases of a function that was split, one after the other: its results.
Vars call_all_phases(FunctionBuilder& f, const Split& split, const std::vector<Var>& arguments);

/// Copies a body; calls of functions that were split become calls of their phases, the first of which does
/// not wait for the accumulators.
class CallPhases : public BodyCopier {
 public:
  CallPhases(const ir::Function& from, const Splits& splits, FunctionBuilder& to)
      : BodyCopier(from, to), splits_(splits) {}

 protected:
  void visit(ir::NodeId id) override;

  const Splits& splits_;
};

/// The body of the function of the phases of one that is split: the results of all phases.
Vars build_phases(const PlannedSplit& planned, const Splits& splits, FunctionBuilder& to);

}  // namespace hiaton::passes
