#include <queue>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/check.h"
#include "base/components.h"
#include "exec/direct/compile/direct_passes.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

namespace {

/// Scheduling and emission recurse into blocks.
constexpr uint32_t kDeepestNesting = 4000;

class ItemOrder {
 public:
  ItemOrder(const Graph& graph, Structure& structure)
      : graph_(graph),
        result_(structure),
        unit_of_node_(graph.nodes().size(), kNone),
        unit_of_conditional_(structure.conditionals.size(), kNone),
        unit_of_loop_(structure.loops.size(), kNone) {}

  void run() {
    make_units();
    connect_units();
    find_recursion();
    connect_updates();
    find_preparations();
    order_units();
  }

 private:
  struct Unit {
    Item item;
    BlockId block;
    uint32_t waits_for = 0;
    std::vector<uint32_t> needed_by;
    uint32_t last_needed_by = UINT32_MAX;  ///< keeps repeated edges out
    bool is_preparation = false;           ///< see find_preparations()
  };

  bool is_wanted(graph::FunctionId function) const { return result_.functions[function.index()]; }

  uint32_t add_unit(Item::Kind kind, std::size_t index, BlockId block) {
    units_.push_back({{kind, static_cast<uint32_t>(index)}, block, 0, {}, UINT32_MAX, false});
    return static_cast<uint32_t>(units_.size() - 1);
  }

  void make_units() {
    for (std::size_t i = 0; i < graph_.nodes().size(); ++i) {
      const Node& node = graph_.nodes()[i];
      if (node.kind == NodeKind::Op && !passes_operand_on(node) && is_wanted(node.function)) {
        unit_of_node_[i] = add_unit(Item::Kind::Op, i, result_.block_of[i]);
      }
    }
    for (std::size_t s = 0; s < graph_.sites().size(); ++s) {
      if (!is_wanted(graph_.sites()[s].caller)) continue;
      const BlockId block = result_.block_of[graph_.sites()[s].returns[0].index()];
      const uint32_t unit = add_unit(Item::Kind::Call, s, block);
      for (NodeId call : graph_.sites()[s].calls) unit_of_node_[call.index()] = unit;
      for (NodeId result : graph_.sites()[s].returns) unit_of_node_[result.index()] = unit;
      for (BlockId up = block; up.valid() && !result_[up].has_calls; up = result_[up].parent) {
        result_.blocks[up.index()].has_calls = true;
      }
    }
    for (std::size_t c = 0; c < result_.conditionals.size(); ++c) {
      const Conditional& conditional = result_.conditionals[c];
      if (!conditional.parent.valid()) continue;  // it steers a loop
      unit_of_conditional_[c] = add_unit(Item::Kind::Conditional, c, conditional.parent);
      for (const Join& join : conditional.joins) unit_of_node_[join.merge.index()] = unit_of_conditional_[c];
    }
    for (std::size_t l = 0; l < result_.loops.size(); ++l) {
      if (!is_wanted(graph_.loops()[l].function)) continue;
      unit_of_loop_[l] = add_unit(Item::Kind::Loop, l, result_.loops[l].parent);
    }
  }

  /// The unit in which the value of this output is computed, seen from where it is read; kNone for
  /// parameters, constants and loop variables, which are there from the start.
  uint32_t defining_unit(OutPort port) const {
    NodeId id = port.node;
    while (true) {
      const Node& node = graph_[id];
      if (node.kind == NodeKind::Exit) return unit_of_loop_[node.loop.index()];
      if (!passes_operand_on(node)) return unit_of_node_[id.index()];
      id = node.inputs[0].node;
    }
  }

  /// The innermost block around both, which are of one function.
  BlockId block_around(BlockId a, BlockId b) const {
    while (a != b) {
      BlockId& inner = result_[a].depth < result_[b].depth ? b : a;
      inner = result_[inner].parent;
    }
    return a;
  }

  /// The unit of a block around it that holds a unit; itself where it stands there.
  uint32_t lifted(uint32_t unit, BlockId to) const {
    return units_[unit].block == to ? unit : unit_around(units_[unit].block, to);
  }

