// Phases of programs. The rule: a result comes in the phase of the last parameter that it waits for, or that
// a result before it waits for. What is computed waits for all that it reads; the results of a phase of a
// call for the arguments of that phase and of those before; what a loop gives, for all that enters the loop.
//
// A function that calls one of several phases, as the gradients of a program do, gets its phases by the same
// rule: else its call would wait for all arguments.
#include <algorithm>
#include <utility>

#include "hiaton/graph.h"

namespace hiaton::graph {
namespace {

/// By node of one function: how many of its parameters, from the first one on, must have come.
class Waits {
 public:
  Waits(const Graph& graph, FunctionId function)
      : graph_(graph), function_(function), params_(graph.nodes().size(), 0) {
    const std::vector<OutPort>& params = graph[function].params;
    for (std::size_t i = params.size(); i-- > 0;) spread(params[i].node, i + 1);
  }

  std::size_t operator[](NodeId node) const { return params_[node.index()]; }

 private:
  void spread(NodeId from, std::size_t params) {
    mark(from, params);
    while (!fresh_.empty()) {
      const NodeId id = fresh_.back();
      fresh_.pop_back();
      for (uint32_t port = 0; port < graph_[id].output_count(); ++port) {
        for (const InPort& reader : graph_.consumers({id, port})) mark(reader.node, params);
        for (const NodeId reader : graph_.control_consumers({id, port})) mark(reader, params);
      }
      if (graph_[id].kind != NodeKind::Enter) continue;
      for (const NodeId exit : graph_[graph_[id].loop].exits) mark(exit, params);
    }
  }

  void mark(NodeId id, std::size_t params) {
    if (params_[id.index()] > 0 || graph_[id].function != function_) return;
    params_[id.index()] = params;
    fresh_.push_back(id);
  }

  const Graph& graph_;
  const FunctionId function_;
  std::vector<std::size_t> params_;
  std::vector<NodeId> fresh_;
};

std::vector<Phase> phases_of(const Graph& graph, FunctionId id) {
  const Waits waits(graph, id);
  std::vector<Phase> phases(1);
  std::size_t params = 0;
  for (const OutPort result : graph[id].results) {
    const std::size_t wanted = std::max(params, waits[result.node]);
    if (wanted > params && phases.back().results > 0) phases.emplace_back();
    phases.back().params += wanted - params;
    ++phases.back().results;
    params = wanted;
  }
  const std::size_t left = graph[id].params.size() - params;
  if (left > 0) phases.push_back({left, 0});
  return phases;
}

}  // namespace

class PhasedProgram {
 public:
  explicit PhasedProgram(const Graph& graph) : graph_(graph) {}

  Graph run() && {
    while (add_phases()) {
    }
    std::vector<Phase> phases = phases_of(graph_, graph_.main());
    graph_.functions_[graph_.main().index()].phases = std::move(phases);
    return std::move(graph_);
  }

 private:
  /// To functions that call such of several phases. Whether there was one.
  bool add_phases() {
    std::vector<bool> found(graph_.functions().size(), false);
    for (const Site& site : graph_.sites()) {
      const Function& caller = graph_[site.caller];
      const bool is_candidate = site.caller != graph_.main() && caller.phases.empty() && !caller.triggered;
      if (is_candidate && graph_[site.callee].phases.size() > 1) found[site.caller.index()] = true;
    }
    bool has_changed = false;
    for (std::size_t f = 0; f < found.size(); ++f) {
      if (!found[f]) continue;
      std::vector<Phase> phases = phases_of(graph_, FunctionId(f));
      if (phases.size() == 1) continue;
      graph_.functions_[f].phases = std::move(phases);
      has_changed = true;
      shorten_waits(FunctionId(f));
    }
    if (has_changed) graph_.index_readers();
    return has_changed;
  }

  /// The results of a phase wait for no arguments of later ones.
  void shorten_waits(FunctionId callee) {
    for (const Site& site : graph_.sites()) {
      if (site.callee != callee) continue;
      std::size_t result = 0;
      std::size_t arguments = 0;
      for (const Phase& phase : graph_[callee].phases) {
        arguments += phase.params;
        const std::size_t end = std::min(result + phase.results, site.returns.size());
        for (; result < end; ++result) {
          auto& controls = graph_.nodes_[site.returns[result].index()].controls;
          controls = {};
          for (std::size_t i = 0; i < std::min(arguments, site.calls.size()); ++i)
            controls.push_back({site.calls[i]});
        }
      }
    }
  }

  Graph graph_;
};

Graph in_phases(const Graph& graph) {
  return PhasedProgram(graph).run();
}

}  // namespace hiaton::graph
