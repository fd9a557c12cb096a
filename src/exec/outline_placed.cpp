// Rounds: what find_placed_parts() finds becomes functions, and what is inside of those is looked at next.
#include "exec/outline_placed.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "exec/placed_graph.h"
#include "exec/placed_units.h"
#include "exec/structure.h"

namespace hiaton::exec {
namespace {

/// One round.
class PlacedOutliner {
 public:
  explicit PlacedOutliner(const HomedGraph& homed)
      : graph_(homed.graph),
        homes_(homed.homes),
        copies_(homed.copies),
        structure_(find_blocks(graph_, std::vector<bool>(graph_.functions().size(), true))),
        is_param_(graph::find_params(graph_)),
        found_(find_placed_parts(homed, structure_, is_param_)),
        moved_to_(found_.part_of),
        nodes_(graph_.nodes()) {
    for (const PlacedPart& part : found_.parts) {
      Component component{};
      component.process = part.process;
      component.caller = part.caller;
      component.block = part.block;
      components_.push_back(std::move(component));
    }
  }

  /// Nothing where all is at home.
  std::optional<HomedGraph> run() {
    if (components_.empty()) return std::nullopt;
    return rebuild();
  }

 private:
  struct Component {
    int process;
    std::vector<OutPort> arguments;
    std::vector<OutPort> results;
    FunctionId function;
    CallSite site;
    std::vector<NodeId> params;
    std::vector<NodeId> returns;
    FunctionId caller;
    BlockId block;
  };

  // The new graph
  HomedGraph rebuild() {
    find_arguments();
    find_results();
    GraphBuilder builder(graph_.source());
    for (const graph::Parameter& parameter : graph_.parameters())
      builder.add_parameter(parameter.name, parameter.type, parameter.initial, parameter.placement);
    declare_functions(builder);
    for (Component& component : components_) add_nodes(component, builder);
    redirect_reads();
    for (std::size_t f = 0; f < graph_.functions().size(); ++f) {
      for (OutPort& result : builder.function(FunctionId(f)).results) result = outside(result);
    }
    for (Component& component : components_) {
      builder.in_function(component.function);
      for (OutPort result : component.results) builder.add_result(result);
    }
    for (Node& node : nodes_) builder.add(std::move(node));
    return {builder.finish(), homes_, copies_};
  }

  void find_arguments() {
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      if (!moved_to_[n]) continue;
      for_each_read(graph_, is_param_, NodeId(n), [&](OutPort from) {
        if (is_under_every_tag(graph_[from.node]) || moved_to_[from.node.index()] == moved_to_[n]) return;
        add_once(components_[*moved_to_[n]].arguments, from);
      });
    }
    // What needs nothing of the body, in the program itself, which runs once.
    for (Component& component : components_) {
      if (!component.arguments.empty()) continue;
      const NodeId start = append({.kind = NodeKind::Const,
                                   .type = Type(DType::Bool),
                                   .function = component.caller,
                                   .constant = Value(true)});
      component.arguments.push_back({start});
    }
  }

