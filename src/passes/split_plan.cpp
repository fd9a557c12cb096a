#include "passes/split_plan.h"

#include <algorithm>
#include <span>
#include <utility>

#include "passes/rewrite.h"

namespace hiaton::passes {
namespace {

using ir::NodeKind;

bool is_product(const OpDef& op) {
  return op.role == Role::Product || op.role == Role::ProductTransposed;
}

/// Follows dependences through a function, in its order.
class Follow {
 public:
  Follow(const ir::Function& function, ir::FunctionId self, const std::vector<bool>& sources)
      : f_(function), self_(self), sources_(sources) {}

  /// What depends on the parameters `late`, on those results of calls of the function itself that are
  /// `late_results`, and, where asked, on the work.
  Dependence from(const std::vector<bool>& late, const std::vector<bool>& late_results, bool work) {
    work_ = work;
    late_results_ = late_results;
    found_ = {std::vector<bool>(f_.values.size()), std::vector<bool>(f_.nodes.size())};
    const ir::ValueIds& params = f_[f_.body].params;
    for (std::size_t i = 0; i < params.size(); ++i) found_.values[params[i].index()] = late[i];
    walk(f_.body);
    return std::move(found_);
  }

 private:
  bool depends(ir::ValueId value) const { return found_.values[value.index()]; }
  bool any_depends(std::span<const ir::ValueId> values) const {
    return std::any_of(values.begin(), values.end(), [&](ir::ValueId value) { return depends(value); });
  }

  /// Whether anything in the block or what it gives depends.
  bool walk(ir::BlockId block) {
    bool any = false;
    for (const ir::NodeId id : f_[block].nodes) {
      visit(id);
      any = any || found_.nodes[id.index()];
    }
    return any || any_depends(f_[block].results);
  }

  void visit(ir::NodeId id) {
    const ir::Node& node = f_[id];
    const bool is_self_call = node.kind == NodeKind::Call && node.callee == self_;
    bool all = !is_self_call && any_depends(node.operands);
    if (node.kind == NodeKind::Call && work_ && sources_[node.callee.index()]) all = true;
    bool inside = is_self_call;
    for (const ir::BlockId block : node.blocks) inside = walk(block) || inside;
    if (node.kind == NodeKind::While) all = all || inside;
    found_.nodes[id.index()] = all || inside;
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      bool late = all || (is_self_call && late_results_[i]);
      if (node.kind == NodeKind::If) {
        for (const ir::BlockId block : node.blocks) late = late || depends(f_[block].results[i]);
      }
      found_.values[node.results[i].index()] = late;
    }
  }

  const ir::Function& f_;
  const ir::FunctionId self_;
  const std::vector<bool>& sources_;
  std::vector<bool> late_results_;
  bool work_ = false;
  Dependence found_;
};

class Planner {
 public:
  Planner(const ir::Function& function, ir::FunctionId self, const std::vector<bool>& works,
          const Effects& effects)
      : f_(function), self_(self), works_(works), effects_(effects), definitions_(function) {}

  /// None where the function is not to be split.
  std::optional<SplitPlan> plan() {
    find_self_calls(f_.body);
    Follow follow(f_, self_, works_);
    std::vector<bool> late(f_.params.size());
    std::vector<bool> late_results(f_.results.size());
    add_late(late, follow.from(late, std::vector<bool>(f_.results.size(), true), true));
    for (bool more = true; more;) {
      plan_.on_late = follow.from(late, late_results, false);
      const bool has_params = add_late(late, plan_.on_late);
      const bool has_results = add_late_results(late_results, plan_.on_late);
      more = has_params || has_results;
    }
    for (std::size_t i = 0; i < late.size(); ++i) (late[i] ? plan_.late : plan_.early).push_back(i);
    for (std::size_t i = 0; i < late_results.size(); ++i)
      (late_results[i] ? plan_.late_results : plan_.early_results).push_back(i);
    const bool splits =
        !plan_.early.empty() && !plan_.late.empty() && can_split(f_.body, true) && works_early_;
    return splits ? std::optional(plan_) : std::nullopt;
  }

