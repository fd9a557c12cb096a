#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "graph/contexts.h"
#include "graph/turns.h"
#include "hiaton/error.h"
#include "partition/split_steps.h"

namespace hiaton::partition {
namespace {

using graph::CallSite;
using graph::choice_of_copy;
using graph::FunctionId;
using graph::is_under_every_tag;
using graph::LoopId;
using graph::NodeId;
using graph::NodeKind;
using graph::OutPort;

/// A function with its frames on one process.
struct Body {
  FunctionId of;
  int home;
  FunctionId copy;
};

class Copies {
 public:
  Copies(const graph::Graph& graph, const PlaceMap& places, Balance balance)
      : graph_(graph),
        places_(places),
        balance_(balance),
        builder_(graph.source()),
        nodes_of_(graph.functions().size()),
        entry_loop_(graph.nodes().size()),
        is_param_(graph::find_params(graph)) {
    for (std::size_t n = 0; n < graph.nodes().size(); ++n)
      nodes_of_[graph.nodes()[n].function.index()].emplace_back(n);
    for (const graph::Loop& loop : graph.loops()) {
      for (NodeId enter : loop.enters) note_variables(enter);
      for (NodeId next : loop.nexts) note_variables(next);
    }
  }

  PlacedGraph run() {
    for (const graph::Parameter& parameter : graph_.parameters())
      builder_.add_parameter(parameter.name, parameter.type, parameter.initial, parameter.placement);
    body_of(graph_.main(), places_.process_of(graph_[graph_.main()].placement, 0));
    while (!waiting_.empty()) {
      const Body body = waiting_.front();
      waiting_.pop_front();
      copy(body);
    }
    for (const auto& [call, callee] : calls_) {
      const OutPort param = builder_.function(callee).params[builder_.node(call).index];
      builder_.add_input(param, {call});
    }
    copies_.resize(homes_.size());
    return {builder_.finish(), std::move(processes_), std::move(homes_), std::move(nodes_),
            std::move(sites_), std::move(loops_),     std::move(copies_)};
  }

 private:
  /// The Merge of a loop variable stands where the loop stands.
  void note_variables(NodeId id) {
    if (graph_[id].loop_constant) return;
    for (graph::InPort reader : graph_.consumers({id})) {
      if (graph_[reader.node].kind == NodeKind::Merge) entry_loop_[reader.node.index()] = graph_[id].loop;
    }
  }

  FunctionId body_of(FunctionId of, int home) {
    const auto [entry, first] = bodies_.try_emplace(std::pair(of, home));
    if (!first) return entry->second;
    const graph::Function& function = graph_[of];
    const FunctionId copy = builder_.add_function(function.name, function.span);
    builder_.function(copy).placement = fmt::format("process:{}", home);
    builder_.function(copy).phases = function.phases;
    builder_.function(copy).triggered = function.triggered;
    homes_.push_back(home);
    entry->second = copy;
    waiting_.push_back({of, home, copy});
    return copy;
  }

  int process_of(NodeId id, int home) const {
    const graph::Node& node = graph_[id];
    switch (node.kind) {
      case NodeKind::Input:
      case NodeKind::Output:
        return 0;
      case NodeKind::Const:
        if (is_under_every_tag(node)) return kEverywhere;
        break;
      case NodeKind::Call:
      case NodeKind::Return: {
        const graph::Site& site = graph_[node.site];
        const int caller = common(id, process_named(site.calls.at(0), home), home, "call");
        return places_.process_of(graph_[site.callee].placement, caller);
      }
      case NodeKind::Enter:
      case NodeKind::Exit:
      case NodeKind::NextIteration:
        return process_of_loop(id, node.loop, home);
      default:
        break;
    }
    if (node.op != nullptr && node.op->role == Role::Print) return 0;
    if (const std::optional<int> process = process_of_parameter(node, home)) return *process;
    if (is_param_[id.index()]) return common(id, home, home, "head of a function");
    const LoopId loop = entry_loop_[id.index()];
    return loop.valid() ? process_of_loop(id, loop, home) : process_named(id, home);
  }

  /// Where the learned parameter is that the node is about, or reads; nothing: anywhere.
  std::optional<int> process_of_parameter(const graph::Node& node, int home) const {
    const auto process_of = [&](int32_t parameter) -> std::optional<int> {
      if (parameter < 0) return std::nullopt;
      return places_.process_of(graph::ParameterId(static_cast<std::size_t>(parameter)), home);
    };
    if (node.kind != NodeKind::Op) return process_of(node.parameter);
    for (OutPort input : node.inputs) {
      if (const std::optional<int> process = process_of(graph_[input.node].parameter)) return process;
    }
    return std::nullopt;
  }

  int process_named(NodeId id, int home) const { return places_.process_of(graph_[id].placement, home); }