  /// The unit of `outer` that holds `inner`, or kNone where `inner` comes after all units of `outer` (the
  /// body of a loop after its condition).
  uint32_t unit_around(BlockId inner, BlockId outer) const {
    while (true) {
      const BlockId parent = result_[inner].parent;
      HIATON_CHECK(parent.valid());
      if (parent == outer) break;
      inner = parent;
    }
    const Block& block = result_[inner];
    return block.kind == Block::Kind::Side ? unit_of_conditional_[block.index] : unit_of_loop_[block.index];
  }

  void add_read(OutPort from, BlockId reader_block, uint32_t reader) {
    if (reader != kNone) {
      const auto found = readers_of_updated_.find(result_.origin(from));
      if (found != readers_of_updated_.end()) found->second.push_back(reader);
    }
    const uint32_t definer = defining_unit(from);
    if (definer == kNone) return;
    const BlockId home = units_[definer].block;
    if (reader_block != home) reader = unit_around(reader_block, home);
    if (reader == kNone || reader == definer || units_[definer].last_needed_by == reader) return;
    units_[definer].last_needed_by = reader;
    units_[definer].needed_by.push_back(reader);
    ++units_[reader].waits_for;
  }

  bool updates_in_place(const Unit& unit) const {
    return unit.item.kind == Item::Kind::Op && graph_[NodeId(unit.item.index)].op->may_be_in_place();
  }

  NodeId updated_by(const Unit& unit) const {
    return result_.origin(graph_[NodeId(unit.item.index)].inputs[0]);
  }

  /// Whether the unit itself, or something that needs it, is one that `fits`.
  template <class Fits>
  bool leads_to(uint32_t unit, Fits fits) const {
    std::vector<uint32_t> open{unit};
    std::unordered_set<uint32_t> seen{unit};
    while (!open.empty()) {
      const uint32_t next = open.back();
      open.pop_back();
      if (fits(next)) return true;
      for (uint32_t reader : units_[next].needed_by) {
        if (seen.insert(reader).second) open.push_back(reader);
      }
    }
    return false;
  }

  void connect_units() {
    for (const Unit& unit : units_) {
      if (updates_in_place(unit)) readers_of_updated_[updated_by(unit)];
    }
    for (uint32_t u = 0; u < units_.size(); ++u) {
      const Item item = units_[u].item;
      const BlockId block = units_[u].block;
      switch (item.kind) {
        case Item::Kind::Op:
          for (OutPort input : graph_[NodeId(item.index)].inputs) add_read(input, block, u);
          break;
        case Item::Kind::Call:
          for (NodeId call : graph_[CallSite(item.index)].calls) add_read(graph_[call].inputs[0], block, u);
          break;
        case Item::Kind::Conditional: {
          const Conditional& conditional = result_.conditionals[item.index];
          add_read(conditional.predicate, block, u);
          for (const Join& join : conditional.joins) {
            for (int side = 0; side < 2; ++side) add_read(join.from[side], conditional.sides[side], kNone);
          }
          break;
        }
        case Item::Kind::Loop: {
          const LoopShape& loop = result_.loops[item.index];
          for (NodeId enter : graph_[LoopId(item.index)].enters) add_read(graph_[enter].inputs[0], block, u);
          add_read(loop.predicate, loop.condition, kNone);
          for (const LoopShape::Variable& variable : loop.variables) {
            add_read(graph_[variable.next].inputs[0], loop.body, kNone);
          }
          break;
        }
      }
    }
  }

  /// Finds the blocks that continue the recursion of their function: those that call it, or a function that
  /// leads back to it.
  void find_recursion() {
    std::vector<std::vector<std::size_t>> callees(graph_.functions().size());
    for (const graph::Site& site : graph_.sites()) {
      callees[site.caller.index()].push_back(site.callee.index());
    }
    const std::vector<uint32_t> component = strongly_connected_components(callees).of;
    recurses_.assign(result_.blocks.size(), false);
    for (const Unit& unit : units_) {
      if (unit.item.kind != Item::Kind::Call) continue;
      const graph::Site& site = graph_[CallSite(unit.item.index)];
      if (component[site.caller.index()] != component[site.callee.index()]) continue;
      recursive_calls_.insert(unit.item.index);
      for (BlockId up = unit.block; up.valid() && !recurses_[up.index()]; up = result_[up].parent) {
        recurses_[up.index()] = true;
      }
    }
  }

