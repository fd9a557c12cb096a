// Where the nodes of a body stand: under which branches, and after how many hand-overs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "exec/structure.h"
#include "hiaton/graph.h"

namespace hiaton::exec::flow {

using ScopeId = uint32_t;
inline constexpr ScopeId kRoot = 0;

/// All of a body, or one side of a branch, inside the scope in which its predicate is known.
struct Scope {
  ScopeId parent = kRoot;
  graph::OutPort predicate{};
  bool side = true;
  uint32_t depth = 0;
};

/// The nodes of one function: its blocks are the scopes.
class Scopes {
 public:
  /// `nodes`: those of the function, in the order of the structure.
  Scopes(const graph::Graph& graph, const Structure& structure, graph::FunctionId function,
         const std::vector<graph::NodeId>& nodes);

  const std::vector<Scope>& all() const { return all_; }
  /// Nothing for constants under every tag.
  std::optional<ScopeId> scope_of(graph::OutPort port) const;
  ScopeId scope_of(graph::NodeId node) const;
  /// Grows along every edge but those inside a region.
  uint32_t level_of(graph::NodeId node) const { return levels_.at(node); }
  /// Whether the node runs as part of a batch.
  bool is_batched(graph::NodeId node) const { return batched_.at(node); }
  /// The port whose value it is: behind Switch nodes.
  graph::OutPort origin(graph::OutPort port) const;

 private:
  void add_scopes(graph::FunctionId function);
  void find_batched(graph::NodeId id);
  void set_level(graph::NodeId id);
  ScopeId scope_of(BlockId block) const { return block.valid() ? scope_of_block_.at(block) : kRoot; }

  const graph::Graph& graph_;
  const Structure& structure_;
  std::vector<Scope> all_{1};
  std::map<BlockId, ScopeId> scope_of_block_;
  std::map<graph::NodeId, uint32_t> levels_;
  std::map<graph::NodeId, bool> batched_;
};

}  // namespace hiaton::exec::flow
