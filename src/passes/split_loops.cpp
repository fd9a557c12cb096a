// split_loops. Its rule: in a function that calls itself and passes on an accumulator,
//   fn f(i, a) = if condition(i) then f(advance(i), combine(a, work(i))) else end(i, a)
// work(i) depends on no accumulator, and yet f waits for `a` before it works on `i`. Such a function becomes
// one of two phases: the first takes `i` alone, does all that depends on no accumulator and begins the calls
// of the function itself; the second takes `a`, combines, and goes on with these calls:
//   phase 0, of i:  if condition(i) then (w = work(i); call phase 0 of advance(i))
//   phase 1, of a:  if the same     then phase 1 of that call, of combine(a, w) else end(i, a)
// A call of the function from outside becomes calls of both phases: the first does not wait for the
// accumulators with which the function begins, which may themselves be work.
// So the work of all iterations can run at once, in batches, and is combined in the order of the iterations:
// the results have the same bits. The frames of the iterations hold the work until it is combined.
// Where a function hands an accumulator to another one that works, as a fold does to the function that it
// applies, the body of that one is looked at in the place of the call.
// Loops whose work may be worth it become such functions before (loops_to_calls).
// A function is split only
//   - where the work calls a function that multiplies matrices: frames that stay must be worth it;
//   - where what is left to the second phase cannot fail or run on forever, and nothing prints: then no fault
//     and no line comes earlier than another that came first;
//   - where no condition around a call of itself depends on an accumulator;
//   - in modules without placements.
#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "hiaton/passes.h"
#include "passes/body_copier.h"
#include "passes/call_graph.h"
#include "passes/effects.h"
#include "passes/rewrite.h"

namespace hiaton::passes {
namespace {

using ir::NodeKind;

/// What of a function depends on an accumulator.
struct Dependence {
  std::vector<bool> values;  ///< by value
  std::vector<bool> nodes;   ///< by node: nodes with blocks, where anything in them does
};

/// Follows dependences through a function, in its order.
class Follow {
 public:
  Follow(const ir::Function& function, ir::FunctionId self, const std::vector<bool>& sources)
      : f_(function), self_(self), sources_(sources) {}

  /// What depends on the parameters `late`, on what calls of the function itself give, and, where asked, on
  /// the work.
  Dependence from(const std::vector<bool>& late, bool work) {
    work_ = work;
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
    bool all = any_depends(node.operands);
    if (node.kind == NodeKind::Call)
      all = all || node.callee == self_ || (work_ && sources_[node.callee.index()]);
    bool inside = false;
    for (const ir::BlockId block : node.blocks) inside = walk(block) || inside;
    if (node.kind == NodeKind::While) all = all || inside;
    found_.nodes[id.index()] = all || inside;
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      bool late = all;
      if (node.kind == NodeKind::If) {
        for (const ir::BlockId block : node.blocks) late = late || depends(f_[block].results[i]);
      }
      found_.values[node.results[i].index()] = late;
    }
  }

  const ir::Function& f_;
  const ir::FunctionId self_;
  const std::vector<bool>& sources_;
  bool work_ = false;
  Dependence found_;
};

/// How a function is to be split.
struct Plan {
  std::vector<std::size_t> early;  ///< parameters of the first phase
  std::vector<std::size_t> late;   ///< the accumulators
  Dependence on_late;
};

class Planner {
 public:
  Planner(const ir::Function& function, ir::FunctionId self, const std::vector<bool>& works,
          const Effects& effects)
      : f_(function), self_(self), works_(works), effects_(effects), definitions_(function) {}

  /// None where the function is not to be split.
  std::optional<Plan> plan() {
    find_self_calls(f_.body);
    Follow follow(f_, self_, works_);
    std::vector<bool> late(f_.params.size());
    add_late(late, follow.from(late, true));
    do {
      plan_.on_late = follow.from(late, false);
    } while (add_late(late, plan_.on_late));
    for (std::size_t i = 0; i < late.size(); ++i) (late[i] ? plan_.late : plan_.early).push_back(i);
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
    return true;
  }

