#include "partition/part_maker.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/contexts.h"
#include "hiaton/error.h"

namespace hiaton::partition {

using graph::CallSite;
using graph::FunctionId;
using graph::is_under_every_tag;
using graph::LoopId;
using graph::NodeId;
using graph::NodeKind;
using graph::OutPort;
using graph::OutPorts;

uint32_t Channels::number_of(OutPort of, int from, int to, bool carries_values) {
  const auto [entry, first] = numbers_.try_emplace(std::pair(of, to), static_cast<uint32_t>(all_.size()));
  if (first) all_.push_back({.of = of, .from = from, .to = to, .carries_values = false});
  all_[entry->second].carries_values |= carries_values;
  return entry->second;
}

PartMaker::PartMaker(const PlacedGraph& placed, AliveTokens& alive, Channels& channels, int self)
    : placed_(placed),
      graph_(placed.graph),
      alive_(alive),
      channels_(channels),
      self_(self),
      builder_(placed.graph.source()),
      nodes_(placed.graph.nodes().size()) {
  for (const graph::Parameter& parameter : graph_.parameters())
    builder_.add_parameter(parameter.name, parameter.type, parameter.initial, parameter.placement);
  function_here(graph_.main());
}

// The nodes of this process ---------------------------------------------------------------------------------

NodeId PartMaker::add(graph::Node node, NodeId origin) {
  const NodeId id = builder_.add(std::move(node));
  origins_.resize(id.index() + 1);
  origins_[id.index()] = origin;
  return id;
}

/// Adds a node of a state machine, whose tokens are bools.
NodeId PartMaker::add_kind(NodeKind kind, FunctionId function, OutPorts inputs) {
  return add({.kind = kind, .inputs = std::move(inputs), .type = DType::Bool, .function = function});
}

void PartMaker::add_nodes() {
  for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
    if (process_of(NodeId(n)) == self_) add_node(NodeId(n));
  }
  for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
    if (process_of(NodeId(n)) == self_) connect(NodeId(n));
  }
  add_heads();
}

void PartMaker::add_node(NodeId id) {
  graph::Node node = graph_[id];
  node.inputs = {};
  node.controls = {};
  node.placement = {};
  node.function = function_here(node.function);
  if (node.site.valid()) node.site = site_here(node.site);
  if (node.loop.valid()) node.loop = loop_here(node.loop);
  nodes_[id.index()] = add(std::move(node), id);
}

void PartMaker::connect(NodeId id) {
  const graph::Node& node = graph_[id];
  OutPorts inputs;
  SmallVector<OutPort, 1> controls;
  if (node.kind == NodeKind::Return) {
    inputs.push_back({});  // finish() connects it to the result of the callee, and its controls
  } else {
    for (OutPort input : node.inputs) inputs.push_back(here(input));
    for (OutPort control : node.controls) controls.push_back(here(control, false));
  }
  graph::Node& copy = builder_.node(nodes_[id.index()]);
  copy.inputs = std::move(inputs);
  copy.controls = std::move(controls);
}

/// Parameters and results of the functions that are at home here; of the program, those that people see.
void PartMaker::add_heads() {
  for (std::size_t f = 0; f < graph_.functions().size(); ++f) {
    const FunctionId placed(f);
    const bool is_main = placed == graph_.main();
    if (is_main ? self_ != 0 : !is_home(placed)) continue;
    const FunctionId function = function_here(placed);
    const graph::Function& of = graph_[placed];
    OutPorts results;
    for (OutPort result : of.results) results.push_back(here(result));
    builder_.in_function(function);
    for (std::size_t i = 0; i < of.params.size(); ++i)
      builder_.add_param(of.param_names[i], here(of.params[i]));
    for (OutPort result : results) builder_.add_result(result);
  }
}

FunctionId PartMaker::function_here(FunctionId placed) {
  const auto known = functions_.find(placed);
  if (known != functions_.end()) return known->second;
  const graph::Function& of = graph_[placed];
  const FunctionId id = builder_.add_function(of.name, of.span);
  functions_[placed] = id;
  graph::Function& function = builder_.function(id);
  function.placement = of.placement;
  if (placed == graph_.main()) return id;
  if (is_home(placed)) {
    function.phases = of.phases;
    function.triggered = of.triggered;
    return id;
  }
  const OutPort head{add_kind(NodeKind::Merge, id, {})};
  builder_.in_function(id);
  builder_.add_param("", head);
  builder_.set_triggered();
  copied_heads_[placed] = head;
  functions_to_feed_.push_back(placed);
  return id;
}