  int process_of_loop(NodeId id, LoopId loop, int home) const {
    return common(id, process_named(graph_[loop].enters.at(0), home), home, "loop");
  }

  /// The process of all nodes of a call or loop.
  int common(NodeId id, int expected, int home, std::string_view what) const {
    const int found = process_named(id, home);
    if (found == expected) return expected;
    throw ProgramError(fmt::format(
        "%{} {} of '{}': expected it on the process of its {}, {}, found it on process {}", id.index(),
        name_of(graph_[id].kind), graph_[graph_[id].function].name, what, expected, found));
  }

  void copy(const Body& body) {
    std::unordered_map<NodeId, NodeId> copies;
    std::unordered_map<CallSite, CallSite> sites;
    std::unordered_map<LoopId, LoopId> loops;
    const auto port_of = [&](OutPort port) { return OutPort{copies.at(port.node), port.port}; };
    for (NodeId id : nodes_of_[body.of.index()]) {
      builder_.in_function(body.copy);
      if (takes_turns(graph_[id].site)) {
        if (graph_[id].kind == NodeKind::Return) copies[id] = add_merge(id, body);
        continue;
      }
      const int process = process_of(id, body.home);
      graph::Node node = graph_[id];
      node.inputs = {};
      node.controls = {};
      node.function = body.copy;
      // What stands everywhere may have been placed on a process that is not there.
      node.placement = process == kEverywhere ? "" : fmt::format("process:{}", process);
      if (node.site.valid()) node.site = site_of(node.site, process, body, sites);
      if (node.loop.valid()) node.loop = loop_of(node.loop, loops);
      copies[id] = add(std::move(node), id, process);
    }
    builder_.in_function(body.copy);
    for (NodeId id : nodes_of_[body.of.index()]) {
      const graph::Node& node = graph_[id];
      if (takes_turns(node.site)) {
        if (node.kind == NodeKind::Call && node.index == 0) add_turns(node.site, body, port_of);
        continue;
      }
      graph::Node& copy = builder_.node(copies[id]);
      if (node.kind == NodeKind::Call) {
        calls_.emplace_back(copies[id], callee_of(copy.site));
      }
      if (node.kind == NodeKind::Return) {
        copy.inputs.push_back(OutPort{});  // finish() connects it
        continue;
      }
      const bool is_fed_by_calls = is_param_[id.index()] && node.kind == NodeKind::Merge;
      if (!is_fed_by_calls) {
        for (OutPort input : node.inputs) copy.inputs.push_back(port_of(input));
      }
      for (OutPort control : node.controls) copy.controls.push_back(port_of(control));
    }
    const graph::Function& function = graph_[body.of];
    for (std::size_t i = 0; i < function.params.size(); ++i)
      builder_.add_param(function.param_names[i], port_of(function.params[i]));
    for (OutPort result : function.results) builder_.add_result(port_of(result));
  }

  NodeId add(graph::Node node, NodeId origin, int process) {
    nodes_.push_back(origin);
    processes_.push_back(process);
    return builder_.add(std::move(node));
  }

  /// Whether the call site is one for each copy of its callee. Where it begins with nothing but constants, in
  /// the program itself, no token says that there is such a call: it calls the first copy.
  bool takes_turns(CallSite site) const {
    return site.valid() && balance_ == Balance::ByTag && !copies_of(site).empty() && argument_with_tag(site);
  }

  /// The first argument of the first phase that is no constant under every tag.
  std::optional<std::size_t> argument_with_tag(CallSite site) const {
    const std::vector<NodeId>& calls = graph_[site].calls;
    const std::vector<Phase>& phases = graph_[graph_[site].callee].phases;
    const std::size_t count = phases.empty() ? calls.size() : std::min(calls.size(), phases[0].params);
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_under_every_tag(graph_[graph_[calls[i]].inputs[0].node])) return i;
    }
    return std::nullopt;
  }

  std::span<const int> copies_of(CallSite site) const {
    return places_.copies_of(graph_[graph_[site].callee].placement);
  }

  /// Joins what the copies return.
  NodeId add_merge(NodeId result, const Body& body) {
    graph::Node node = graph_[result];
    node.kind = NodeKind::Merge;
    node.inputs = {};
    node.controls = {};
    node.site = {};
    node.function = body.copy;
    node.placement = fmt::format("process:{}", body.home);
    return add(std::move(node), result, body.home);
  }

