// Where the nodes of a body stand: under which branches, and after how many hand-overs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "hiaton/graph.h"

namespace hiaton::exec::flow {

using ContextId = uint32_t;
inline constexpr ContextId kRoot = 0;

/// One side of a branch, inside the context in which its predicate is known.
struct Context {
  ContextId parent = kRoot;
  graph::OutPort predicate{};
  bool side = true;
  uint32_t depth = 0;
};

/// The nodes of one function.
class Places {
 public:
  Places(const graph::Graph& graph, graph::FunctionId function, const std::vector<graph::NodeId>& nodes);

  const std::vector<Context>& contexts() const { return contexts_; }
  /// Nothing for constants under every tag.
  std::optional<ContextId> context_of(graph::OutPort port) const;
  ContextId context_of(graph::NodeId node) const { return node_contexts_.at(node); }
  /// Grows along every edge but those inside a region.
  uint32_t level_of(graph::NodeId node) const { return levels_.at(node); }
  /// Whether the node runs as part of a batch.
  bool is_batched(graph::NodeId node) const { return batched_.at(node); }
  /// The port whose value it is: behind Switch nodes.
  graph::OutPort origin(graph::OutPort port) const;

 private:
  void place(graph::NodeId id);
  void find_batched(graph::NodeId id);
  void set_level(graph::NodeId id);
  ContextId side_of(const graph::Node& node, bool side);
  ContextId deepest(const graph::Node& node) const;
  bool is_inside(ContextId inner, ContextId outer) const;

  const graph::Graph& graph_;
  graph::FunctionId function_;
  std::vector<Context> contexts_{1};
  std::map<std::pair<graph::OutPort, bool>, ContextId> by_side_;
  std::map<graph::NodeId, ContextId> node_contexts_;
  std::map<graph::NodeId, std::pair<ContextId, ContextId>> switch_contexts_;
  std::map<graph::NodeId, uint32_t> levels_;
  std::map<graph::NodeId, bool> batched_;
};

}  // namespace hiaton::exec::flow
