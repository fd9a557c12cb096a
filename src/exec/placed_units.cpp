// Units are what can be moved: an operation, the arguments and results of one phase of a call, a branch with
// all that is inside. Each has a process. A unit that needs a value of another process has a higher level
// than the one that it comes from. So of units of one block, process and level no value goes out and comes
// back in, and those among them that hand values to each other, or read the same one, become one function.
// What is inside of a branch that was moved has its turn in the next round, as part of the new function.
//
// A body with phases, as gradients have them, goes forth and back through its branches and calls: what one
// reads in the second phase may depend on what it gave in the first. There a branch stays at home, each end
// of it is a unit by itself, and so is what a later phase brings, which needs all results of the phases
// before. A call of a function with phases is sent from its body, phase by phase.
#include "exec/placed_units.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "exec/placed_graph.h"

namespace hiaton::exec {
namespace {

std::size_t phases_of(const graph::Function& function) {
  return std::max<std::size_t>(1, function.phases.size());
}

class PlacedUnits {
 public:
  PlacedUnits(const HomedGraph& homed, const Structure& structure, const std::vector<bool>& is_param)
      : graph_(homed.graph),
        homes_(homed.homes),
        copies_(homed.copies),
        structure_(structure),
        is_param_(is_param),
        has_phases_(graph_.functions().size()),
        unit_of_(graph_.nodes().size()) {
    std::size_t count = graph_.nodes().size();
    for (std::size_t f = 0; f < has_phases_.size(); ++f)
      has_phases_[f] = phases_of(graph_.functions()[f]) > 1;
    for (const graph::Site& site : graph_.sites()) {
      const std::size_t phases = phases_of(graph_[site.callee]);
      first_of_site_.push_back(count);
      count += phases;
      if (phases > 1) has_phases_[site.caller.index()] = true;
    }
    first_conditional_ = count;
    units_.resize(count + structure_.conditionals.size());
  }

  PlacedParts find() {
    find_units();
    find_edges();
    find_levels();
    join_units();
    choose_components();
    for (const std::optional<std::size_t>& unit : unit_of_)
      found_.block_of_unit.push_back(unit ? units_[*unit].block : BlockId());
    return std::move(found_);
  }

 private:
  struct Unit {
    BlockId block;  ///< invalid: there is no such unit
    int process = 0;
    int level = 0;
    std::vector<std::size_t> needs{};  ///< what it needs of the same block
    std::size_t joined = 0;            ///< towards who stands for its component
    bool computes = false;             ///< it is not only a constant or a copy
  };

  // Units
  int home_of(FunctionId function) const { return homes_[function.index()]; }
  int process_of(NodeId id) const {
    return process_in(graph_[id].placement).value_or(home_of(graph_[id].function));
  }
  bool is_site(std::size_t unit) const { return unit >= graph_.nodes().size() && unit < first_conditional_; }

  void find_units() {
    for (std::size_t c = 0; c < structure_.conditionals.size(); ++c) {
      for (const Join& join : structure_.conditionals[c].joins) add_branch_end(c, join.merge);
    }
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      const Node& node = graph_.nodes()[n];
      const NodeId id(n);
      if (node.kind == NodeKind::Switch) {
        const uint32_t conditional = structure_.conditional_of[n];
        if (conditional < structure_.conditionals.size()) add_branch_end(conditional, id);
      } else if (node.kind == NodeKind::Op || (node.kind == NodeKind::Const && !is_under_every_tag(node))) {
        units_[n].computes = node.kind == NodeKind::Op ? !passes_operand_on(node) : node.parameter >= 0;
        put(id, n, process_of(id));
      }
    }
    for (std::size_t s = 0; s < graph_.sites().size(); ++s) add_site(graph::CallSite(s));
    for (std::size_t f = 0; f < graph_.functions().size(); ++f) {
      if (has_phases_[f]) add_later_phases(FunctionId(f));
    }
    for (std::size_t u = 0; u < units_.size(); ++u) units_[u].joined = u;
  }

  void put(NodeId id, std::size_t unit, int process) {
    units_[unit].block = structure_.block_of[id.index()];
    units_[unit].process = process;
    unit_of_[id.index()] = unit;
  }

  /// A branch is where all its nodes are, or else at home.
  void add_branch_end(std::size_t conditional, NodeId id) {
    const FunctionId function = graph_[id].function;
    if (has_phases_[function.index()]) return put(id, id.index(), home_of(function));
    Unit& unit = units_[first_conditional_ + conditional];
    const int process = process_of(id);
    const bool is_first = !unit.block.valid();
    unit.block = structure_.conditionals[conditional].parent;
    unit.process = is_first || unit.process == process ? process : home_of(function);
    unit.computes = true;
    unit_of_[id.index()] = first_conditional_ + conditional;
  }

  void add_site(graph::CallSite id) {
    const graph::Site& site = graph_[id];
    const graph::Function& callee = graph_[site.callee];
    const bool stays = has_copies(copies_, site.callee) || callee.phases.size() > 1;
    const int process = home_of(stays ? site.caller : site.callee);
    std::size_t call = 0;
    std::size_t result = 0;
    for (std::size_t phase = 0; phase < phases_of(callee); ++phase) {
      const std::size_t unit = first_of_site_[id.index()] + phase;
      const bool is_all = callee.phases.empty();
      const std::size_t calls = is_all ? site.calls.size() : call + callee.phases[phase].params;
      const std::size_t results = is_all ? site.returns.size() : result + callee.phases[phase].results;
      for (; result < std::min(results, site.returns.size()); ++result)
        put(site.returns[result], unit, process);
      const std::size_t first = call;
      for (; call < std::min(calls, site.calls.size()); ++call) put(site.calls[call], unit, process);
      if (call > first) units_[unit].block = structure_.block_of[site.calls[first].index()];
      if (phase > 0) units_[unit].needs.push_back(unit - 1);
    }
  }

