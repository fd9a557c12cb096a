#include "passes/lower_body.h"

#include <algorithm>

#include "base/check.h"

namespace hiaton::passes {

using graph::OutPort;
using graph::OutPorts;
using Sides = graph::GraphBuilder::Sides;

OutPorts lower_call(Program& program, graph::FunctionId callee, std::span<const OutPort> arguments,
                    std::span<const Type> results, Span span) {
  const graph::CallSite site = program.builder.add_site(callee, span);
  for (OutPort argument : arguments) {
    program.calls.push_back(program.builder.call(site, argument));
    program.callees.push_back(callee);
  }
  OutPorts returns;
  for (const Type& type : results) returns.push_back(program.builder.return_from(site, type));
  return returns;
}

BodyLowering::BodyLowering(Program& program, const ir::Function& function, std::span<const OutPort> params,
                           OutPort pivot)
    : program_(program),
      builder_(program.builder),
      function_(function),
      captures_(function),
      ports_(function.values.size()),
      constants_(function.values.size()) {
  bind(function[function.body].params, params);
  scopes_.push_back({Role::Body, function.body, pivot});
}

OutPorts BodyLowering::run() {
  while (!scopes_.empty()) {
    Scope& scope = scopes_.back();
    const auto& nodes = function_[scope.block].nodes;
    if (scope.next < nodes.size()) {
      lower_node(function_[nodes[scope.next++]]);
    } else {
      close_block();
    }
  }
  return std::move(results_);
}

void BodyLowering::lower_node(const ir::Node& node) {
  switch (node.kind) {
    case ir::NodeKind::Const:
    case ir::NodeKind::Param:
      constants_[node.results[0].index()] = &node;
      return;
    case ir::NodeKind::Resume:
      return lower_resume(node);
    case ir::NodeKind::Accumulate:
      return lower_accumulate(node);
    case ir::NodeKind::Op:
      return lower_op(node);
    case ir::NodeKind::Call:
      return lower_call_node(node);
    case ir::NodeKind::If:
      return open_if(node);
    case ir::NodeKind::While:
      return open_loop(node);
  }
}

void BodyLowering::close_block() {
  switch (scopes_.back().role) {
    case Role::Body:
      results_ = live(function_[function_.body].results);
      scopes_.pop_back();
      return;
    case Role::Then:
      return close_then();
    case Role::Else:
      return close_else();
    case Role::Condition:
      return close_condition();
    case Role::LoopBody:
      return close_loop_body();
  }
}

void BodyLowering::lower_op(const ir::Node& node) {
  const bool only_constants = std::all_of(node.operands.begin(), node.operands.end(),
                                          [&](ir::ValueId v) { return constants_[v.index()] != nullptr; });
  OutPorts inputs;
  for (ir::ValueId operand : node.operands) {
    inputs.push_back(only_constants && inputs.empty() ? live(operand) : at(operand));
  }
  const ir::ValueInfo& result = function_[node.results[0]];
  ports_[node.results[0].index()] =
      mark(builder_.op(*node.op, inputs, result.type, node.attributes), node, result.name);
}

void BodyLowering::lower_call_node(const ir::Node& node) {
  const ir::Function& callee = program_.module[node.callee];
  OutPorts arguments = live(node.operands);
  if (arguments.empty()) arguments.push_back(live_constant(Value(true), node));
  const std::size_t first_call = program_.calls.size();
  const std::size_t result_count = callee.results_of(0).count;
  const OutPorts returns = lower_call(program_, program_.functions[node.callee.index()], arguments,
                                      std::span(callee.results).first(result_count), node.span);
  if (callee.phase_count() > 1) sites_[&node] = builder_.node(program_.calls[first_call]).site;
  for (std::size_t i = first_call; i < program_.calls.size(); ++i) mark({program_.calls[i]}, node, "");
  for (std::size_t i = 0; i < returns.size(); ++i) mark(returns[i], node, name_of(node.results[i]));
  bind(node.results, returns);
}

/// The next phase: more arguments and results of the same call site.
void BodyLowering::lower_resume(const ir::Node& node) {
  const graph::CallSite site = sites_.at(&function_[node.of]);
  const std::size_t first_call = program_.calls.size();
  for (OutPort argument : live(node.operands)) {
    program_.calls.push_back(builder_.call(site, argument));
    program_.callees.push_back(program_.functions[node.callee.index()]);
  }
  for (std::size_t i = first_call; i < program_.calls.size(); ++i) mark({program_.calls[i]}, node, "");
  for (ir::ValueId result : node.results) {
    ports_[result.index()] = mark(builder_.return_from(site, function_[result].type), node, name_of(result));
  }
}

void BodyLowering::lower_accumulate(const ir::Node& node) {
  const graph::NodeId id =
      builder_.accumulate(static_cast<std::size_t>(node.attributes[0]),
                          static_cast<Accumulation>(node.attributes[1]), live(node.operands));
  builder_.node(id).span = node.span;
  builder_.node(id).placement = node.placement;
}

void BodyLowering::open_if(const ir::Node& node) {
  const ir::ValueIds& captures = captures_.of(node.blocks[0]);
  OpenIf branching{.node = &node, .predicate = {}};
  if (node.of.valid()) {
    const Steered& first = steered_.at(&function_[node.of]);
    branching.predicate = first.predicate;
    branching.pivots = first.pivots;
  } else {
    branching.predicate = predicate(node.operands[0], captures.empty(), node);
  }
  for (ir::ValueId value : captures) {
    const OutPort outside = ports_[value.index()];
    const Sides sides = builder_.switch_on(outside, branching.predicate);
    mark(sides.when_true, node, name_of(value));
    branching.outside.push_back(outside);
    branching.switches.push_back(sides);
    ports_[value.index()] = sides.when_true;
  }
  if (!captures.empty() && !branching.pivots.when_true.node.valid()) branching.pivots = branching.switches[0];
  scopes_.push_back({Role::Then, node.blocks[0], branching.pivots.when_true});
  ifs_.push_back(std::move(branching));
}

void BodyLowering::close_then() {
  const ir::BlockId then = scopes_.back().block;
  OutPorts results = live(function_[then].results);
  scopes_.pop_back();
  OpenIf& branching = ifs_.back();
  branching.then_results = std::move(results);
  const ir::ValueIds& captures = captures_.of(then);
  for (std::size_t i = 0; i < captures.size(); ++i) {
    ports_[captures[i].index()] = branching.switches[i].when_false;
  }
  scopes_.push_back({Role::Else, branching.node->blocks[1], branching.pivots.when_false});
}

void BodyLowering::close_else() {
  const OutPorts else_results = live(function_[scopes_.back().block].results);
  scopes_.pop_back();
  const OpenIf branching = std::move(ifs_.back());
  ifs_.pop_back();
  const ir::Node& node = *branching.node;
  steered_[&function_[node.of.valid() ? node.of : ir::NodeId(&node - function_.nodes.data())]] = {
      branching.predicate, branching.pivots};
  bind(captures_.of(node.blocks[0]), branching.outside);
  for (std::size_t i = 0; i < node.results.size(); ++i) {
    const ir::ValueInfo& result = function_[node.results[i]];
    const OutPort merge = builder_.merge(result.type, {branching.then_results[i], else_results[i]});
    ports_[node.results[i].index()] = mark(merge, node, result.name);
  }
}

void BodyLowering::open_loop(const ir::Node& node) {
  OpenLoop looping{.node = &node, .loop = {}};
  OutPorts initial = live(node.operands);
  const bool only_trigger = initial.empty();
  if (only_trigger) initial.push_back(live_constant(Value(true), node));
  looping.loop = builder_.add_loop(node.span);
  const ir::Block& condition = function_[node.blocks[0]];
  for (std::size_t i = 0; i < initial.size(); ++i) {
    const Type type = only_trigger ? Type(DType::Bool) : function_[condition.params[i]].type;
    const SharedString name = only_trigger ? SharedString() : name_of(condition.params[i]);
    const OutPort enter = mark(builder_.enter(looping.loop, initial[i]), node, name);
    looping.merges.push_back(mark(builder_.merge(type, {enter}), node, name));
  }
  for (ir::ValueId value : captures_.of(node.blocks[0])) {
    OutPort& port = ports_[value.index()];
    looping.outside.push_back(port);
    port = mark(builder_.enter(looping.loop, port, true), node, name_of(value));
  }
  bind(condition.params, looping.merges);
  scopes_.push_back({Role::Condition, node.blocks[0], looping.merges[0]});
  loops_.push_back(std::move(looping));
}

void BodyLowering::close_condition() {
  OpenLoop& looping = loops_.back();
  const ir::Node& node = *looping.node;
  const OutPort condition = predicate(function_[node.blocks[0]].results[0], false, node);
  scopes_.pop_back();
  OutPorts state;
  for (OutPort merge : looping.merges) {
    looping.switches.push_back(builder_.switch_on(merge, condition));
    state.push_back(mark(looping.switches.back().when_true, node, builder_.node(merge).name));
  }
  for (ir::ValueId value : captures_.of(node.blocks[1])) {
    OutPort& port = ports_[value.index()];
    looping.entered.push_back(port);
    port = mark(builder_.switch_on(port, condition).when_true, node, name_of(value));
  }
  bind(function_[node.blocks[1]].params, state);
  scopes_.push_back({Role::LoopBody, node.blocks[1], state[0]});
}

void BodyLowering::close_loop_body() {
  OutPorts next = live(function_[scopes_.back().block].results);
  scopes_.pop_back();
  const OpenLoop looping = std::move(loops_.back());
  loops_.pop_back();
  const ir::Node& node = *looping.node;
  if (next.empty()) next.push_back(looping.switches[0].when_true);
  OutPorts exits;
  for (std::size_t i = 0; i < next.size(); ++i) {
    const SharedString name = builder_.node(looping.merges[i]).name;
    const OutPort again = mark(builder_.next_iteration(looping.loop, next[i]), node, name);
    builder_.add_input(looping.merges[i], again);
    exits.push_back(builder_.exit(looping.loop, looping.switches[i].when_false));
    mark(exits.back(), node, i < node.results.size() ? name_of(node.results[i]) : SharedString());
  }
  bind(captures_.of(node.blocks[1]), looping.entered);
  bind(captures_.of(node.blocks[0]), looping.outside);
  bind(node.results, exits);
}

OutPort BodyLowering::at(ir::ValueId value) {
  OutPort& port = ports_[value.index()];
  if (!port.node.valid()) {
    const ir::Node* origin = constants_[value.index()];
    HIATON_CHECK(origin != nullptr);
    port = mark(constant_node(*origin), *origin, name_of(value));
  }
  return port;
}

OutPort BodyLowering::live(ir::ValueId value) {
  const ir::Node* origin = constants_[value.index()];
  if (origin == nullptr || runs_once()) return at(value);
  const OutPort trigger = pivot();  // nodes stand behind what they read
  const OutPort port = mark(constant_node(*origin), *origin, name_of(value));
  builder_.add_control(port.node, trigger);
  return port;
}

OutPorts BodyLowering::live(std::span<const ir::ValueId> values) {
  OutPorts ports;
  for (ir::ValueId value : values) ports.push_back(live(value));
  return ports;
}

OutPort BodyLowering::live_constant(const Value& value, const ir::Node& origin) {
  return constant(value, origin, runs_once() ? OutPort{} : pivot());
}

/// The node of a Const or Param.
OutPort BodyLowering::constant_node(const ir::Node& origin) {
  if (origin.kind == ir::NodeKind::Const)
    return builder_.constant(origin.constant, function_[origin.results[0]].type);
  return builder_.parameter(static_cast<std::size_t>(origin.attributes[0]));
}

OutPort BodyLowering::constant(const Value& value, const ir::Node& origin, OutPort trigger) {
  const OutPort port = mark(builder_.constant(value), origin, "");
  if (trigger.node.valid()) builder_.add_control(port.node, trigger);
  return port;
}

OutPort BodyLowering::predicate(ir::ValueId value, bool must_be_live, const ir::Node& steered) {
  if (const ir::Node* origin = constants_[value.index()]) {
    return must_be_live ? live_constant(origin->constant, *origin) : constant(origin->constant, *origin, {});
  }
  const OutPort port = at(value);
  const bool first = steering_.insert(uint64_t{port.node.value} << 1 | port.port).second;
  if (first) return port;
  static const OpDef& identity = *catalog().find("identity");
  return mark(builder_.op(identity, {port}, DType::Bool), steered, name_of(value));
}

OutPort BodyLowering::pivot() {
  Scope& scope = scopes_.back();
  if (!scope.pivot.node.valid()) {
    OpenIf& branching = ifs_.back();
    if (!branching.pivots.when_true.node.valid()) {
      branching.pivots = builder_.switch_on(branching.predicate, branching.predicate);
      mark(branching.pivots.when_true, *branching.node, "");
    }
    scope.pivot = scope.role == Role::Then ? branching.pivots.when_true : branching.pivots.when_false;
  }
  return scope.pivot;
}

void BodyLowering::bind(std::span<const ir::ValueId> values, std::span<const OutPort> ports) {
  for (std::size_t i = 0; i < values.size(); ++i) ports_[values[i].index()] = ports[i];
}

OutPort BodyLowering::mark(OutPort port, const ir::Node& origin, const SharedString& name) {
  graph::Node& node = builder_.node(port);
  node.span = origin.span;
  node.placement = origin.placement;
  node.name = name;
  return port;
}

}  // namespace hiaton::passes
