// split_loops. Its rule: in a function that calls itself and passes on an accumulator,
//   fn f(i, a) = if condition(i) then f(advance(i), combine(a, work(i))) else end(i, a)
// work(i) depends on no accumulator, and yet f waits for `a` before it works on `i`. Such a function becomes
// one of several phases, two for the most part: the first takes `i` alone, does all that depends on no
// accumulator and begins the calls of the function itself; the second takes `a`, combines, and goes on with
// these calls:
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
// A call of a function that was split before works like one of the function itself: its first phase does not
// wait for the accumulator that the function hands on to it. So callees are looked at before their callers: a
// loop over trees, each of which is encoded by such a recursion, begins with the first phases of all of them.
// Functions that call each other are split together where none of them can be alone.
// Where one accumulator is there before another, as the sum over the children of a node, of which the node is
// made, is there before the list that goes through the calls, each has a phase of its own: see
// split_group.cpp. Where a function hands an accumulator to another one that works, as a fold does to the
// function that it applies, the body of that one is looked at in the place of the call; where it gives
// something that does not need the accumulator and calls itself, it is split as well. Loops whose work may
// be worth it become such functions before (loops_to_calls). A function is split only
//   - where the work calls a function that multiplies matrices, or multiplies some and gives results in the
//     first phase: frames that stay must be worth it;
//   - where what is left to later phases cannot fail or run on forever, and nothing prints: then no fault
//     and no line comes earlier than another that came first. The later phases of what is split end, since
//     its first one did;
//   - where no condition around a call of itself depends on an accumulator;
//   - in modules without placements.
#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

#include "hiaton/passes.h"
#include "passes/call_graph.h"
#include "passes/effects.h"
#include "passes/split_body.h"
#include "passes/split_plan.h"

namespace hiaton::passes {
namespace {

bool has_role(const ir::Function& function, std::initializer_list<Role> roles) {
  return std::ranges::any_of(function.nodes, [&](const ir::Node& node) {
    return node.kind == ir::NodeKind::Op && std::ranges::find(roles, node.op->role) != roles.end();
  });
}

/// By function: whether it or what it calls is among these.
std::vector<bool> reaching(const CallGraph& calls, std::vector<bool> these) {
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < these.size(); ++i) {
      const auto reaches = [&](ir::FunctionId callee) { return these[callee.index()]; };
      if (these[i] || !std::ranges::any_of(calls.callees[i], reaches)) continue;
      these[i] = more = true;
    }
  }
  return these;
}

/// By function: whether it or what it calls has an operation of such a role.
std::vector<bool> reaching(const ir::Module& module, const CallGraph& calls,
                           std::initializer_list<Role> roles) {
  std::vector<bool> found;
  for (const ir::Function& function : module.functions) found.push_back(has_role(function, roles));
  return reaching(calls, std::move(found));
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

FunctionRef declare_phases(ModuleBuilder& builder, const PlannedSplit& planned) {
  const ir::Function& from = planned.from;
  const Phasing& phasing = planned.plan.phasing;
  std::vector<ir::ValueInfo> params;
  std::vector<Type> results;
  std::vector<Phase> phases;
  for (uint32_t phase = 0; phase < phasing.count(); ++phase) {
    const std::vector<std::size_t> taken = phasing.params_of(phase);
    const std::vector<std::size_t> given = phasing.results_of(phase);
    for (const std::size_t i : taken) params.push_back(from.params[i]);
    for (const std::size_t i : given) results.push_back(from.results[i]);
    phases.push_back({taken.size(), given.size()});
  }
  const FunctionRef made = builder.declare(builder.unused_name(from.name + "_ahead"), params, results);
  builder.module()[made.id].phases = std::move(phases);
  builder.module()[made.id].span = from.span;
  return made;
}

/// The function itself takes all arguments and calls all phases.
void call_phases_of_itself(ModuleBuilder& builder, ir::FunctionId id, const Split& split) {
  const Span span = builder.module()[id].span;
  const std::size_t count = builder.module()[id].params.size();
  builder.redefine({id}, [&](FunctionBuilder& f) {
    f.set_span(span);
    std::vector<Var> arguments;
    for (std::size_t i = 0; i < count; ++i) arguments.push_back(f.param(i));
    return call_all_phases(f, split, arguments);
  });
}

/// Calls of functions that were split become calls of their phases, in functions of one phase.
void call_phases_in(ModuleBuilder& builder, ir::FunctionId id, const Splits& splits) {
  const ir::Function from = builder.module()[id];
  if (!from.body.valid() || !from.phases.empty() || from.recompute) return;
  if (std::ranges::none_of(from.nodes, [&](const ir::Node& node) { return is_split_call(splits, node); }))
    return;
  builder.redefine({id}, [&](FunctionBuilder& f) {
    CallPhases copier(from, splits, f);
    for (std::size_t i = 0; i < from.params.size(); ++i) copier.map(from[from.body].params[i], f.param(i));
    copier.copy_nodes(from.body);
    return Vars(copier.mapped(from[from.body].results));
  });
}

}  // namespace

ir::Module split_loops(ir::Module module, OverflowMode overflow) {
  if (has_placements(module)) return module;
  const std::vector<bool> products =
      reaching(module, call_graph(module), {Role::Product, Role::ProductTransposed});
  module = loops_to_calls_that_call(std::move(module), products);
  const CallGraph calls = call_graph(module);
  const Effects effects(module, overflow);
  const std::vector<bool> works = reaching(module, calls, {Role::Product, Role::ProductTransposed});
  const std::vector<bool> prints = reaching(module, calls, {Role::Print, Role::Settle});
  std::vector<bool> is_plain;
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    const ir::Function& f = module.functions[i];
    is_plain.push_back(f.body.valid() && f.phases.empty() && !f.recompute && !prints[i] &&
                       has_fixed_types(f));
  }
  const std::vector<PlannedSplit> plans =
      plan_splits(module, calls, {works, reaching(calls, calls.recursive), is_plain}, effects);
  const std::size_t count = module.functions.size();
  Splits splits(count + plans.size());
  ModuleBuilder builder(std::move(module));
  for (const PlannedSplit& planned : plans)
    splits[planned.id.index()] = Split{planned.plan.phasing, declare_phases(builder, planned)};
  for (const PlannedSplit& planned : plans) {
    builder.define(splits[planned.id.index()]->phases,
                   [&](FunctionBuilder& f) { return build_phases(planned, splits, f); });
  }
  for (std::size_t i = 0; i < count; ++i) {
    const ir::FunctionId id(i);
    splits[i] ? call_phases_of_itself(builder, id, *splits[i]) : call_phases_in(builder, id, splits);
  }
  return std::move(builder.module());
}

}  // namespace hiaton::passes