  const ir::Function& f_;
  const ir::FunctionId self_;
  const std::vector<bool>& works_;
  const Effects& effects_;
  const Definitions definitions_;
  std::vector<ir::NodeId> self_calls_;
  Plan plan_;
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

/// Makes the body of the function of two phases.
class SplitBody : public BodyCopier {
 public:
  SplitBody(const ir::Function& from, const Plan& plan, ir::FunctionId self, FunctionRef split,
            FunctionBuilder& to)
      : BodyCopier(from, to), plan_(plan), self_(self), split_(split), copies_(from.nodes.size()) {}

  Vars build() {
    const ir::ValueIds& params = from_[from_.body].params;
    std::size_t next = 0;
    for (const std::size_t i : plan_.early) map(params[i], to_.param(next++));
    for (const std::size_t i : plan_.late) map(params[i], to_.param(next++));
    copy_early(from_.body);
    copy_late(from_.body);
    return Vars(mapped(from_[from_.body].results));
  }

 private:
  bool is_late(ir::ValueId value) const { return plan_.on_late.values[value.index()]; }
  bool is_late(ir::NodeId node) const { return plan_.on_late.nodes[node.index()]; }
  bool is_self_call(const ir::Node& node) const {
    return node.kind == NodeKind::Call && node.callee == self_;
  }
  bool is_split(ir::NodeId id) const {
    return from_[id].kind == NodeKind::If && is_late(id) && !is_late(from_[id].operands[0]);
  }

  std::vector<Var> arguments(const ir::Node& call, const std::vector<std::size_t>& params) const {
    std::vector<Var> arguments;
    for (const std::size_t i : params) arguments.push_back(mapped(call.operands[i]));
    return arguments;
  }

  void copy_early(ir::BlockId block) {
    for (const ir::NodeId id : from_[block].nodes) {
      const ir::Node& node = from_[id];
      begin(node);
      if (is_self_call(node)) {
        to_.call(split_, arguments(node, plan_.early));
        copies_[id.index()] = to_.last_node();
      } else if (is_split(id)) {
        split_if(id, false);
      } else if (!is_late(id)) {
        visit(id);
      }
    }
  }

  void copy_late(ir::BlockId block) {
    for (const ir::NodeId id : from_[block].nodes) {
      const ir::Node& node = from_[id];
      begin(node);
      if (is_self_call(node)) {
        map(node.results, to_.resume(copies_[id.index()], 1, arguments(node, plan_.late)));
      } else if (is_split(id)) {
        split_if(id, true);
      } else if (is_late(id)) {
        visit(id);
      }
    }
  }

  /// One phase of an If, with those of its results that the phase makes.
  void split_if(ir::NodeId id, bool late) {
    const ir::Node& node = from_[id];
    const auto side = [&](ir::BlockId from) {
      const ir::BlockId block = to_.begin_block({});
      late ? copy_late(from) : copy_early(from);
      begin(node);
      std::vector<Var> results;
      for (std::size_t i = 0; i < node.results.size(); ++i) {
        if (is_late(node.results[i]) == late) results.push_back(mapped(from_[from].results[i]));
      }
      if (results.empty()) results.push_back(to_.constant(true));  // an If has one at least
      to_.end_block(block, Vars(std::move(results)));
      return block;
    };
    const ir::BlockId then = side(node.blocks[0]);
    const ir::BlockId otherwise = side(node.blocks[1]);
    const Vars made = late ? to_.finish_if_again(copies_[id.index()], then, otherwise)
                           : to_.finish_if(mapped(node.operands[0]), then, otherwise);
    if (!late) copies_[id.index()] = to_.last_node();
    std::size_t next = 0;
    for (const ir::ValueId result : node.results) {
      if (is_late(result) == late) map(result, made[next++]);
    }
  }