CallSite PartMaker::site_here(CallSite placed) {
  const auto known = sites_.find(placed);
  if (known != sites_.end()) return known->second;
  const graph::Site& site = graph_[placed];
  const FunctionId callee = function_here(site.callee);
  builder_.in_function(function_here(site.caller));
  site_origins_.push_back(placed);
  return sites_[placed] = builder_.add_site(callee, site.span);
}

LoopId PartMaker::loop_here(LoopId placed) {
  const auto known = loops_.find(placed);
  if (known != loops_.end()) return known->second;
  builder_.in_function(function_here(graph_[placed].function));
  loop_origins_.push_back(placed);
  return loops_[placed] = builder_.add_loop(graph_[placed].span);
}

OutPort PartMaker::here(OutPort of, bool carries_values) {
  const int process = process_of(of.node);
  if (process == kEverywhere) return constant_here(of.node);
  if (process == self_) return {nodes_[of.node.index()], of.port};
  return receive(of, carries_values);
}

OutPort PartMaker::constant_here(NodeId constant) {
  NodeId& known = nodes_[constant.index()];
  if (!known.valid()) {
    graph::Node node = graph_[constant];
    node.placement = {};
    node.function = function_here(node.function);
    known = add(std::move(node), constant);
  }
  return {known};
}

namespace {

/// "n", or what computes it.
std::string name_of_value(const graph::Node& node) {
  if (!node.name.empty()) return node.name;
  return std::string(node.op != nullptr ? node.op->name.value : graph::name_of(node.kind));
}

}  // namespace

OutPort PartMaker::receive(OutPort of, bool carries_values) {
  const uint32_t number = channels_.number_of(of, process_of(of.node), self_, carries_values);
  const auto known = received_.find(number);
  if (known != received_.end()) return {known->second};
  const graph::Node& source = graph_[of.node];
  const OutPort tags = tags_of({source.function, graph_.loop_of(of.node)});
  const NodeId id =
      add({.kind = NodeKind::Recv,
           .controls = {tags},
           .type = source.type,
           .function = function_here(source.function),
           .index = number,
           .name = fmt::format("{} from process {}", name_of_value(source), process_of(of.node)),
           .span = source.span});
  received_[number] = id;
  channels_.all()[number].recv = id;
  return {id};
}

NodeId PartMaker::add_send(uint32_t number, const Channel& channel) {
  const graph::Node& source = graph_[channel.of.node];
  return add({.kind = NodeKind::Send,
              .inputs = {here(channel.of)},
              .type = source.type,
              .function = function_here(source.function),
              .index = number,
              .name = fmt::format("{} to process {}", name_of_value(source), channel.to),
              .span = source.span});
}

Part PartMaker::finish() {
  origins_.resize(builder_.node_count());
  return {builder_.finish(), std::move(origins_), std::move(site_origins_), std::move(loop_origins_)};
}

// State machines --------------------------------------------------------------------------------------------

/// The Enter that begins the iterations of a loop.
NodeId PartMaker::head_of(LoopId loop) const {
  const std::vector<NodeId>& enters = graph_[loop].enters;
  const auto head =
      std::find_if(enters.begin(), enters.end(), [&](NodeId id) { return !graph_[id].loop_constant; });
  if (head != enters.end()) return *head;
  throw ProgramError(fmt::format("loop {} of '{}': expected a variable to split it by, found constants only",
                                 loop.index(), graph_[graph_[loop].function].name));
}

/// The Merge of the loop variable.
NodeId PartMaker::variable_of(NodeId enter) const {
  for (graph::InPort reader : graph_.consumers({enter})) {
    if (graph::is_entry(graph_, graph_[reader.node])) return reader.node;
  }
  throw ProgramError(fmt::format("%{} Enter of '{}': expected a Merge with a NextIteration, found none",
                                 enter.index(), graph_[graph_[enter].function].name));
}

OutPort PartMaker::tags_of(const Context& context) {
  if (context.loop.valid()) return loop_tags(context.loop);
  if (context.function == graph_.main()) return start();
  function_here(context.function);
  if (!is_home(context.function)) return copied_heads_.at(context.function);
  return {nodes_[graph_[context.function].params[0].node.index()]};
}

/// The program runs once, under the empty tag: what reads nothing but constants does.
OutPort PartMaker::start_constant() {
  if (!start_constant_.node.valid()) {
    start_constant_ = {add({.kind = NodeKind::Const,
                            .type = DType::Bool,
                            .function = function_here(graph_.main()),
                            .constant = Value(true)})};
  }
  return start_constant_;
}

OutPort PartMaker::start() {
  if (!start_.node.valid()) {
    const OutPort constant = start_constant();
    builder_.in_function(function_here(graph_.main()));
    start_ = builder_.op(*catalog().find("identity"), {constant});
    builder_.node(start_).name = "start";
  }
  return start_;
}