  /// Asked after `plan`: the functions that get an accumulator and work.
  std::vector<ir::FunctionId> work_on_late() const {
    std::vector<ir::FunctionId> found;
    for (std::size_t i = 0; i < f_.nodes.size(); ++i) {
      const ir::Node& node = f_.nodes[i];
      const bool is_late_call = node.kind == NodeKind::Call && plan_.on_late.nodes[i] && !is_self_call(node);
      if (is_late_call && works_[node.callee.index()]) found.push_back(node.callee);
    }
    return found;
  }

 private:
  void find_self_calls(ir::BlockId block) {
    for (const ir::NodeId id : f_[block].nodes) {
      if (is_self_call(f_[id])) self_calls_.push_back(id);
      for (const ir::BlockId inner : f_[id].blocks) find_self_calls(inner);
    }
  }
  bool is_self_call(const ir::Node& node) const {
    return node.kind == NodeKind::Call && node.callee == self_;
  }
  bool is_late(ir::ValueId value) const { return plan_.on_late.values[value.index()]; }

  /// Marks the parameters for which a call of the function itself passes on what depends. Gives whether there
  /// are new ones.
  bool add_late(std::vector<bool>& late, const Dependence& dependence) const {
    bool any = false;
    for (const ir::NodeId call : self_calls_) {
      for (std::size_t i = 0; i < late.size(); ++i) {
        if (late[i] || !dependence.values[f_[call].operands[i].index()]) continue;
        late[i] = any = true;
      }
    }
    return any;
  }

  /// The same of the results.
  bool add_late_results(std::vector<bool>& late, const Dependence& dependence) const {
    bool any = false;
    for (std::size_t i = 0; i < late.size(); ++i) {
      if (late[i] || !dependence.values[f_[f_.body].results[i].index()]) continue;
      late[i] = any = true;
    }
    return any;
  }

  /// `together`: the block is reached by what both phases know.
  bool can_split(ir::BlockId block, bool together) {
    return std::ranges::all_of(f_[block].nodes, [&](ir::NodeId id) { return can_split(id, together); });
  }

  bool can_split(ir::NodeId id, bool together) {
    const ir::Node& node = f_[id];
    if (node.of.valid() || node.kind == NodeKind::Resume || node.kind == NodeKind::Accumulate) return false;
    if (is_self_call(node)) return together;
    const bool is_late_node = plan_.on_late.nodes[id.index()] || !together;
    if (node.kind == NodeKind::If) {
      const bool splits = together && !is_late(node.operands[0]);
      return can_split(node.blocks[0], splits) && can_split(node.blocks[1], splits);
    }
    if (is_late_node) return !effects_.may_fail_or_diverge(definitions_, node);
    if (node.kind == NodeKind::Call && works_[node.callee.index()]) works_early_ = true;
    if (node.kind == NodeKind::Op && is_product(*node.op) && !plan_.early_results.empty())
      works_early_ = true;
    return true;
  }

  const ir::Function& f_;
  const ir::FunctionId self_;
  const std::vector<bool>& works_;
  const Effects& effects_;
  const Definitions definitions_;
  std::vector<ir::NodeId> self_calls_;
  SplitPlan plan_;
  bool works_early_ = false;
};

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

}  // namespace

std::optional<PlannedSplit> plan_of(const ir::Module& module, ir::FunctionId id,
                                    const std::vector<bool>& works, const Effects& effects) {
  constexpr int kMostDepth = 3;  // of functions that hand the accumulator on
  ir::Function from = module[id];
  for (int depth = 0;; ++depth) {
    Planner planner(from, id, works, effects);
    if (std::optional<SplitPlan> plan = planner.plan())
      return PlannedSplit{id, std::move(from), std::move(*plan)};
    std::vector<ir::FunctionId> in_place = planner.work_on_late();
    const bool can_go_on =
        depth < kMostDepth && !in_place.empty() && std::ranges::all_of(in_place, [&](ir::FunctionId callee) {
          return may_stand_in_place(module[callee], callee);
        });
    if (!can_go_on) return std::nullopt;
    from = InPlace(module, std::move(in_place)).rewrite(from);
  }
}

}  // namespace hiaton::passes