  const Plan& plan_;
  const ir::FunctionId self_;
  const FunctionRef split_;
  std::vector<ir::NodeId>
      copies_;  ///< copies of calls of the function itself and of split Ifs, in the first phase
};

bool has_role(const ir::Function& function, std::initializer_list<Role> roles) {
  return std::ranges::any_of(function.nodes, [&](const ir::Node& node) {
    return node.kind == NodeKind::Op && std::ranges::find(roles, node.op->role) != roles.end();
  });
}

/// By function: whether it or what it calls has an operation of such a role.
std::vector<bool> reaching(const ir::Module& module, const CallGraph& calls,
                           std::initializer_list<Role> roles) {
  std::vector<bool> found(module.functions.size());
  for (std::size_t i = 0; i < found.size(); ++i) found[i] = has_role(module.functions[i], roles);
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto reaches = [&](ir::FunctionId callee) { return found[callee.index()]; };
      if (found[i] || !std::ranges::any_of(calls.callees[i], reaches)) continue;
      found[i] = more = true;
    }
  }
  return found;
}

bool has_placements(const ir::Module& module) {
  const auto is_placed = [](const auto& each) { return !each.placement.empty(); };
  return std::ranges::any_of(module.parameters, is_placed) ||
         std::ranges::any_of(module.functions, [&](const ir::Function& function) {
           return is_placed(function) || std::ranges::any_of(function.nodes, is_placed);
         });
}

/// Sizes of symbols are those of one phase alone.
bool has_fixed_types(const ir::Function& function) {
  const auto is_known = [](const Type& type) { return type.is_data() || is_fixed(type); };
  return std::ranges::all_of(function.results, is_known) &&
         std::ranges::all_of(function.params, is_known, &ir::ValueInfo::type);
}

/// A function that was split, and its two phases.
struct Split {
  Plan plan;
  FunctionRef phases;
};

/// By function: those that were split.
using Splits = std::vector<std::optional<Split>>;

Vars call_both_phases(FunctionBuilder& f, const Split& split, const std::vector<Var>& arguments) {
  const auto given = [&](const std::vector<std::size_t>& which) {
    std::vector<Var> those;
    for (const std::size_t i : which) those.push_back(arguments[i]);
    return those;
  };
  f.call(split.phases, given(split.plan.early));
  return f.resume(f.last_node(), 1, given(split.plan.late));
}

/// Copies a body; calls of functions that were split become calls of their phases, the first of which does
/// not wait for the accumulators.
class CallPhases : public BodyCopier {
 public:
  CallPhases(const ir::Function& from, const Splits& splits, FunctionBuilder& to)
      : BodyCopier(from, to), splits_(splits) {}

  static bool is_call_of(const Splits& splits, const ir::Node& node) {
    return node.kind == NodeKind::Call && splits[node.callee.index()].has_value();
  }

 protected:
  void visit(ir::NodeId id) override {
    const ir::Node& node = from_[id];
    if (!is_call_of(splits_, node)) return copy(id);
    map(node.results, call_both_phases(to_, *splits_[node.callee.index()], mapped(node.operands)));
  }

 private:
  const Splits& splits_;
};

/// A function, perhaps with bodies in the place of calls, and how it is to be split.
struct Planned {
  ir::FunctionId id;
  ir::Function from;
  Plan plan;
};

/// Whether the body of a function may stand in the place of calls of it.
bool may_stand_in_place(const ir::Function& function, ir::FunctionId id) {
  constexpr std::size_t kMostNodes = 100;
  const auto calls_itself = [&](const ir::Node& node) { return node.callee.valid() && node.callee == id; };
  return function.body.valid() && function.phases.empty() && !function.recompute &&
         function.nodes.size() <= kMostNodes && std::ranges::none_of(function.nodes, calls_itself);
}

std::optional<Planned> plan_of(const ir::Module& module, ir::FunctionId id, const std::vector<bool>& works,
                               const Effects& effects) {
  constexpr int kMostDepth = 3;  // of functions that hand the accumulator on
  ir::Function from = module[id];
  for (int depth = 0;; ++depth) {
    Planner planner(from, id, works, effects);
    if (std::optional<Plan> plan = planner.plan()) return Planned{id, std::move(from), std::move(*plan)};
    std::vector<ir::FunctionId> in_place = planner.work_on_late();
    const bool can_go_on =
        depth < kMostDepth && !in_place.empty() && std::ranges::all_of(in_place, [&](ir::FunctionId callee) {
          return may_stand_in_place(module[callee], callee);
        });
    if (!can_go_on) return std::nullopt;
    from = InPlace(module, std::move(in_place)).rewrite(from);
  }
}

