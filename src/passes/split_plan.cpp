#include "passes/split_plan.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "passes/result_needs.h"
#include "passes/rewrite.h"
#include "passes/split_group.h"

namespace hiaton::passes {
namespace {

using ir::NodeKind;

/// Puts the bodies of some functions in the place of calls of them.
class InPlace : public Rewriter {
 public:
  InPlace(const ir::Module& module, std::vector<ir::FunctionId> which)
      : module_(module), which_(std::move(which)) {}

 protected:
  void visit(const ir::Node& node) override {
    const bool is_replaced =
        node.kind == NodeKind::Call && std::ranges::find(which_, node.callee) != which_.end();
    if (!is_replaced) return emit_copy(node);
    const std::vector<ir::ValueId> results = splice(module_[node.callee], mapped(node.operands));
    for (std::size_t i = 0; i < results.size(); ++i) map(node.results[i], results[i]);
  }

 private:
  const ir::Module& module_;
  const std::vector<ir::FunctionId> which_;
};

/// Whether the body of a function may stand in the place of calls of it.
bool may_stand_in_place(const ir::Function& function, ir::FunctionId id) {
  constexpr std::size_t kMostNodes = 100;
  const auto calls_itself = [&](const ir::Node& node) { return node.callee.valid() && node.callee == id; };
  return function.body.valid() && function.phases.empty() && !function.recompute &&
         function.nodes.size() <= kMostNodes && std::ranges::none_of(function.nodes, calls_itself);
}

/// The same in numbers from 0 on without gaps.
std::vector<uint32_t> ranks(const std::vector<uint32_t>& phases) {
  std::vector<uint32_t> sorted = phases;
  std::ranges::sort(sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<uint32_t> found;
  for (const uint32_t phase : phases)
    found.push_back(static_cast<uint32_t>(std::ranges::find(sorted, phase) - sorted.begin()));
  return found;
}

/// Plans groups, with what stands in their way put in the place of its calls, or split too.
class Planner {
 public:
  explicit Planner(SplitContext& context) : context_(context) {}

  std::vector<PlannedSplit> plan(std::vector<Member> members, int depth = 0) {
    std::vector<PlannedSplit> helpers;
    for (int in_place = 0;;) {
      Obstacles obstacles;
      std::vector<PlannedSplit> plans = plan_group(context_, members, obstacles);
      if (!plans.empty()) {
        std::ranges::move(helpers, std::back_inserter(plans));
        return plans;
      }
      const bool is_mixed = !obstacles.mixed.empty();
      const std::vector<PlainCall>& calls = is_mixed ? obstacles.mixed : obstacles.late_work;
      if (in_place < kMostDepth && all_may_stand_in_place(calls)) {
        put_in_place(calls, members);
        ++in_place;
      } else if (!is_mixed || !split_or_give_up(calls, helpers, depth)) {
        break;
      }
    }
    for (const PlannedSplit& helper : helpers) context_.phasings[helper.id.index()].reset();
    return {};
  }

 private:
  static constexpr int kMostDepth = 3;  ///< of functions that hand the accumulator on

  bool all_may_stand_in_place(const std::vector<PlainCall>& calls) const {
    return !calls.empty() && std::ranges::all_of(calls, [&](const PlainCall& call) {
      return may_stand_in_place(context_.module[call.callee], call.callee);
    });
  }

  void put_in_place(const std::vector<PlainCall>& calls, std::vector<Member>& members) const {
    std::vector<ir::FunctionId> callees;
    for (const PlainCall& call : calls) callees.push_back(call.callee);
    for (Member& member : members) member.from = InPlace(context_.module, callees).rewrite(member.from);
  }

  /// Where a callee cannot be split, all of its results come when all of its arguments are there. Gives
  /// whether more is known of a callee than before.
  bool split_or_give_up(const std::vector<PlainCall>& calls, std::vector<PlannedSplit>& helpers, int depth) {
    bool is_news = false;
    for (const PlainCall& call : calls) {
      const std::size_t callee = call.callee.index();
      if (context_.phasings[callee]) continue;
      std::vector<PlannedSplit> plans;
      if (depth < kMostDepth && context_.candidates.is_plain[callee])
        plans = plan({{call.callee, context_.module[call.callee], ranks(call.phases)}}, depth + 1);
      is_news = is_news || !plans.empty() || !context_.needs[callee].empty();
      if (plans.empty()) context_.needs[callee].clear();
      std::ranges::move(plans, std::back_inserter(helpers));
    }
    return is_news;
  }

  SplitContext& context_;
};

}  // namespace

std::vector<PlannedSplit> plan_splits(const ir::Module& module, const CallGraph& calls,
                                      const SplitCandidates& candidates, const Effects& effects) {
  constexpr std::size_t kMostMembers = 32;
  const std::size_t count = module.functions.size();
  SplitContext context{module, calls, candidates, effects, {}, Phasings(count), std::vector<bool>(count)};
  const auto may_split = [&](ir::FunctionId id) {
    return candidates.is_plain[id.index()] && candidates.works[id.index()] && calls.recursive[id.index()] &&
           !context.phasings[id.index()];
  };
  if (std::ranges::none_of(calls.bottom_up, may_split)) return {};
  context.needs = result_needs(module, calls);
  std::vector<PlannedSplit> plans;
  const auto plan = [&](const std::vector<ir::FunctionId>& group) {
    std::vector<Member> members;
    for (const ir::FunctionId id : group) members.push_back({id, module[id], {}});
    std::ranges::move(Planner(context).plan(std::move(members)), std::back_inserter(plans));
  };
  for (auto next = calls.bottom_up.begin(); next != calls.bottom_up.end();) {
    const uint32_t cycle = calls.cycle[next->index()];
    std::vector<ir::FunctionId> others;
    for (; next != calls.bottom_up.end() && calls.cycle[next->index()] == cycle; ++next) {
      if (!may_split(*next)) continue;
      plan({*next});
      others.push_back(*next);
    }
    std::erase_if(others, std::not_fn(may_split));
    if (others.size() > 1 && others.size() <= kMostMembers) plan(others);
  }
  std::ranges::sort(plans, {}, [](const PlannedSplit& each) { return each.id.index(); });
  return plans;
}

}  // namespace hiaton::passes