OutPort PartMaker::loop_tags(LoopId loop) {
  if (is_here(loop)) return {nodes_[variable_of(head_of(loop)).index()]};
  const auto known = copied_variables_.find(loop);
  if (known != copied_variables_.end()) return known->second;
  const OutPort variable{add_kind(NodeKind::Merge, function_here(graph_[loop].function), {})};
  loops_to_feed_.push_back(loop);
  return copied_variables_[loop] = variable;
}

OutPort PartMaker::token(AliveId id) {
  const auto known = tokens_.find(id);
  if (known != tokens_.end()) return known->second;
  const OutPort made = make_token(id);
  return tokens_[id] = made;
}

OutPort PartMaker::make_token(AliveId id) {
  const Alive alive = alive_[id];
  if (alive.kind == Alive::Kind::Always) return token_of_all(alive.context);
  const FunctionId function = function_here(alive.context.function);
  OutPorts of;
  for (AliveId one : alive.of) of.push_back(token(one));
  if (alive.kind == Alive::Kind::Any) return {add_kind(NodeKind::Merge, function, of)};
  if (alive.kind == Alive::Kind::All) {
    OutPort all = of[0];
    for (std::size_t i = 1; i < of.size(); ++i) {
      builder_.in_function(function);
      all = builder_.op(*catalog().find("and"), {all, of[i]});
    }
    return all;
  }
  NodeId& both = switches_[{alive.of[0], alive.predicate}];
  if (!both.valid()) {
    const OutPort predicate = here(alive.predicate);
    both = add_kind(NodeKind::Switch, function, {of[0], predicate});
  }
  return {both, alive.side ? 0U : 1U};
}

OutPort PartMaker::token_of_all(const Context& context) {
  const bool is_main = context.function == graph_.main();
  const bool is_real = context.loop.valid() ? is_here(context.loop) : !is_main && is_home(context.function);
  if (!is_real) return tags_of(context);
  OutPort& known = full_tokens_[context];
  if (!known.node.valid()) {
    known = {add({.kind = NodeKind::Const,
                  .controls = {tags_of(context)},
                  .type = DType::Bool,
                  .function = function_here(context.function),
                  .constant = Value(true)})};
  }
  return known;
}

/// As dead as what comes to the first input of the node, which is in the context.
OutPort PartMaker::token_of_input(NodeId node, const Context& context) {
  const OutPort input = graph_[node].inputs[0];
  const bool is_always =
      is_under_every_tag(graph_[input.node]) || alive_[alive_.of(input)].kind == Alive::Kind::Always;
  if (is_always && context == Context{graph_.main(), {}}) return start_constant();
  return is_under_every_tag(graph_[input.node]) ? token_of_all(context) : token(alive_.of(input));
}

void PartMaker::add_state_machines() {
  while (!functions_to_feed_.empty() || !loops_to_feed_.empty()) {
    if (!functions_to_feed_.empty()) {
      const FunctionId function = functions_to_feed_.back();
      functions_to_feed_.pop_back();
      feed_function(function);
    } else {
      const LoopId loop = loops_to_feed_.back();
      loops_to_feed_.pop_back();
      feed_loop(loop);
    }
  }
}

/// A Call for each call site.
void PartMaker::feed_function(FunctionId placed) {
  for (std::size_t s = 0; s < graph_.sites().size(); ++s) {
    const graph::Site& site = graph_.sites()[s];
    if (site.callee != placed) continue;
    const NodeId first = site.calls.at(0);
    const OutPort argument = token_of_input(first, {site.caller, graph_.loop_of(first)});
    const CallSite here = site_here(CallSite(s));
    const NodeId call = add({.kind = NodeKind::Call,
                             .inputs = {argument},
                             .type = DType::Bool,
                             .function = function_here(site.caller),
                             .site = here});
    builder_.add_input(copied_heads_.at(placed), {call});
  }
}

/// The Enter, and a NextIteration for each that the loop has.
void PartMaker::feed_loop(LoopId placed) {
  const graph::Loop& loop = graph_[placed];
  const FunctionId function = function_here(loop.function);
  const LoopId here = loop_here(placed);
  const OutPort variable = copied_variables_.at(placed);
  const auto feed = [&](NodeKind kind, OutPort from) {
    const NodeId id =
        add({.kind = kind, .inputs = {from}, .type = DType::Bool, .function = function, .loop = here});
    builder_.add_input(variable, {id});
  };
  const NodeId head = head_of(placed);
  feed(NodeKind::Enter, token_of_input(head, {loop.function, loop.parent}));
  for (OutPort input : graph_[variable_of(head)].inputs) {
    if (graph_[input.node].kind != NodeKind::NextIteration) continue;
    feed(NodeKind::NextIteration, token_of_input(input.node, {loop.function, placed}));
  }
}

}  // namespace hiaton::partition
