#include "passes/split_body.h"

#include <bit>
#include <utility>

namespace hiaton::passes {
namespace {

using ir::NodeKind;

/// Makes the body of the function of several phases.
class SplitBody : public CallPhases {
 public:
  SplitBody(const PlannedSplit& planned, const Splits& splits, FunctionBuilder& to)
      : CallPhases(planned.from, splits, to), plan_(planned.plan), copies_(from_.nodes.size()) {}

  Vars build() {
    const ir::Block& body = from_[from_.body];
    std::size_t next = 0;
    for (uint32_t phase = 0; phase < plan_.phasing.count(); ++phase) {
      for (const std::size_t i : plan_.phasing.params_of(phase)) map(body.params[i], to_.param(next++));
    }
    std::vector<Var> made;
    for (uint32_t phase = 0; phase < plan_.phasing.count(); ++phase) {
      copy_phase(from_.body, phase);
      for (const std::size_t i : plan_.phasing.results_of(phase)) made.push_back(mapped(body.results[i]));
    }
    return Vars(std::move(made));
  }

 private:
  uint32_t phase_of(ir::ValueId value) const { return plan_.values[value.index()]; }

  /// What of the block runs in the phase.
  void copy_phase(ir::BlockId block, uint32_t phase) {
    for (const ir::NodeId id : from_[block].nodes) {
      const NumberSet phases = plan_.nodes[id.index()];
      if ((phases >> phase & 1) == 0) continue;
      begin(from_[id]);
      if (std::has_single_bit(phases)) {
        visit(id);
      } else if (from_[id].kind == NodeKind::Call) {
        call_phases(id, phase);
      } else {
        split_if(id, phase);
      }
    }
  }

  /// The phases of a call that run in this phase of the caller.
  void call_phases(ir::NodeId id, uint32_t phase) {
    const ir::Node& node = from_[id];
    const Split& callee = *splits_[node.callee.index()];
    const std::vector<uint32_t> phases = phases_of_call(callee.phasing, node, plan_.values);
    for (uint32_t called = 0; called < phases.size(); ++called) {
      if (phases[called] != phase) continue;
      std::vector<Var> arguments;
      for (const std::size_t i : callee.phasing.params_of(called))
        arguments.push_back(mapped(node.operands[i]));
      const Vars made = called == 0 ? to_.call(callee.phases, arguments)
                                    : to_.resume(copies_[id.index()], called, arguments);
      if (called == 0) copies_[id.index()] = to_.last_node();
      std::size_t next = 0;
      for (const std::size_t i : callee.phasing.results_of(called)) map(node.results[i], made[next++]);
    }
  }

  /// One phase of an If, with those of its results that the phase makes.
  void split_if(ir::NodeId id, uint32_t phase) {
    const ir::Node& node = from_[id];
    const auto side = [&](ir::BlockId from) {
      const ir::BlockId block = to_.begin_block({});
      copy_phase(from, phase);
      begin(node);
      std::vector<Var> results;
      for (std::size_t i = 0; i < node.results.size(); ++i) {
        if (phase_of(node.results[i]) == phase) results.push_back(mapped(from_[from].results[i]));
      }
      if (results.empty()) results.push_back(to_.constant(true));  // an If has one at least
      to_.end_block(block, Vars(std::move(results)));
      return block;
    };
    const ir::BlockId then = side(node.blocks[0]);
    const ir::BlockId otherwise = side(node.blocks[1]);
    const bool is_first = (plan_.nodes[id.index()] & ((NumberSet{1} << phase) - 1)) == 0;
    const Vars made = is_first ? to_.finish_if(mapped(node.operands[0]), then, otherwise)
                               : to_.finish_if_again(copies_[id.index()], then, otherwise);
    if (is_first) copies_[id.index()] = to_.last_node();
    std::size_t next = 0;
    for (const ir::ValueId result : node.results) {
      if (phase_of(result) == phase) map(result, made[next++]);
    }
  }

  const SplitPlan& plan_;
  std::vector<ir::NodeId> copies_;  ///< first copies of calls and Ifs that run in several phases
};

}  // namespace

Vars call_all_phases(FunctionBuilder& f, const Split& split, const std::vector<Var>& arguments) {
  const Phasing& phasing = split.phasing;
  std::vector<Var> results(phasing.results.size());
  ir::NodeId call;
  for (uint32_t phase = 0; phase < phasing.count(); ++phase) {
    std::vector<Var> given;
    for (const std::size_t i : phasing.params_of(phase)) given.push_back(arguments[i]);
    const Vars made = phase == 0 ? f.call(split.phases, given) : f.resume(call, phase, given);
    if (phase == 0) call = f.last_node();
    std::size_t next = 0;
    for (const std::size_t i : phasing.results_of(phase)) results[i] = made[next++];
  }
  return Vars(std::move(results));
}

void CallPhases::visit(ir::NodeId id) {
  const ir::Node& node = from_[id];
  if (!is_split_call(splits_, node)) return copy(id);
  map(node.results, call_all_phases(to_, *splits_[node.callee.index()], mapped(node.operands)));
}

Vars build_phases(const PlannedSplit& planned, const Splits& splits, FunctionBuilder& to) {
  return SplitBody(planned, splits, to).build();
}

}  // namespace hiaton::passes