  bool continues_recursion(const Unit& unit) const {
    const auto recurses = [&](BlockId block) { return block.valid() && recurses_[block.index()]; };
    switch (unit.item.kind) {
      case Item::Kind::Op:
        return false;
      case Item::Kind::Call:
        return recursive_calls_.contains(unit.item.index);
      case Item::Kind::Conditional: {
        const Conditional& conditional = result_.conditionals[unit.item.index];
        return recurses(conditional.sides[0]) || recurses(conditional.sides[1]);
      }
      case Item::Kind::Loop: {
        const LoopShape& loop = result_.loops[unit.item.index];
        return recurses(loop.condition) || recurses(loop.body);
      }
    }
    return false;
  }

  /// Finds the preparations: calls, and branches and loops with calls, that do not continue the recursion of
  /// their function, and that something which does continue it needs. They run before what continues the
  /// recursion and does not need them: all that continues it can then run at the same time.
  void find_preparations() {
    std::vector<std::vector<uint32_t>> needs(units_.size());
    std::vector<uint32_t> open;
    for (uint32_t u = 0; u < units_.size(); ++u) {
      for (uint32_t reader : units_[u].needed_by) needs[reader].push_back(u);
      if (can_fork(units_[u]) && continues_recursion(units_[u])) open.push_back(u);
    }
    std::vector<bool> is_needed(units_.size(), false);
    while (!open.empty()) {
      const uint32_t reader = open.back();
      open.pop_back();
      for (uint32_t u : needs[reader]) {
        if (is_needed[u]) continue;
        is_needed[u] = true;
        units_[u].is_preparation = result_.has_calls(units_[u].item) && !continues_recursion(units_[u]);
        open.push_back(u);
      }
    }
  }

  /// Which of several units that are ready comes first: work that stays in the block, then preparations, then
  /// calls, then branches and loops with calls inside, and last what gives the results of the function: its
  /// calls can then forward their caller's return site.
  uint32_t priority(const Unit& unit) const {
    if (unit.is_preparation) return 2;
    switch (unit.item.kind) {
      case Item::Kind::Op:
        return feeds_only_next_iteration(NodeId(unit.item.index)) ? 1 : 0;
      case Item::Kind::Call:
        return 3;
      case Item::Kind::Conditional: {
        if (function_results(unit).of_it > 0) return 5;
        return result_.has_calls(unit.item) ? 4 : 0;
      }
      case Item::Kind::Loop:
        return result_.has_calls(unit.item) ? 4 : 0;
    }
    return 0;
  }

  struct ResultCount {
    std::size_t of_it = 0;
    std::size_t all = 0;
  };

  /// How many results of its function a conditional gives.
  ResultCount function_results(const Unit& unit) const {
    if (unit.item.kind != Item::Kind::Conditional || result_[unit.block].parent.valid()) return {};
    const std::vector<OutPort>& results = result_.results[result_[unit.block].function.index()];
    ResultCount count{.of_it = 0, .all = results.size()};
    for (OutPort result : results) {
      if (defining_unit(result) == unit_of_conditional_[unit.item.index]) ++count.of_it;
    }
    return count;
  }

  /// Whether it may run at the same time as others that are ready. What gives all results stays by itself.
  bool can_fork(const Unit& unit) const {
    const ResultCount results = function_results(unit);
    return result_.has_calls(unit.item) && (results.of_it == 0 || results.of_it < results.all);
  }

  /// What changes a value in place comes after all else that reads it, where none of that needs what the
  /// change gives: otherwise the value would be copied. Not where one continues the recursion with the value
  /// and another one with the changed one: a copy costs less than that both cannot run at the same time.
  void connect_updates() {
    const auto forks = [&](uint32_t unit) {
      return continues_recursion(units_[unit]) && can_fork(units_[unit]);
    };
    for (uint32_t update = 0; update < units_.size(); ++update) {
      if (!updates_in_place(units_[update])) continue;
      for (uint32_t reader : readers_of_updated_[updated_by(units_[update])]) {
        const BlockId around = block_around(units_[reader].block, units_[update].block);
        const uint32_t first = lifted(reader, around);
        const uint32_t last = lifted(update, around);
        if (first == kNone || last == kNone || first == last) continue;
        if (leads_to(last, [&](uint32_t unit) { return unit == first; })) continue;
        if (forks(first) && leads_to(last, forks)) continue;
        units_[first].needed_by.push_back(last);
        ++units_[last].waits_for;
      }
    }
  }

