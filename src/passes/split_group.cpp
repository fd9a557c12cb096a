// Plans how functions that call each other, or one that calls itself, are split together.
//
// Which phase a parameter comes in may be chosen freely, but for one thing: what comes in the first phase
// must be given in the first phase by all calls of the group. So the accumulators are what these calls pass
// on of work, and what depends on accumulators; all else comes first. All accumulators have one phase to
// begin with. Where that does not do, those that come at different times in a call of the group get phases of
// their own. From that follows when results are there, and from these what else depends on accumulators: a
// fixed point.
#include "passes/split_group.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

namespace hiaton::passes {
namespace {

using ir::NodeKind;

constexpr NumberSet kFirst = 1;

/// What depends on nothing but phases up to this one.
NumberSet up_to(uint32_t phase) {
  return phase == 0 ? 0 : kFirst << (phase - 1);
}
uint32_t phase_of(NumberSet dependence) {
  return static_cast<uint32_t>(std::bit_width(dependence));
}

bool gives_early(const Phasing& phasing) {
  return std::ranges::find(phasing.results, 0u) != phasing.results.end();
}

bool is_product(const OpDef& op) {
  return op.role == Role::Product || op.role == Role::ProductTransposed;
}

/// Whether one member can be split, once it is known what of it runs in which phase.
class Check {
 public:
  Check(const SplitContext& context, const Member& member, const SplitPlan& plan)
      : context_(context), f_(member.from), plan_(plan), definitions_(f_) {}

  bool can_split() { return can_split(f_.body, true); }
  /// Asked after can_split().
  bool works_early() const { return works_early_; }

 private:
  bool is_in_group(const ir::Node& node) const {
    return node.kind == NodeKind::Call && context_.in_group[node.callee.index()];
  }

  /// `together`: the block is reached by what all phases know.
  bool can_split(ir::BlockId block, bool together) {
    return std::ranges::all_of(f_[block].nodes, [&](ir::NodeId id) { return can_split(id, together); });
  }

  bool can_split(ir::NodeId id, bool together) {
    const ir::Node& node = f_[id];
    if (node.of.valid() || node.kind == NodeKind::Resume || node.kind == NodeKind::Accumulate) return false;
    if (is_in_group(node)) return together;
    if (node.kind == NodeKind::If) {
      const bool splits = together && plan_.values[node.operands[0].index()] == 0;
      return can_split(node.blocks[0], splits) && can_split(node.blocks[1], splits);
    }
    const bool begins_early = together && (plan_.nodes[id.index()] & kFirst) != 0;
    if (!begins_early)
      return !is_recursive_work(node) && !context_.effects.may_fail_or_diverge(definitions_, node);
    if (node.kind == NodeKind::Call && context_.works(node)) works_early_ = true;
    if (node.kind == NodeKind::Op && is_product(*node.op) && gives_early(plan_.phasing)) works_early_ = true;
    return std::ranges::none_of(node.blocks, [&](ir::BlockId block) { return calls_group(block); });
  }

  /// What is worth to be looked at in the place of the call, and done early.
  bool is_recursive_work(const ir::Node& node) const {
    return node.kind == NodeKind::Call && context_.works(node) &&
           context_.candidates.recurses[node.callee.index()];
  }

  bool calls_group(ir::BlockId block) const {
    return std::ranges::any_of(f_[block].nodes, [&](ir::NodeId id) {
      return is_in_group(f_[id]) ||
             std::ranges::any_of(f_[id].blocks, [&](ir::BlockId inner) { return calls_group(inner); });
    });
  }

  const SplitContext& context_;
  const ir::Function& f_;
  const SplitPlan& plan_;
  const Definitions definitions_;
  bool works_early_ = false;
};

/// Plans for the members that are still to be split.
class GroupPlanner {
 public:
  GroupPlanner(SplitContext& context, const std::vector<Member>& members) : context_(context) {
    for (const Member& member : members) members_.push_back({&member, {}, {}});
  }

  std::vector<PlannedSplit> plan(Obstacles& obstacles) {
    for (const Planned& each : members_) context_.in_group[index_of(each)] = true;
    std::vector<PlannedSplit> plans;
    while (plans.empty() && !members_.empty()) plans = plan_all(obstacles);
    for (const Planned& each : members_) context_.in_group[index_of(each)] = false;
    return plans;
  }

 private:
  struct Planned {
    const Member* member;
    std::vector<NumberSet> values;  ///< what they depend on
    SplitPlan plan;
  };

  static std::size_t index_of(const Planned& each) { return each.member->id.index(); }
  Phasing& phasing_of(const Planned& each) { return *context_.phasings[index_of(each)]; }
  const ir::Function& body_of(const Planned& each) const { return each.member->from; }
  bool is_in_group(const ir::Node& node) const {
    return node.kind == NodeKind::Call && context_.in_group[node.callee.index()];
  }

