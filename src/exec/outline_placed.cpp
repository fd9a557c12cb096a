// Units are what can be moved: an operation, a call with all its arguments and results, a branch with all
// that is inside. Each has a process. A unit that needs a value of another process has a higher level than
// the one that it comes from. So of units of one block, process and level no value goes out and comes back
// in, and those among them that hand values to each other, or read the same one, become one function. What is
// inside of a branch that was moved has its turn in the next round, as part of the new function.
#include "exec/outline_placed.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "exec/placed_graph.h"
#include "exec/structure.h"

namespace hiaton::exec {
namespace {

/// One round.
class PlacedOutliner {
 public:
  PlacedOutliner(const Graph& graph, std::vector<int> homes, const CopiesOfFunctions& copies)
      : graph_(graph),
        homes_(std::move(homes)),
        copies_(copies),
        structure_(find_blocks(graph, std::vector<bool>(graph.functions().size(), true))),
        is_param_(graph::find_params(graph)),
        first_site_(graph.nodes().size()),
        first_conditional_(first_site_ + graph.sites().size()),
        units_(first_conditional_ + structure_.conditionals.size()),
        unit_of_(graph.nodes().size()),
        nodes_(graph.nodes()),
        moved_to_(graph.nodes().size()) {}

  /// Nothing where all is at home.
  std::optional<HomedGraph> run() {
    find_units();
    find_edges();
    find_levels();
    join_units();
    if (!choose_components()) return std::nullopt;
    return rebuild();
  }

 private:
  struct Unit {
    BlockId block;  ///< invalid: there is no such unit
    int process = 0;
    int level = 0;
    std::vector<std::size_t> needs;  ///< what it needs of the same block
    std::size_t joined;              ///< towards who stands for its component
    bool computes = false;           ///< it is not only a constant or a copy
  };
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

  // Units
  int home_of(FunctionId function) const { return homes_[function.index()]; }
  int process_of(NodeId id) const {
    return process_in(graph_[id].placement).value_or(home_of(graph_[id].function));
  }

  void find_units() {
    for (std::size_t c = 0; c < structure_.conditionals.size(); ++c) {
      for (const Join& join : structure_.conditionals[c].joins) add_to(first_conditional_ + c, join.merge);
    }
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      const Node& node = graph_.nodes()[n];
      const NodeId id(n);
      if (node.kind == NodeKind::Switch) {
        const uint32_t conditional = structure_.conditional_of[n];
        if (conditional < structure_.conditionals.size()) add_to(first_conditional_ + conditional, id);
      } else if (node.kind == NodeKind::Op || (node.kind == NodeKind::Const && !is_under_every_tag(node))) {
        units_[n].computes = node.kind == NodeKind::Op ? !passes_operand_on(node) : node.parameter >= 0;
        put(n, structure_.block_of[n], process_of(id));
        unit_of_[n] = n;
      } else if (node.kind == NodeKind::Call || node.kind == NodeKind::Return) {
        const std::size_t unit = first_site_ + node.site.index();
        const FunctionId callee = graph_[node.site].callee;
        put(unit, structure_.block_of[graph_[node.site].calls[0].index()],
            home_of(has_copies(copies_, callee) ? node.function : callee));
        unit_of_[n] = unit;
      }
    }
    for (std::size_t u = 0; u < units_.size(); ++u) units_[u].joined = u;
  }

  void put(std::size_t unit, BlockId block, int process) {
    units_[unit].block = block;
    units_[unit].process = process;
  }

  /// A branch is where all its nodes are, or else at home.
  void add_to(std::size_t conditional, NodeId id) {
    Unit& unit = units_[conditional];
    const int process = process_of(id);
    const bool is_first = !unit.block.valid();
    unit.block = structure_.conditionals[conditional - first_conditional_].parent;
    unit.process = is_first || unit.process == process ? process : home_of(graph_[id].function);
    unit.computes = true;
    unit_of_[id.index()] = conditional;
  }