  /// A call to each copy. Switch nodes pass the arguments to the one whose turn it is.
  template <class PortOf>
  void add_turns(CallSite id, const Body& body, PortOf port_of) {
    const graph::Site& site = graph_[id];
    const std::span<const int> homes = copies_of(id);
    const std::size_t alive = *argument_with_tag(id);
    std::vector<OutPort> arguments;
    for (NodeId call : site.calls) arguments.push_back(port_of(graph_[call].inputs[0]));
    for (std::size_t c = 0; c < homes.size(); ++c) {
      std::vector<OutPort> chosen = arguments;
      if (c + 1 < homes.size()) {
        const uint64_t turn = (c + homes.size() - id.index() % homes.size()) % homes.size();
        graph::Node choice = choice_of_copy({turn, homes.size()}, body.copy, arguments[alive]);
        choice.placement = fmt::format("process:{}", body.home);
        const NodeId predicate = add(std::move(choice), site.calls[0], body.home);
        for (std::size_t i = 0; i < arguments.size(); ++i) {
          const NodeId both = add({.kind = NodeKind::Switch,
                                   .inputs = {arguments[i], {predicate}},
                                   .type = graph_[site.calls[i]].type,
                                   .function = body.copy,
                                   .name = graph_[site.calls[i]].name,
                                   .span = graph_[site.calls[i]].span,
                                   .placement = fmt::format("process:{}", body.home)},
                                  site.calls[i], body.home);
          chosen[i] = {both, 0};
          arguments[i] = {both, 1};
        }
      }
      add_call(id, body, homes[c], chosen, port_of);
    }
  }

  template <class PortOf>
  void add_call(CallSite id, const Body& body, int home, const std::vector<OutPort>& arguments,
                PortOf port_of) {
    const graph::Site& site = graph_[id];
    std::unordered_map<CallSite, CallSite> own;  // a site of its own for each copy
    const CallSite copy = site_of(id, home, body, own);
    const auto add_node = [&](NodeId of) {
      graph::Node node = graph_[of];
      node.inputs = {};
      node.controls = {};
      node.function = body.copy;
      node.site = copy;
      node.placement = fmt::format("process:{}", home);
      return add(std::move(node), of, home);
    };
    for (std::size_t i = 0; i < site.calls.size(); ++i) {
      const NodeId call = add_node(site.calls[i]);
      builder_.node(call).inputs = {arguments[i]};
      calls_.emplace_back(call, callee_of(copy));
    }
    for (NodeId result : site.returns) {
      const NodeId back = add_node(result);
      builder_.node(back).inputs = {OutPort{}};  // finish() connects it
      builder_.add_input(port_of({result}), {back});
    }
  }

  CallSite site_of(CallSite site, int callee_home, const Body& caller,
                   std::unordered_map<CallSite, CallSite>& known) {
    const auto [entry, first] = known.try_emplace(site);
    if (first) {
      const FunctionId callee = body_of(graph_[site].callee, callee_home);
      if (balance_ == Balance::ByCaller) add_copies(site, callee);
      builder_.in_function(caller.copy);
      entry->second = builder_.add_site(callee, graph_[site].span);
      sites_.push_back(site);
      callees_.push_back(callee);
    }
    return entry->second;
  }

  /// All copies of a callee, of which the call sites name the first.
  void add_copies(CallSite site, FunctionId first) {
    const std::span<const int> homes = copies_of(site);
    if (homes.empty()) return;
    std::vector<FunctionId> all;
    for (const int home : homes) all.push_back(body_of(graph_[site].callee, home));
    copies_.resize(std::max(copies_.size(), first.index() + 1));
    copies_[first.index()] = std::move(all);
  }

  FunctionId callee_of(CallSite copy) const { return callees_[copy.index()]; }

  LoopId loop_of(LoopId loop, std::unordered_map<LoopId, LoopId>& known) {
    const auto [entry, first] = known.try_emplace(loop);
    if (first) {
      entry->second = builder_.add_loop(graph_[loop].span);
      loops_.push_back(loop);
    }
    return entry->second;
  }

  const graph::Graph& graph_;
  const PlaceMap& places_;
  const Balance balance_;
  graph::GraphBuilder builder_;
  std::vector<std::vector<NodeId>> nodes_of_;  ///< by function
  std::vector<LoopId> entry_loop_;             ///< by node: whose variable it is the Merge of
  const std::vector<bool> is_param_;           ///< by node
  std::map<std::pair<FunctionId, int>, FunctionId> bodies_;
  std::deque<Body> waiting_;
  std::vector<std::pair<NodeId, FunctionId>> calls_;
  std::vector<FunctionId> callees_;  ///< by call site of the copies
  std::vector<int> processes_;
  std::vector<int> homes_;
  std::vector<NodeId> nodes_;
  std::vector<CallSite> sites_;
  std::vector<LoopId> loops_;
  std::vector<std::vector<FunctionId>> copies_;
};

}  // namespace

PlacedGraph place(const graph::Graph& graph, const PlaceMap& places, Balance balance) {
  return Copies(graph, places, balance).run();
}

}  // namespace hiaton::partition