  bool feeds_only_next_iteration(NodeId id) const {
    const auto& readers = graph_.consumers({id, 0});
    return readers.size() == 1 && graph_[readers[0].node].kind == NodeKind::NextIteration;
  }

  void order_units() {
    struct Ready {
      uint32_t priority;
      uint32_t unit;
      bool operator<(const Ready& other) const {
        return std::tie(priority, unit) > std::tie(other.priority, other.unit);
      }
    };
    std::vector<std::priority_queue<Ready>> ready(result_.blocks.size());
    std::vector<uint32_t> left(result_.blocks.size(), 0);
    for (uint32_t u = 0; u < units_.size(); ++u) {
      ++left[units_[u].block.index()];
      if (units_[u].waits_for == 0) ready[units_[u].block.index()].push({priority(units_[u]), u});
    }
    for (std::size_t b = 0; b < result_.blocks.size(); ++b) {
      uint32_t group = 0;
      const auto take = [&](uint32_t u) {
        Item item = units_[u].item;
        item.group = group;
        result_.blocks[b].items.push_back(item);
        --left[b];
      };
      const auto release_readers = [&](uint32_t u) {
        for (uint32_t reader : units_[u].needed_by) {
          if (--units_[reader].waits_for == 0) ready[b].push({priority(units_[reader]), reader});
        }
      };
      while (!ready[b].empty()) {
        std::vector<uint32_t> taken{ready[b].top().unit};
        const Unit& first = units_[taken[0]];
        const bool forks = can_fork(first);
        ready[b].pop();
        while (forks && !ready[b].empty()) {
          const Unit& next = units_[ready[b].top().unit];
          if (!can_fork(next) || next.is_preparation != first.is_preparation) break;
          taken.push_back(ready[b].top().unit);
          ready[b].pop();
        }
        ++group;
        for (uint32_t u : taken) take(u);
        for (uint32_t u : taken) release_readers(u);
      }
      if (left[b] != 0) throw Unstructured{"two branches of one predicate need each other's results"};
    }
  }

  static constexpr uint32_t kNone = UINT32_MAX;

  const Graph& graph_;
  Structure& result_;
  std::vector<Unit> units_;
  std::vector<uint32_t> unit_of_node_;
  std::vector<uint32_t> unit_of_conditional_;
  std::vector<uint32_t> unit_of_loop_;
  /// By value that a unit changes in place: the units that read it.
  std::unordered_map<NodeId, std::vector<uint32_t>> readers_of_updated_;
  std::vector<bool> recurses_;  ///< by block: it, or one inside, continues the recursion of its function
  std::unordered_set<uint32_t> recursive_calls_;  ///< sites that do
};

}  // namespace

std::optional<Structure> find_structure(const Graph& graph, std::string& reason) {
  return find_structure(graph, std::vector<bool>(graph.functions().size(), true), reason);
}

std::optional<Structure> find_structure(const Graph& graph, std::vector<bool> functions,
                                        std::string& reason) {
  try {
    Structure structure = find_blocks(graph, std::move(functions));
    for (const Block& block : structure.blocks) {
      if (block.depth > kDeepestNesting) throw Unstructured{"its blocks nest too deeply"};
    }
    const graph::FunctionId main = graph.main();
    if (structure.functions[main.index()] && structure.results[main.index()] != outputs_of(graph))
      throw Unstructured{"the results of main are not what its Output nodes read"};
    ItemOrder(graph, structure).run();
    for (BlockId block : structure.after_loops) {
      if (!structure[block].items.empty())
        throw Unstructured{"an operation stands between a loop's predicate and its Exit"};
    }
    return structure;
  } catch (const Unstructured& found) {
    reason = found.reason;
    return std::nullopt;
  }
}

}  // namespace hiaton::exec::direct