  bool is_elsewhere(const Unit& unit) const {
    return unit.block.valid() && unit.process != home_of(structure_[unit.block].function);
  }

  /// The branch whose side the block is, if it is one.
  std::optional<std::size_t> around(BlockId block) const {
    if (!structure_[block].parent.valid()) return std::nullopt;
    return first_conditional_ + structure_[block].index;
  }

  /// Whether the block is inside of a branch that is elsewhere, and goes where that goes.
  bool is_inside_of_moved(BlockId block) const {
    for (std::optional<std::size_t> unit = around(block); unit; unit = around(units_[*unit].block)) {
      if (is_elsewhere(units_[*unit])) return true;
    }
    return false;
  }

  // Levels and components
  template <class Visit>
  void for_each_read(NodeId id, Visit visit) const {
    const Node& node = graph_[id];
    if (node.kind == NodeKind::Return || is_param_[id.index()]) return;  // these read in other functions
    for (OutPort from : node.inputs) visit(from);
    for (OutPort from : node.controls) visit(from);
  }

  void find_edges() {
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      if (!unit_of_[n]) continue;
      for_each_read(NodeId(n), [&](OutPort from) { add_edge(from.node, *unit_of_[n]); });
    }
    for (std::size_t c = 0; c < structure_.conditionals.size(); ++c) {
      const Conditional& conditional = structure_.conditionals[c];
      if (units_[first_conditional_ + c].block.valid())
        add_edge(conditional.predicate.node, first_conditional_ + c);
    }
  }

  /// `reader` needs the value, or what it stands inside of, in the block of the value.
  void add_edge(NodeId from, std::size_t reader) {
    if (!unit_of_[from.index()]) return;
    const std::size_t definer = *unit_of_[from.index()];
    const BlockId block = units_[definer].block;
    if (!block.valid()) return;
    while (units_[reader].block != block) {
      if (!units_[reader].block.valid()) return;
      const std::optional<std::size_t> outer = around(units_[reader].block);
      if (!outer) return;  // a side of the branch itself
      reader = *outer;
    }
    if (reader != definer) units_[reader].needs.push_back(definer);
  }

  void find_levels() {
    std::vector<std::vector<std::size_t>> readers(units_.size());
    std::vector<std::size_t> waits(units_.size(), 0);
    for (std::size_t u = 0; u < units_.size(); ++u) {
      std::ranges::sort(units_[u].needs);
      units_[u].needs.erase(std::unique(units_[u].needs.begin(), units_[u].needs.end()),
                            units_[u].needs.end());
      waits[u] = units_[u].needs.size();
      for (std::size_t needed : units_[u].needs) readers[needed].push_back(u);
    }
    std::vector<std::size_t> ready;
    for (std::size_t u = 0; u < units_.size(); ++u) {
      if (waits[u] == 0) ready.push_back(u);
    }
    for (std::size_t i = 0; i < ready.size(); ++i) {
      const Unit& unit = units_[ready[i]];
      for (std::size_t reader : readers[ready[i]]) {
        Unit& next = units_[reader];
        next.level = std::max(next.level, unit.level + (unit.process == next.process ? 0 : 1));
        if (--waits[reader] == 0) ready.push_back(reader);
      }
    }
    HIATON_CHECK(ready.size() == units_.size());
  }

  std::size_t find(std::size_t unit) {
    while (units_[unit].joined != unit) unit = units_[unit].joined = units_[units_[unit].joined].joined;
    return unit;
  }

