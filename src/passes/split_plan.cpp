#include "passes/split_plan.h"

#include <algorithm>
#include <iterator>
#include <utility>

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

/// Tries it with the bodies of functions that take an accumulator and work in the place of their calls, too.
std::vector<PlannedSplit> plan_with_bodies_in_place(SplitContext& context,
                                                    const std::vector<ir::FunctionId>& group) {
  constexpr int kMostDepth = 3;  // of functions that hand the accumulator on
  std::vector<Member> members;
  for (const ir::FunctionId id : group) members.push_back({id, context.module[id]});
  for (int depth = 0;; ++depth) {
    std::vector<ir::FunctionId> in_place;
    std::vector<PlannedSplit> plans = plan_group(context, members, in_place);
    const bool can_go_on =
        depth < kMostDepth && !in_place.empty() && std::ranges::all_of(in_place, [&](ir::FunctionId callee) {
          return may_stand_in_place(context.module[callee], callee);
        });
    if (!plans.empty() || !can_go_on) return plans;
    for (Member& member : members) member.from = InPlace(context.module, in_place).rewrite(member.from);
  }
}

}  // namespace

std::vector<PlannedSplit> plan_splits(const ir::Module& module, const CallGraph& calls,
                                      const SplitCandidates& candidates, const Effects& effects) {
  constexpr std::size_t kMostMembers = 32;
  const std::size_t count = module.functions.size();
  SplitContext context{module, candidates, effects, Phasings(count), std::vector<bool>(count)};
  std::vector<PlannedSplit> plans;
  const auto plan = [&](const std::vector<ir::FunctionId>& group) {
    std::vector<PlannedSplit> more = plan_with_bodies_in_place(context, group);
    std::ranges::move(more, std::back_inserter(plans));
    return !more.empty();
  };
  for (auto next = calls.bottom_up.begin(); next != calls.bottom_up.end();) {
    const uint32_t cycle = calls.cycle[next->index()];
    std::vector<ir::FunctionId> others;
    for (; next != calls.bottom_up.end() && calls.cycle[next->index()] == cycle; ++next) {
      if (candidates.may_split[next->index()] && !plan({*next})) others.push_back(*next);
    }
    if (others.size() > 1 && others.size() <= kMostMembers) plan(others);
  }
  std::ranges::sort(plans, {}, [](const PlannedSplit& each) { return each.id.index(); });
  return plans;
}

}  // namespace hiaton::passes