  void find_results() {
    const auto read = [&](OutPort from, std::optional<std::size_t> reader) {
      const std::optional<std::size_t> definer = moved_to_[from.node.index()];
      if (!definer || definer == reader || graph_[from.node].kind == NodeKind::Call) return;
      add_once(components_[*definer].results, from);
    };
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      for_each_read(graph_, is_param_, NodeId(n), [&](OutPort from) { read(from, moved_to_[n]); });
    }
    for (const graph::Function& function : graph_.functions()) {
      for (OutPort result : function.results) read(result, std::nullopt);
    }
    // What nobody reads may still fail.
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      if (!moved_to_[n] || found_.block_of_unit[n] != components_[*moved_to_[n]].block) continue;
      const NodeKind kind = graph_.nodes()[n].kind;
      if (kind == NodeKind::Call || kind == NodeKind::Switch) continue;
      if (components_[*moved_to_[n]].results.empty())
        components_[*moved_to_[n]].results.push_back({NodeId(n)});
    }
  }

  void declare_functions(GraphBuilder& builder) {
    std::set<std::string> names;
    for (const graph::Function& function : graph_.functions()) {
      builder.function(builder.add_function(function.name)) = function;
      names.insert(function.name);
    }
    for (Component& component : components_) {
      const graph::Function& caller = graph_[component.caller];
      const std::string wish = fmt::format("{}_on_{}", caller.name, component.process);
      std::string name = wish;
      for (int number = 2; !names.insert(name).second; ++number) name = fmt::format("{}_{}", wish, number);
      component.function = builder.add_function(name, caller.span);
      builder.function(component.function).placement = fmt::format("process:{}", component.process);
      homes_.push_back(component.process);
    }
    for (const graph::Site& site : graph_.sites()) {
      const std::optional<std::size_t> moved = moved_to_[site.calls[0].index()];
      builder.in_function(moved ? components_[*moved].function : site.caller);
      builder.add_site(site.callee, site.span);
    }
    for (Component& component : components_) {
      builder.in_function(component.caller);
      component.site = builder.add_site(component.function, span_of(component));
    }
  }

  /// A call in a program with a text has a place there.
  Span span_of(const Component& component) const {
    for (OutPort result : component.results) {
      if (graph_[result.node].span.known()) return graph_[result.node].span;
    }
    return graph_[component.caller].span;
  }

  NodeId append(Node node) {
    nodes_.push_back(std::move(node));
    return NodeId(nodes_.size() - 1);
  }

  void add_nodes(Component& component, GraphBuilder& builder) {
    builder.in_function(component.function);
    const SharedString place = fmt::format("process:{}", component.process);
    for (OutPort argument : component.arguments) {
      const Node value = nodes_[argument.node.index()];
      Node node{.kind = NodeKind::Call,
                .inputs = {argument},
                .type = value.type,
                .function = component.caller,
                .site = component.site,
                .name = value.name,
                .span = value.span,
                .placement = place};
      const NodeId call = append(node);
      node.kind = NodeKind::Merge;
      node.inputs = {OutPort{call}};
      node.function = component.function;
      node.site = {};
      component.params.push_back(append(std::move(node)));
      const std::size_t number = component.params.size();
      const std::string name = value.name.empty() ? fmt::format("v{}", number) : std::string(value.name);
      builder.add_param(name, {component.params.back()});
    }
    for (OutPort result : component.results) {
      const Node& value = graph_[result.node];
      component.returns.push_back(append({.kind = NodeKind::Return,
                                          .inputs = {result},
                                          .type = value.type,
                                          .function = component.caller,
                                          .site = component.site,
                                          .name = value.name,
                                          .span = value.span,
                                          .placement = place}));
    }
  }

  /// Where the value stands for who reads it from elsewhere.
  OutPort outside(OutPort from) const {
    const bool is_own = from.node.index() < moved_to_.size();
    const std::optional<std::size_t> moved = is_own ? moved_to_[from.node.index()] : std::nullopt;
    if (!moved || graph_[from.node].kind == NodeKind::Call) return from;
    const Component& component = components_[*moved];
    const auto found = std::ranges::find(component.results, from);
    HIATON_CHECK(found != component.results.end());
    return {component.returns[static_cast<std::size_t>(found - component.results.begin())]};
  }

  OutPort inside(OutPort from, const Component& component) {
    const auto found = std::ranges::find(component.arguments, from);
    if (found != component.arguments.end())
      return {component.params[static_cast<std::size_t>(found - component.arguments.begin())]};
    const Node& node = nodes_[from.node.index()];
    if (!is_under_every_tag(node)) return from;
    const auto [copy, is_new] = constants_.try_emplace({from.node, component.function});
    if (is_new) {
      Node constant = node;
      constant.function = component.function;
      copy->second = append(std::move(constant));
    }
    return {copy->second};
  }

  void redirect_reads() {
    const std::size_t own = graph_.nodes().size();
    for (std::size_t n = 0; n < own; ++n) {
      const std::optional<std::size_t> moved = moved_to_[n];
      if (moved) nodes_[n].function = components_[*moved].function;
      const bool reads_elsewhere = graph_.nodes()[n].kind == NodeKind::Return || is_param_[n];
      const auto redirect = [&](OutPort from) {
        const bool is_own = moved && moved_to_[from.node.index()] == moved;
        if (is_own && !reads_elsewhere) return from;
        if (moved && !reads_elsewhere) {
          const OutPort within = inside(from, components_[*moved]);
          if (within != from) return within;
        }
        return outside(from);
      };
      for (std::size_t i = 0; i < graph_.nodes()[n].inputs.size(); ++i) {
        const OutPort from = redirect(graph_.nodes()[n].inputs[i]);  // nodes_ may grow
        nodes_[n].inputs[i] = from;
      }
      if (graph_.nodes()[n].kind == NodeKind::Return) continue;  // they wait for the calls of their site
      for (std::size_t i = 0; i < graph_.nodes()[n].controls.size(); ++i) {
        const OutPort from = redirect(graph_.nodes()[n].controls[i]);
        nodes_[n].controls[i] = from;
      }
      if (moved && graph::fires_once(graph_, graph_.nodes()[n])) start_with(components_[*moved], NodeId(n));
    }
    for (std::size_t n = own; n < nodes_.size(); ++n) {  // arguments that other components give
      if (nodes_[n].kind == NodeKind::Call) nodes_[n].inputs[0] = outside(nodes_[n].inputs[0]);
    }
  }

  /// In the program itself, what reads constants alone runs once. In a function something has to start it.
  void start_with(const Component& component, NodeId id) {
    Node first = nodes_[nodes_[id.index()].inputs[0].node.index()];
    first.controls.push_back({component.params[0]});
    const NodeId copy = append(std::move(first));  // nodes_ may grow
    nodes_[id.index()].inputs[0] = {copy};
  }

  const Graph& graph_;
  std::vector<int> homes_;
  const CopiesOfFunctions& copies_;
  const Structure structure_;
  const std::vector<bool> is_param_;
  const PlacedParts found_;
  const std::vector<std::optional<std::size_t>>& moved_to_;  ///< by node: its component
  std::vector<Component> components_;
  std::vector<Node> nodes_;  ///< nodes of the new graph
  std::map<std::pair<NodeId, FunctionId>, NodeId> constants_;
};

}  // namespace

HomedGraph outline_placed(const Graph& placed, CopiesOfFunctions copies) {
  std::vector<int> homes;
  for (const graph::Function& function : placed.functions())
    homes.push_back(process_in(function.placement).value_or(0));
  HomedGraph homed{placed, std::move(homes), std::move(copies)};
  while (std::optional<HomedGraph> next = PlacedOutliner(homed).run()) homed = std::move(*next);
  return homed;
}

}  // namespace hiaton::exec