  void join_units() {
    std::map<std::tuple<OutPort, BlockId, int, int>, std::size_t> reads;
    for (std::size_t u = 0; u < units_.size(); ++u) {
      if (!is_elsewhere(units_[u])) continue;
      for (std::size_t needed : units_[u].needs) {
        const Unit& other = units_[needed];
        if (other.process == units_[u].process && other.level == units_[u].level)
          units_[find(needed)].joined = find(u);
      }
    }
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      const std::optional<std::size_t> unit = unit_of_[n];
      if (!unit || !is_elsewhere(units_[*unit])) continue;
      for_each_read(NodeId(n), [&](OutPort from) {
        if (is_under_every_tag(graph_[from.node])) return;
        const Unit& reader = units_[*unit];
        const auto [first, is_new] =
            reads.try_emplace({from, reader.block, reader.process, reader.level}, *unit);
        if (!is_new) units_[find(first->second)].joined = find(*unit);
      });
    }
  }

  /// False: there are none.
  bool choose_components() {
    struct Contents {
      std::size_t calls = 0;
      bool computes = false;
    };
    std::map<std::size_t, Contents> contents;
    for (std::size_t u = 0; u < units_.size(); ++u) {
      if (!is_elsewhere(units_[u]) || is_inside_of_moved(units_[u].block)) continue;
      Contents& found = contents[find(u)];
      if (u >= first_site_ && u < first_conditional_) ++found.calls;
      found.computes = found.computes || units_[u].computes;
    }
    std::map<std::size_t, std::size_t> numbers;
    for (const auto& [unit, found] : contents) {
      if (!found.computes && found.calls < 2) continue;  // a call alone is sent as it is
      numbers[unit] = components_.size();
      Component component{};
      component.process = units_[unit].process;
      component.block = units_[unit].block;
      component.caller = structure_[component.block].function;
      components_.push_back(std::move(component));
    }
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) moved_to_[n] = component_of(NodeId(n), numbers);
    return !components_.empty();
  }

  std::optional<std::size_t> component_of(NodeId id, const std::map<std::size_t, std::size_t>& numbers) {
    const auto number_of = [&](std::size_t unit) -> std::optional<std::size_t> {
      const auto found = numbers.find(find(unit));
      if (found == numbers.end() || is_inside_of_moved(units_[unit].block)) return std::nullopt;
      return found->second;
    };
    const std::optional<std::size_t> own = unit_of_[id.index()];
    if (own && units_[*own].block.valid() && number_of(*own)) return number_of(*own);
    BlockId block = own ? units_[*own].block : structure_.block_of[id.index()];
    while (block.valid() && structure_[block].parent.valid()) {
      const std::size_t unit = *around(block);
      if (const std::optional<std::size_t> number = number_of(unit)) return number;
      block = units_[unit].block;
    }
    return std::nullopt;
  }

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
      for_each_read(NodeId(n), [&](OutPort from) {
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
      for_each_read(NodeId(n), [&](OutPort from) { read(from, moved_to_[n]); });
    }
    for (const graph::Function& function : graph_.functions()) {
      for (OutPort result : function.results) read(result, std::nullopt);
    }
    // What nobody reads may still fail.
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      if (!moved_to_[n] || !unit_of_[n] || units_[*unit_of_[n]].block != components_[*moved_to_[n]].block)
        continue;
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
  const std::size_t first_site_;
  const std::size_t first_conditional_;
  std::vector<Unit> units_;  ///< by node, call site, conditional
  std::vector<std::optional<std::size_t>> unit_of_;
  std::vector<Component> components_;
  std::vector<Node> nodes_;                           ///< nodes of the new graph
  std::vector<std::optional<std::size_t>> moved_to_;  ///< by node: its component
  std::map<std::pair<NodeId, FunctionId>, NodeId> constants_;
};

}  // namespace

HomedGraph outline_placed(const Graph& placed, CopiesOfFunctions copies) {
  std::vector<int> homes;
  for (const graph::Function& function : placed.functions())
    homes.push_back(process_in(function.placement).value_or(0));
  HomedGraph homed{placed, std::move(homes), std::move(copies)};
  while (std::optional<HomedGraph> next = PlacedOutliner(homed.graph, homed.homes, homed.copies).run())
    homed = std::move(*next);
  return homed;
}

}  // namespace hiaton::exec