  /// All members; without plans where some were left out, or where nothing can be split.
  std::vector<PlannedSplit> plan_all(Obstacles& obstacles);
  void begin();
  void find_phases();
  bool find_phases_in(Planned& each);
  bool refine();
  bool refine_by(const ir::Node& call, const std::vector<NumberSet>& values);
  void make_plan(Planned& each);
  std::vector<bool> which_can_split(bool& works_early) const;
  NumberSet of_plain_call(const Planned& from, const ir::Node& call, std::size_t result,
                          const std::vector<NumberSet>& values) const;
  template <class IsWanted>
  std::vector<PlainCall> calls_where(const IsWanted& is_wanted) const;
  std::vector<PlainCall> late_work() const;
  std::vector<PlainCall> mixed_calls() const;
  void leave_out(const std::vector<bool>& stays);
  std::vector<PlannedSplit> finish();

  SplitContext& context_;
  std::vector<Planned> members_;
};

/// What a result of a call of a function of one phase depends on. Functions of the same cycle are split
/// together or not at all.
NumberSet GroupPlanner::of_plain_call(const Planned& from, const ir::Node& call, std::size_t result,
                                      const std::vector<NumberSet>& values) const {
  const std::vector<uint32_t>& cycle = context_.calls.cycle;
  if (cycle[call.callee.index()] == cycle[index_of(from)]) return any_of(call.operands, values);
  return needed_by_result(context_.needs, call, result, values);
}

/// The accumulators: the parameters of members for which calls of members pass on work, or what such calls
/// give.
void GroupPlanner::begin() {
  for (const Planned& each : members_) {
    const std::vector<uint32_t>& given = each.member->phases;
    context_.phasings[index_of(each)] = {
        given.empty() ? std::vector<uint32_t>(body_of(each).params.size()) : given,
        std::vector<uint32_t>(body_of(each).results.size())};
  }
  for (const Planned& each : members_) {
    const OfCall of_call = [&](const ir::Node& call, std::size_t i, const std::vector<NumberSet>& values) {
      return context_.works(call) ? kFirst : of_plain_call(each, call, i, values);
    };
    const std::vector<NumberSet> none(body_of(each).params.size());
    const std::vector<NumberSet> values = dependences(body_of(each), none, of_call);
    for (const ir::Node& node : body_of(each).nodes) {
      if (!is_in_group(node)) continue;
      Phasing& callee = *context_.phasings[node.callee.index()];
      for (std::size_t i = 0; i < node.operands.size(); ++i) {
        if (values[node.operands[i].index()] != 0) callee.params[i] = std::max(1u, callee.params[i]);
      }
    }
  }
}

/// In which phases the results of the members come, and which further parameters depend on accumulators.
void GroupPlanner::find_phases() {
  for (const Planned& each : members_) std::ranges::fill(phasing_of(each).results, 0u);
  for (bool more = true; more;) {
    more = false;
    for (Planned& each : members_) more = find_phases_in(each) || more;
  }
}

bool GroupPlanner::find_phases_in(Planned& each) {
  const OfCall of_call = [&](const ir::Node& call, std::size_t i, const std::vector<NumberSet>& values) {
    const std::optional<Phasing>& callee = context_.phasings[call.callee.index()];
    if (callee) return needed_by_phase(*callee, callee->results[i], call, values);
    return of_plain_call(each, call, i, values);
  };
  const ir::Function& f = body_of(each);
  Phasing& own = phasing_of(each);
  std::vector<NumberSet> params;
  for (const uint32_t phase : own.params) params.push_back(up_to(phase));
  each.values = dependences(f, params, of_call);
  bool more = false;
  for (std::size_t i = 0; i < own.results.size(); ++i) {
    const uint32_t phase = phase_of(each.values[f[f.body].results[i].index()]);
    if (own.results[i] >= phase) continue;
    own.results[i] = phase;
    more = true;
  }
  for (const ir::Node& node : f.nodes) {
    if (!is_in_group(node)) continue;
    Phasing& callee = *context_.phasings[node.callee.index()];
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      if (callee.params[i] != 0 || each.values[node.operands[i].index()] == 0) continue;
      callee.params[i] = std::max(1u, callee.count() - 1);
      more = true;
    }
  }
  return more;
}

/// Gives accumulators of one phase phases of their own where a call has them in different phases. Gives
/// whether there are more phases than before.
bool GroupPlanner::refine() {
  bool any = false;
  for (const Planned& each : members_) {
    for (const ir::Node& node : body_of(each).nodes) {
      if (is_in_group(node)) any = refine_by(node, each.values) || any;
    }
  }
  return any;
}

bool GroupPlanner::refine_by(const ir::Node& call, const std::vector<NumberSet>& values) {
  constexpr uint32_t kMostPhases = 8;
  Phasing& callee = *context_.phasings[call.callee.index()];
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> numbers;  ///< by phase and that of the argument
  const auto key = [&](std::size_t i) {
    const uint32_t phase = callee.params[i];
    return std::pair(phase, phase == 0 ? 0 : phase_of(values[call.operands[i].index()]));
  };
  for (std::size_t i = 0; i < callee.params.size(); ++i) numbers[key(i)] = 0;
  numbers[{0, 0}] = 0;
  if (numbers.size() == callee.count() || numbers.size() > kMostPhases) return false;
  uint32_t next = 0;
  for (auto& [phases, number] : numbers) number = next++;
  for (std::size_t i = 0; i < callee.params.size(); ++i) callee.params[i] = numbers[key(i)];
  return true;
}

void GroupPlanner::make_plan(Planned& each) {
  each.plan.phasing = phasing_of(each);
  each.plan.values.clear();
  for (const NumberSet value : each.values) each.plan.values.push_back(phase_of(value));
  each.plan.nodes = phases_of_nodes(body_of(each), each.plan.values, context_.phasings);
}

/// `works_early`: set where one of them works in its first phase, or is wanted for what it gives in it.
std::vector<bool> GroupPlanner::which_can_split(bool& works_early) const {
  std::vector<bool> can;
  for (const Planned& each : members_) {
    Check check(context_, *each.member, each.plan);
    const Phasing& phasing = each.plan.phasing;
    const bool has_phases = phasing.count() > 1;
    const bool begins = !has_phases || std::ranges::find(phasing.params, 0u) != phasing.params.end();
    can.push_back(begins && check.can_split());
    const bool is_worth_it = check.works_early() || (!each.member->phases.empty() && gives_early(phasing));
    works_early = works_early || (can.back() && has_phases && is_worth_it);
  }
  return can;
}

/// The calls of the members for which `is_wanted` says so, of a member and the number of a node.
template <class IsWanted>
std::vector<PlainCall> GroupPlanner::calls_where(const IsWanted& is_wanted) const {
  std::vector<PlainCall> found;
  for (const Planned& each : members_) {
    for (std::size_t i = 0; i < body_of(each).nodes.size(); ++i) {
      const ir::Node& node = body_of(each).nodes[i];
      if (node.kind != NodeKind::Call || !is_wanted(each, i)) continue;
      found.push_back({node.callee, {}});
      for (const ir::ValueId operand : node.operands)
        found.back().phases.push_back(each.plan.values[operand.index()]);
    }
  }
  return found;
}

std::vector<PlainCall> GroupPlanner::late_work() const {
  return calls_where([&](const Planned& each, std::size_t i) {
    const ir::Node& call = body_of(each).nodes[i];
    return (each.plan.nodes[i] & kFirst) == 0 && !is_in_group(call) && context_.works(call);
  });
}

/// The calls with results that could be there before all arguments are. (Where the call stands in a block
/// that is reached later than all of these are there, that is no matter.)
std::vector<PlainCall> GroupPlanner::mixed_calls() const {
  return calls_where([&](const Planned& each, std::size_t i) {
    const ir::Node& call = body_of(each).nodes[i];
    const auto phase = [&](ir::ValueId value) { return each.plan.values[value.index()]; };
    uint32_t latest = 0;
    for (const ir::ValueId operand : call.operands) latest = std::max(latest, phase(operand));
    return !context_.phasings[call.callee.index()] &&
           std::ranges::any_of(call.results, [&](ir::ValueId result) { return phase(result) < latest; });
  });
}

void GroupPlanner::leave_out(const std::vector<bool>& stays) {
  std::vector<Planned> staying;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (stays[i]) {
      staying.push_back(std::move(members_[i]));
      continue;
    }
    context_.in_group[index_of(members_[i])] = false;
    context_.phasings[index_of(members_[i])].reset();
  }
  members_ = std::move(staying);
}