FunctionRef split(ModuleBuilder& builder, const Planned& planned) {
  const ir::Function& from = planned.from;
  const Plan& plan = planned.plan;
  std::vector<ir::ValueInfo> params;
  for (const std::size_t i : plan.early) params.push_back(from.params[i]);
  for (const std::size_t i : plan.late) params.push_back(from.params[i]);
  const FunctionRef made = builder.declare(builder.unused_name(from.name + "_ahead"), params, from.results);
  builder.module()[made.id].phases = {{plan.early.size(), 0}, {plan.late.size(), from.results.size()}};
  builder.module()[made.id].span = from.span;
  builder.define(made,
                 [&](FunctionBuilder& f) { return SplitBody(from, plan, planned.id, made, f).build(); });
  return made;
}

/// The function itself takes all arguments and calls both phases.
void call_phases_of_itself(ModuleBuilder& builder, ir::FunctionId id, const Split& split) {
  const Span span = builder.module()[id].span;
  const std::size_t count = builder.module()[id].params.size();
  builder.redefine({id}, [&](FunctionBuilder& f) {
    f.set_span(span);
    std::vector<Var> arguments;
    for (std::size_t i = 0; i < count; ++i) arguments.push_back(f.param(i));
    return call_both_phases(f, split, arguments);
  });
}

/// Calls of functions that were split become calls of their phases, in functions of one phase.
void call_phases_in(ModuleBuilder& builder, ir::FunctionId id, const Splits& splits) {
  const ir::Function from = builder.module()[id];
  if (!from.body.valid() || !from.phases.empty() || from.recompute) return;
  if (std::ranges::none_of(from.nodes,
                           [&](const ir::Node& node) { return CallPhases::is_call_of(splits, node); }))
    return;
  builder.redefine({id}, [&](FunctionBuilder& f) {
    CallPhases copier(from, splits, f);
    for (std::size_t i = 0; i < from.params.size(); ++i) copier.map(from[from.body].params[i], f.param(i));
    copier.copy_nodes(from.body);
    return Vars(copier.mapped(from[from.body].results));
  });
}

}  // namespace

ir::Module split_loops(ir::Module module) {
  if (has_placements(module)) return module;
  const std::vector<bool> products =
      reaching(module, call_graph(module), {Role::Product, Role::ProductTransposed});
  module = loops_to_calls_that_call(std::move(module), products);
  const CallGraph calls = call_graph(module);
  const Effects effects(module, OverflowMode::Trap);
  const std::vector<bool> works = reaching(module, calls, {Role::Product, Role::ProductTransposed});
  const std::vector<bool> prints = reaching(module, calls, {Role::Print, Role::Settle});
  std::vector<Planned> plans;
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    const ir::Function& f = module.functions[i];
    const ir::FunctionId id(i);
    const bool is_plain = f.body.valid() && f.phases.empty() && !f.recompute;
    if (!is_plain || !works[i] || prints[i] || !calls.recursive[i] || !has_fixed_types(f)) continue;
    if (std::optional<Planned> planned = plan_of(module, id, works, effects))
      plans.push_back(std::move(*planned));
  }
  const std::size_t count = module.functions.size();
  Splits splits(count + plans.size());
  ModuleBuilder builder(std::move(module));
  for (const Planned& planned : plans)
    splits[planned.id.index()] = Split{planned.plan, split(builder, planned)};
  for (std::size_t i = 0; i < count; ++i) {
    const ir::FunctionId id(i);
    splits[i] ? call_phases_of_itself(builder, id, *splits[i]) : call_phases_in(builder, id, splits);
  }
  return std::move(builder.module());
}

}  // namespace hiaton::passes
