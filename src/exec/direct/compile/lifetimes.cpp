#include "exec/direct/compile/lifetimes.h"

#include <unordered_set>

#include "exec/graph_names.h"

namespace hiaton::exec::direct {

namespace {

class Meter {
 public:
  Meter(const Graph& graph, const Structure& structure) : graph_(graph), structure_(structure) {
    result_.reads.assign(graph.nodes().size(), 0);
    result_.body_reads.assign(graph.nodes().size(), 0);
    result_.kept_through.resize(graph.loops().size());
    result_.body_needs_condition.assign(graph.loops().size(), false);
  }

  Lifetimes run() {
    for (std::size_t b = 0; b < structure_.blocks.size(); ++b) {
      for (const Item& item : structure_.blocks[b].items) read_by(item, BlockId(b));
    }
    for (std::size_t f = 0; f < structure_.results.size(); ++f) {
      for (OutPort result : structure_.results[f]) read(result, structure_.bodies[f]);
    }
    return std::move(result_);
  }

 private:
  void read_by(const Item& item, BlockId block) {
    switch (item.kind) {
      case Item::Kind::Op:
        for (OutPort input : graph_[NodeId(item.index)].inputs) read(input, block);
        break;
      case Item::Kind::Call:
        for (NodeId call : graph_[graph::CallSite(item.index)].calls) read(graph_[call].inputs[0], block);
        break;
      case Item::Kind::Conditional: {
        const Conditional& conditional = structure_.conditionals[item.index];
        read(conditional.predicate, block);
        for (const Join& join : conditional.joins) {
          for (OutPort input : join.from) read(input, block);
        }
        break;
      }
      case Item::Kind::Loop: {
        const LoopShape& loop = structure_.loops[item.index];
        read(loop.predicate, loop.condition);
        for (const LoopShape::Variable& variable : loop.variables) {
          read(graph_[variable.enter].inputs[0], block);
          read(graph_[variable.next].inputs[0], loop.body);
          ++result_.reads[variable.merge.index()];  // kept for the whole loop
        }
        break;
      }
    }
  }

  void read(OutPort port, BlockId reader) {
    const NodeId value = structure_.origin(port);
    if (graph_[value].kind == NodeKind::Const) return;
    ++result_.reads[value.index()];
    const BlockId home = structure_.block_of[value.index()];
    const LoopId home_loop = structure_[home].loop;
    for (LoopId loop = structure_[reader].loop; !is_inside(home_loop, loop); loop = around(loop)) {
      const uint64_t key = (uint64_t{loop.value} << 32) | value.value;
      if (!kept_.insert(key).second) continue;
      result_.kept_through[loop.index()].push_back(value);
      ++result_.reads[value.index()];
    }
    if (home_loop.valid() && is_inside(structure_[reader].loop, home_loop) &&
        structure_.loops[home_loop.index()].condition == home) {
      read_of_condition_value(value, home_loop, reader);
    }
  }

  /// Whether `outer` is `inner` or around it; no loop is around all.
  bool is_inside(LoopId inner, LoopId outer) const {
    while (inner.valid() && inner != outer) inner = around(inner);
    return inner == outer;
  }

  LoopId around(LoopId loop) const { return structure_[structure_.loops[loop.index()].parent].loop; }

  void read_of_condition_value(NodeId value, LoopId loop, BlockId reader) {
    const LoopShape& shape = structure_.loops[loop.index()];
    while (reader.valid() && reader != shape.body && reader != shape.condition)
      reader = structure_[reader].parent;
    if (reader != shape.body) return;
    if (graph_[value].kind == NodeKind::Merge && is_variable(shape, value)) {
      ++result_.body_reads[value.index()];
    } else {
      result_.body_needs_condition[loop.index()] = true;
    }
  }

  static bool is_variable(const LoopShape& shape, NodeId merge) {
    for (const LoopShape::Variable& variable : shape.variables) {
      if (variable.merge == merge) return true;
    }
    return false;
  }

  const Graph& graph_;
  const Structure& structure_;
  Lifetimes result_;
  std::unordered_set<uint64_t> kept_;
};

}  // namespace

Lifetimes measure(const Graph& graph, const Structure& structure) {
  return Meter(graph, structure).run();
}

}  // namespace hiaton::exec::direct
