#include <fmt/format.h>

#include <algorithm>

#include "graph/contexts.h"
#include "graph/validate.h"
#include "hiaton/error.h"
#include "hiaton/graph.h"

namespace hiaton::graph {
namespace {

constexpr std::size_t kShownFindings = 100;

std::string describe(const std::vector<std::string>& findings) {
  std::string text = "the graph is not legal:";
  for (std::size_t i = 0; i < std::min(findings.size(), kShownFindings); ++i) text += "\n  " + findings[i];
  if (findings.size() > kShownFindings) {
    text += fmt::format("\n  and {} findings more", findings.size() - kShownFindings);
  }
  return text;
}

template <class Thing, class Id>
Thing& existing(std::vector<Thing>& things, Id id, std::string_view what) {
  if (id.index() < things.size()) return things[id.index()];
  throw ProgramError(id.valid() ? fmt::format("there is no {} {} in this graph", what, id.index())
                                : fmt::format("expected a {}, found an id of nothing", what));
}

}  // namespace

GraphBuilder::GraphBuilder(std::shared_ptr<const Source> source) {
  graph_.source_ = std::move(source);
}

FunctionId GraphBuilder::add_function(std::string name, Span span) {
  current_ = FunctionId(graph_.functions_.size());
  Function function;
  function.name = std::move(name);
  function.span = span;
  graph_.functions_.push_back(std::move(function));
  return current_;
}

void GraphBuilder::in_function(FunctionId id) {
  function(id);
  current_ = id;
}

CallSite GraphBuilder::add_site(FunctionId callee, Span span) {
  graph_.sites_.push_back({.caller = current_, .callee = callee, .calls = {}, .returns = {}, .span = span});
  return CallSite(graph_.sites_.size() - 1);
}

LoopId GraphBuilder::add_loop(Span span) {
  graph_.loops_.push_back({.function = current_, .enters = {}, .exits = {}, .nexts = {}, .span = span});
  return LoopId(graph_.loops_.size() - 1);
}

Function& GraphBuilder::function(FunctionId id) {
  return existing(graph_.functions_, id, "function");
}

Site& GraphBuilder::site(CallSite id) {
  return existing(graph_.sites_, id, "call site");
}

Loop& GraphBuilder::loop(LoopId id) {
  return existing(graph_.loops_, id, "loop");
}

Node& GraphBuilder::node(NodeId id) {
  return existing(graph_.nodes_, id, "node");
}

NodeId GraphBuilder::add(Node node) {
  const auto enlist = [&](std::vector<NodeId>& list) {
    node.index = static_cast<uint32_t>(list.size());
    list.emplace_back(graph_.nodes_.size());
  };
  switch (node.kind) {
    case NodeKind::Input:
      enlist(graph_.inputs_);
      break;
    case NodeKind::Output:
      enlist(graph_.outputs_);
      break;
    case NodeKind::Call:
      enlist(site(node.site).calls);
      break;
    case NodeKind::Return:
      enlist(site(node.site).returns);
      break;
    case NodeKind::Enter:
      enlist(loop(node.loop).enters);
      break;
    case NodeKind::Exit:
      enlist(loop(node.loop).exits);
      break;
    case NodeKind::NextIteration:
      enlist(loop(node.loop).nexts);
      break;
    case NodeKind::Send:
    case NodeKind::Recv:
      graph_.is_part_ = true;
      break;
    case NodeKind::Const:
    case NodeKind::Op:
    case NodeKind::Merge:
    case NodeKind::Accumulate:
    case NodeKind::Switch:
      break;
  }
  graph_.nodes_.push_back(std::move(node));
  return NodeId(graph_.nodes_.size() - 1);
}

/// A port of a node that is not there yet has the default type; finish() reports the port.
Type GraphBuilder::type_of(OutPort port) const {
  return port.node.index() < graph_.nodes_.size() ? graph_[port.node].type : Type();
}

OutPort GraphBuilder::input(std::string name, Type type) {
  const OutPort port{
      add({.kind = NodeKind::Input, .type = std::move(type), .function = current_, .name = name})};
  add_param(std::move(name), port);
  return port;
}

NodeId GraphBuilder::output(OutPort from) {
  add_result(from);
  return add({.kind = NodeKind::Output, .inputs = {from}, .type = type_of(from), .function = current_});
}

OutPort GraphBuilder::constant(Value value) {
  Type type = value.type();
  return constant(std::move(value), std::move(type));
}

OutPort GraphBuilder::constant(Value value, Type type) {
  return {add({.kind = NodeKind::Const,
               .type = std::move(type),
               .function = current_,
               .constant = std::move(value)})};
}

std::size_t GraphBuilder::add_parameter(std::string name, Type type, Initializer initial,
                                        std::string placement) {
  graph_.parameters_.push_back({std::move(name), std::move(type), initial, std::move(placement)});
  return graph_.parameters_.size() - 1;
}

OutPort GraphBuilder::parameter(std::size_t number) {
  const Parameter& parameter = existing(graph_.parameters_, ParameterId(number), "parameter");
  return {add({.kind = NodeKind::Const,
               .type = parameter.type,
               .function = current_,
               .parameter = static_cast<int32_t>(number),
               .name = parameter.name})};
}

NodeId GraphBuilder::accumulate(std::size_t parameter, Accumulation how, OutPorts inputs) {
  existing(graph_.parameters_, ParameterId(parameter), "parameter");
  return add({.kind = NodeKind::Accumulate,
              .inputs = std::move(inputs),
              .type = graph_.parameters_[parameter].type,
              .function = current_,
              .parameter = static_cast<int32_t>(parameter),
              .attributes = {static_cast<int64_t>(how)}});
}

OutPort GraphBuilder::op(const OpDef& op, OutPorts inputs, Type type, Attributes attributes) {
  return {add({.kind = NodeKind::Op,
               .inputs = std::move(inputs),
               .type = std::move(type),
               .function = current_,
               .op = &op,
               .attributes = std::move(attributes)})};
}

OutPort GraphBuilder::op(const OpDef& op, OutPorts inputs) {
  if (!op.takes(inputs.size())) {
    throw ProgramError(
        fmt::format("[{}] expected {} operands, found {}", op.name.value, op.arity(), inputs.size()));
  }
  if (!op.takes_attributes(0)) {
    throw ProgramError(
        fmt::format("[{}] expected {} attributes, found none", op.name.value, op.attributes.size()));
  }
  std::vector<Type> types;
  for (OutPort input : inputs) types.push_back(type_of(input));
  Type type = op.result_type({.operands = types});
  return this->op(op, std::move(inputs), std::move(type));
}

OutPort GraphBuilder::merge(Type type, OutPorts inputs) {
  return {add(
      {.kind = NodeKind::Merge, .inputs = std::move(inputs), .type = std::move(type), .function = current_})};
}

void GraphBuilder::add_input(OutPort merge, OutPort from) {
  node(merge).inputs.push_back(from);
}

GraphBuilder::Sides GraphBuilder::switch_on(OutPort data, OutPort predicate) {
  const NodeId id = add(
      {.kind = NodeKind::Switch, .inputs = {data, predicate}, .type = type_of(data), .function = current_});
  return {{id, 0}, {id, 1}};
}

OutPort GraphBuilder::enter(LoopId loop, OutPort from, bool loop_constant) {
  return {add({.kind = NodeKind::Enter,
               .inputs = {from},
               .type = type_of(from),
               .function = current_,
               .loop = loop,
               .loop_constant = loop_constant})};
}

OutPort GraphBuilder::exit(LoopId loop, OutPort from) {
  return {add(
      {.kind = NodeKind::Exit, .inputs = {from}, .type = type_of(from), .function = current_, .loop = loop})};
}

OutPort GraphBuilder::next_iteration(LoopId loop, OutPort from) {
  return {add({.kind = NodeKind::NextIteration,
               .inputs = {from},
               .type = type_of(from),
               .function = current_,
               .loop = loop})};
}

NodeId GraphBuilder::call(CallSite site, OutPort argument) {
  return add({.kind = NodeKind::Call,
              .inputs = {argument},
              .type = type_of(argument),
              .function = current_,
              .site = site});
}

OutPort GraphBuilder::return_from(CallSite site, OutPort from, Type type) {
  return {add({.kind = NodeKind::Return,
               .inputs = {from},
               .type = std::move(type),
               .function = current_,
               .site = site})};
}

void GraphBuilder::add_control(NodeId to, OutPort from) {
  node(to).controls.push_back(from);
}

void GraphBuilder::add_param(std::string name, OutPort value) {
  function(current_).param_names.push_back(std::move(name));
  function(current_).params.push_back(value);
}

void GraphBuilder::add_result(OutPort value) {
  function(current_).results.push_back(value);
}

void GraphBuilder::set_triggered() {
  function(current_).triggered = true;
}

void GraphBuilder::connect_returns() {
  for (const Site& site : graph_.sites_) {
    for (NodeId id : site.returns) {
      Node& result = node(id);
      const bool is_open = !result.inputs.empty() && !result.inputs[0].node.valid();
      if (is_open && site.callee.index() < graph_.functions_.size()) {
        const Function& callee = graph_[site.callee];
        if (result.index < callee.results.size()) result.inputs[0] = callee.results[result.index];
      }
      if (!result.controls.empty()) continue;
      const std::size_t arguments = arguments_before_result(site, result.index);
      for (std::size_t i = 0; i < arguments; ++i) result.controls.push_back({site.calls[i]});
    }
  }
}

/// How many arguments a result may wait for: those of its phase and of the phases before.
std::size_t GraphBuilder::arguments_before_result(const Site& site, std::size_t result) const {
  if (site.callee.index() >= graph_.functions_.size()) return site.calls.size();
  std::size_t arguments = 0;
  std::size_t results = 0;
  for (const Phase& phase : graph_[site.callee].phases) {
    arguments += phase.params;
    results += phase.results;
    if (result < results) return std::min(arguments, site.calls.size());
  }
  return site.calls.size();
}

Graph GraphBuilder::finish() {
  connect_returns();
  graph_.index_readers();
  Contexts contexts = find_contexts(graph_);
  const std::vector<std::string> findings = validate(graph_, contexts);
  if (!findings.empty()) throw ProgramError(describe(findings));
  graph_.loop_of_ = std::move(contexts.loop_of);
  for (std::size_t i = 0; i < graph_.loops_.size(); ++i) graph_.loops_[i].parent = contexts.parents[i];
  return std::move(graph_);
}

}  // namespace hiaton::graph
