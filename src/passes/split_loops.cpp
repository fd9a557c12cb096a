// split_loops. Its rule: in a function that calls itself and passes on an accumulator,
//   fn f(i, a) = if condition(i) then f(advance(i), combine(a, work(i))) else end(i, a)
// work(i) depends on no accumulator, and yet f waits for `a` before it works on `i`. Such a function becomes
// one of two phases: the first takes `i` alone, does all that depends on no accumulator and begins the calls
// of the function itself; the second takes `a`, combines, and goes on with these calls:
//   phase 0, of i:  if condition(i) then (w = work(i); call phase 0 of advance(i))
//   phase 1, of a:  if the same     then phase 1 of that call, of combine(a, w) else end(i, a)
// A call of the function from outside becomes calls of both phases: the first does not wait for the
// accumulators with which the function begins, which may themselves be work.
// Results that depend on no accumulator come in the first phase. So a recursion over a tree that also hands a
// list, a counter or the like from call to call,
//   fn f(t, a) = match t { Leaf -> (h, add(a, h)); Node(l, r) -> (x, b) = f(l, a); (y, c) = f(r, b);
//                                                              (cell(x, y), add(c, cell(x, y))) }
// computes all cells in the first phase, the subtrees beside each other, and hands on `a` in the second one.
// So the work of all iterations can run at once, in batches, and is combined in the order of the iterations:
// the results have the same bits. The frames of the iterations hold the work until it is combined.
// Where a function hands an accumulator to another one that works, as a fold does to the function that it
// applies, the body of that one is looked at in the place of the call.
// Loops whose work may be worth it become such functions before (loops_to_calls).
// A function is split only
//   - where the work calls a function that multiplies matrices, or multiplies some and gives results in the
//     first phase: frames that stay must be worth it;
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
#include "passes/split_plan.h"

namespace hiaton::passes {
namespace {

using ir::NodeKind;

/// Makes the body of the function of two phases.
class SplitBody : public BodyCopier {
 public:
  SplitBody(const ir::Function& from, const SplitPlan& plan, ir::FunctionId self, FunctionRef split,
            FunctionBuilder& to)
      : BodyCopier(from, to), plan_(plan), self_(self), split_(split), copies_(from.nodes.size()) {}

  Vars build() {
    const ir::ValueIds& params = from_[from_.body].params;
    std::size_t next = 0;
    for (const std::size_t i : plan_.early) map(params[i], to_.param(next++));
    for (const std::size_t i : plan_.late) map(params[i], to_.param(next++));
    copy_early(from_.body);
    copy_late(from_.body);
    const ir::ValueIds& results = from_[from_.body].results;
    std::vector<Var> made;
    for (const std::size_t i : plan_.early_results) made.push_back(mapped(results[i]));
    for (const std::size_t i : plan_.late_results) made.push_back(mapped(results[i]));
    return Vars(std::move(made));
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

  void map_some(const ir::ValueIds& results, const std::vector<std::size_t>& which, const Vars& made) {
    for (std::size_t i = 0; i < which.size(); ++i) map(results[which[i]], made[i]);
  }

  void copy_early(ir::BlockId block) {
    for (const ir::NodeId id : from_[block].nodes) {
      const ir::Node& node = from_[id];
      begin(node);
      if (is_self_call(node)) {
        map_some(node.results, plan_.early_results, to_.call(split_, arguments(node, plan_.early)));
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
        map_some(node.results, plan_.late_results,
                 to_.resume(copies_[id.index()], 1, arguments(node, plan_.late)));
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

  const SplitPlan& plan_;
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
  SplitPlan plan;
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
  std::vector<Var> results(split.plan.early_results.size() + split.plan.late_results.size());
  const auto take = [&](const std::vector<std::size_t>& which, const Vars& made) {
    for (std::size_t i = 0; i < which.size(); ++i) results[which[i]] = made[i];
  };
  take(split.plan.early_results, f.call(split.phases, given(split.plan.early)));
  take(split.plan.late_results, f.resume(f.last_node(), 1, given(split.plan.late)));
  return Vars(std::move(results));
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

FunctionRef split(ModuleBuilder& builder, const PlannedSplit& planned) {
  const ir::Function& from = planned.from;
  const SplitPlan& plan = planned.plan;
  std::vector<ir::ValueInfo> params;
  for (const std::size_t i : plan.early) params.push_back(from.params[i]);
  for (const std::size_t i : plan.late) params.push_back(from.params[i]);
  std::vector<Type> results;
  for (const std::size_t i : plan.early_results) results.push_back(from.results[i]);
  for (const std::size_t i : plan.late_results) results.push_back(from.results[i]);
  const FunctionRef made = builder.declare(builder.unused_name(from.name + "_ahead"), params, results);
  builder.module()[made.id].phases = {{plan.early.size(), plan.early_results.size()},
                                      {plan.late.size(), plan.late_results.size()}};
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
  std::vector<PlannedSplit> plans;
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    const ir::Function& f = module.functions[i];
    const ir::FunctionId id(i);
    const bool is_plain = f.body.valid() && f.phases.empty() && !f.recompute;
    if (!is_plain || !works[i] || prints[i] || !calls.recursive[i] || !has_fixed_types(f)) continue;
    if (std::optional<PlannedSplit> planned = plan_of(module, id, works, effects))
      plans.push_back(std::move(*planned));
  }
  const std::size_t count = module.functions.size();
  Splits splits(count + plans.size());
  ModuleBuilder builder(std::move(module));
  for (const PlannedSplit& planned : plans)
    splits[planned.id.index()] = Split{planned.plan, split(builder, planned)};
  for (std::size_t i = 0; i < count; ++i) {
    const ir::FunctionId id(i);
    splits[i] ? call_phases_of_itself(builder, id, *splits[i]) : call_phases_in(builder, id, splits);
  }
  return std::move(builder.module());
}

}  // namespace hiaton::passes