std::vector<PlannedSplit> GroupPlanner::plan_all(Obstacles& obstacles) {
  begin();
  std::vector<bool> can;
  do {
    find_phases();
    for (Planned& each : members_) make_plan(each);
    obstacles.mixed = mixed_calls();
    if (!obstacles.mixed.empty()) {
      leave_out(std::vector<bool>(members_.size(), false));
      return {};
    }
    bool works_early = false;
    can = which_can_split(works_early);
    const bool can_all = std::ranges::find(can, false) == can.end();
    if (can_all && works_early) return finish();
    if (can_all) can.assign(members_.size(), false);
  } while (refine());
  obstacles.late_work = late_work();
  leave_out(can);
  return {};
}

/// The plans of those members that have accumulators.
std::vector<PlannedSplit> GroupPlanner::finish() {
  std::vector<PlannedSplit> plans;
  for (Planned& each : members_) {
    if (each.plan.phasing.count() > 1)
      plans.push_back({each.member->id, each.member->from, std::move(each.plan)});
    else
      context_.phasings[index_of(each)].reset();
  }
  return plans;
}

}  // namespace

std::vector<PlannedSplit> plan_group(SplitContext& context, const std::vector<Member>& members,
                                     Obstacles& obstacles) {
  return GroupPlanner(context, members).plan(obstacles);
}

}  // namespace hiaton::passes
