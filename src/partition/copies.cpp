#include "partition/copies.h"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <unordered_map>
#include <utility>

#include "graph/contexts.h"
#include "hiaton/error.h"

namespace hiaton::partition {
namespace {

using graph::CallSite;
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
  Copies(const graph::Graph& graph, const PlaceMap& places)
      : graph_(graph),
        places_(places),
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
    return {builder_.finish(), std::move(processes_), std::move(homes_),
            std::move(nodes_), std::move(sites_),     std::move(loops_)};
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
        return places_.process_of_callee(graph_[site.callee].placement, caller, node.site);
      }
      case NodeKind::Enter:
      case NodeKind::Exit:
      case NodeKind::NextIteration:
        return process_of_loop(id, node.loop, home);
      default:
        break;
    }
    if (node.op != nullptr && node.op->role == Role::Print) return 0;
    if (const std::string* place = place_of_parameter(node)) return places_.process_of(*place, home);
    if (is_param_[id.index()]) return common(id, home, home, "head of a function");
    const LoopId loop = entry_loop_[id.index()];
    return loop.valid() ? process_of_loop(id, loop, home) : process_named(id, home);
  }

  /// Where the learned parameter is that the node is about, or reads; null: anywhere.
  const std::string* place_of_parameter(const graph::Node& node) const {
    const auto place_of = [&](int32_t parameter) -> const std::string* {
      if (parameter < 0) return nullptr;
      const std::string& place = graph_.parameters()[static_cast<std::size_t>(parameter)].placement;
      return place.empty() ? nullptr : &place;
    };
    if (node.kind != NodeKind::Op) return place_of(node.parameter);
    for (OutPort input : node.inputs) {
      if (const std::string* place = place_of(graph_[input.node].parameter)) return place;
    }
    return nullptr;
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
      const int process = process_of(id, body.home);
      graph::Node node = graph_[id];
      node.inputs = {};
      node.controls = {};
      node.function = body.copy;
      if (process != kEverywhere) node.placement = fmt::format("process:{}", process);
      if (node.site.valid()) node.site = site_of(node.site, process, body, sites);
      if (node.loop.valid()) node.loop = loop_of(node.loop, loops);
      copies[id] = builder_.add(std::move(node));
      nodes_.push_back(id);
      processes_.push_back(process);
    }
    builder_.in_function(body.copy);
    for (NodeId id : nodes_of_[body.of.index()]) {
      const graph::Node& node = graph_[id];
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

  CallSite site_of(CallSite site, int callee_home, const Body& caller,
                   std::unordered_map<CallSite, CallSite>& known) {
    const auto [entry, first] = known.try_emplace(site);
    if (first) {
      const FunctionId callee = body_of(graph_[site].callee, callee_home);
      builder_.in_function(caller.copy);
      entry->second = builder_.add_site(callee, graph_[site].span);
      sites_.push_back(site);
      callees_.push_back(callee);
    }
    return entry->second;
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
};

}  // namespace

PlacedGraph place(const graph::Graph& graph, const PlaceMap& places) {
  return Copies(graph, places).run();
}

}  // namespace hiaton::partition
