#include <algorithm>
#include <optional>

#include "exec/graph_names.h"
#include "exec/structure.h"

namespace hiaton::exec {
namespace {

class TailCallFinder {
 public:
  TailCallFinder(const Graph& graph, const Structure& structure) : graph_(graph), structure_(structure) {}

  bool is_tail_call(const graph::Site& site) const {
    std::vector<NodeId> values = site.returns;
    BlockId block = structure_.block_of[values[0].index()];
    for (; structure_[block].parent.valid(); block = structure_[block].parent) {
      if (structure_[block].kind != Block::Kind::Side) return false;
      const Conditional& conditional = structure_.conditionals[structure_[block].index];
      if (!conditional.parent.valid()) return false;  // it steers a loop
      const int side = conditional.sides[0] == block ? 0 : 1;
      std::optional<std::vector<NodeId>> joined = joined_on(conditional, side, values);
      if (!joined) return false;
      values = *std::move(joined);
    }
    const std::vector<OutPort>& results = structure_.results[site.caller.index()];
    return std::ranges::equal(values, results, {}, {},
                              [&](OutPort result) { return structure_.origin(result); }) &&
           std::ranges::all_of(values, [&](NodeId value) { return is_only_returned(value); });
  }

 private:
  /// The ends of the branch that give these values, in their order; none where the branch gives something
  /// else that is read, or where one of the values is read by something else.
  std::optional<std::vector<NodeId>> joined_on(const Conditional& conditional, int side,
                                               const std::vector<NodeId>& values) const {
    std::vector<NodeId> joined;
    for (const NodeId value : values) {
      const auto join = std::ranges::find_if(
          conditional.joins, [&](const Join& each) { return structure_.origin(each.from[side]) == value; });
      const auto is_join = [&](NodeId reader) { return reader == join->merge; };
      if (join == conditional.joins.end() || !are_readers(value, is_join)) return std::nullopt;
      joined.push_back(join->merge);
    }
    const bool gives_more = std::ranges::any_of(conditional.joins, [&](const Join& join) {
      return std::ranges::find(joined, join.merge) == joined.end() &&
             !are_readers(join.merge, [](NodeId) { return false; });
    });
    return gives_more ? std::nullopt : std::optional(joined);
  }

  /// Whether nothing reads the value but the calls of the function, or the outputs of the program.
  bool is_only_returned(NodeId value) const {
    return are_readers(value, [&](NodeId reader) {
      return graph_[reader].kind == NodeKind::Return || graph_[reader].kind == NodeKind::Output;
    });
  }

  /// Whether all that read the value are such nodes, also through operations that pass it on, and nothing
  /// waits for it.
  template <class IsSuch>
  bool are_readers(NodeId value, IsSuch is_such) const {
    return graph_.control_consumers({value, 0}).empty() &&
           std::ranges::all_of(graph_.consumers({value, 0}), [&](const InPort& reader) {
             const Node& node = graph_[reader.node];
             if (node.kind == NodeKind::Op && passes_operand_on(node))
               return are_readers(reader.node, is_such);
             return is_such(reader.node);
           });
  }

  const Graph& graph_;
  const Structure& structure_;
};

}  // namespace

std::vector<bool> find_tail_calls(const Graph& graph, const Structure& structure) {
  const TailCallFinder finder(graph, structure);
  std::vector<bool> tail_calls(graph.sites().size(), false);
  for (std::size_t s = 0; s < tail_calls.size(); ++s) {
    const graph::Site& site = graph.sites()[s];
    tail_calls[s] = structure.functions[site.caller.index()] && finder.is_tail_call(site);
  }
  return tail_calls;
}

}  // namespace hiaton::exec