  /// What comes with a phase comes after the results of those before.
  void add_later_phases(FunctionId id) {
    const graph::Function& function = graph_[id];
    std::size_t param = 0;
    std::size_t results = 0;
    for (const Phase& phase : function.phases) {
      for (const std::size_t end = param + phase.params; param < end; ++param) {
        const NodeId node = function.params[param].node;
        if (results == 0) continue;
        put(node, node.index(), home_of(id));
        later_params_.emplace_back(node, results);
      }
      results += phase.results;
    }
  }

  bool is_elsewhere(const Unit& unit) const {
    return unit.block.valid() && unit.process != home_of(structure_[unit.block].function);
  }

  /// The branch whose side the block is, if it is one.
  std::optional<std::size_t> around(BlockId block) const {
    if (!block.valid() || !structure_[block].parent.valid()) return std::nullopt;
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
  void find_edges() {
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      if (!unit_of_[n]) continue;
      for_each_read(graph_, is_param_, NodeId(n), [&](OutPort from) { add_edge(from.node, *unit_of_[n]); });
    }
    for (std::size_t c = 0; c < structure_.conditionals.size(); ++c) {
      const Conditional& conditional = structure_.conditionals[c];
      if (units_[first_conditional_ + c].block.valid())
        add_edge(conditional.predicate.node, first_conditional_ + c);
    }
    for (const auto& [param, results] : later_params_) {
      const graph::Function& function = graph_[graph_[param].function];
      for (std::size_t i = 0; i < results; ++i) add_edge(function.results[i].node, param.index());
    }
  }

  /// `reader` needs the value, or what it stands inside of, in the block of the value.
  void add_edge(NodeId from, std::size_t reader) {
    if (!unit_of_[from.index()]) return;
    const std::size_t definer = *unit_of_[from.index()];
    const BlockId block = units_[definer].block;
    if (!block.valid()) return;
    while (units_[reader].block != block && !has_phases_[graph_[from].function.index()]) {
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
        const bool is_near = other.block == units_[u].block && other.level == units_[u].level;
        if (is_near && other.process == units_[u].process) units_[find(needed)].joined = find(u);
      }
    }
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      const std::optional<std::size_t> unit = unit_of_[n];
      if (!unit || !is_elsewhere(units_[*unit])) continue;
      for_each_read(graph_, is_param_, NodeId(n), [&](OutPort from) {
        if (is_under_every_tag(graph_[from.node])) return;
        const Unit& reader = units_[*unit];
        const auto [first, is_new] =
            reads.try_emplace({from, reader.block, reader.process, reader.level}, *unit);
        if (!is_new) units_[find(first->second)].joined = find(*unit);
      });
    }
  }

  void choose_components() {
    struct Contents {
      std::size_t calls = 0;
      bool computes = false;
    };
    std::map<std::size_t, Contents> contents;
    for (std::size_t u = 0; u < units_.size(); ++u) {
      if (!is_elsewhere(units_[u]) || is_inside_of_moved(units_[u].block)) continue;
      Contents& found = contents[find(u)];
      if (is_site(u)) ++found.calls;
      found.computes = found.computes || units_[u].computes;
    }
    std::map<std::size_t, std::size_t> numbers;
    for (const auto& [unit, found] : contents) {
      if (!found.computes && found.calls < 2) continue;  // a call alone is sent as it is
      numbers[unit] = found_.parts.size();
      const Unit& one = units_[unit];
      found_.parts.push_back({one.process, structure_[one.block].function, one.block});
    }
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n)
      found_.part_of.push_back(part_of(NodeId(n), numbers));
  }

  std::optional<std::size_t> part_of(NodeId id, const std::map<std::size_t, std::size_t>& numbers) {
    const auto number_of = [&](std::size_t unit) -> std::optional<std::size_t> {
      const auto found = numbers.find(find(unit));
      if (found == numbers.end() || is_inside_of_moved(units_[unit].block)) return std::nullopt;
      return found->second;
    };
    const std::optional<std::size_t> own = unit_of_[id.index()];
    if (own && units_[*own].block.valid() && number_of(*own)) return number_of(*own);
    BlockId block = own ? units_[*own].block : structure_.block_of[id.index()];
    while (const std::optional<std::size_t> unit = around(block)) {
      if (const std::optional<std::size_t> number = number_of(*unit)) return number;
      block = units_[*unit].block;
    }
    return std::nullopt;
  }

  const Graph& graph_;
  const std::vector<int>& homes_;
  const CopiesOfFunctions& copies_;
  const Structure& structure_;
  const std::vector<bool>& is_param_;
  std::vector<bool> has_phases_;  ///< by function: it, or what it calls
  std::vector<std::size_t> first_of_site_;
  std::size_t first_conditional_ = 0;
  std::vector<Unit> units_;  ///< by node, phase of a call site, conditional
  std::vector<std::optional<std::size_t>> unit_of_;
  /// What comes with a later phase, and how many results come before.
  std::vector<std::pair<NodeId, std::size_t>> later_params_;
  PlacedParts found_;
};

}  // namespace

PlacedParts find_placed_parts(const HomedGraph& homed, const Structure& structure,
                              const std::vector<bool>& is_param) {
  return PlacedUnits(homed, structure, is_param).find();
}

}  // namespace hiaton::exec
