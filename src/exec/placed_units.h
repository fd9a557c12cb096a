// What a body places elsewhere, cut into parts each of which can be called.
#pragma once

#include <optional>
#include <vector>

#include "exec/graph_names.h"
#include "exec/outline_placed.h"
#include "exec/structure.h"

namespace hiaton::exec {

/// What a node reads in its own body: Return nodes and parameters read in other functions.
template <class Visit>
void for_each_read(const Graph& graph, const std::vector<bool>& is_param, NodeId id, Visit visit) {
  const Node& node = graph[id];
  if (node.kind == NodeKind::Return || is_param[id.index()]) return;
  for (OutPort from : node.inputs) visit(from);
  for (OutPort from : node.controls) visit(from);
}

/// Nodes of one body that become a function of another process.
struct PlacedPart {
  int process;
  graph::FunctionId caller;  ///< the body
  BlockId block;             ///< where in the body the call stands
};

struct PlacedParts {
  std::vector<PlacedPart> parts;
  std::vector<std::optional<std::size_t>> part_of;  ///< by node
  /// By node: the block that it is moved from, by itself or with the branch that it stands in; invalid where
  /// nothing moves such a node.
  std::vector<BlockId> block_of_unit;
};

/// Finds what is to be moved in one round. No parts where all is at home.
PlacedParts find_placed_parts(const HomedGraph& homed, const Structure& structure,
                              const std::vector<bool>& is_param);

}  // namespace hiaton::exec
