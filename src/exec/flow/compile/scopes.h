// Where the nodes of a body stand: under which branches, and after how many hand-overs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
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

/// What is known of each node while bodies are compiled, by its number. A node stands in one body, so one
/// table serves them all.
template <class T>
class NodeTable {
 public:
  explicit NodeTable(const graph::Graph& graph) : values_(graph.nodes().size()) {}

  void set(graph::NodeId node, T value) { values_[node.index()] = std::move(value); }
  bool contains(graph::NodeId node) const { return values_[node.index()].has_value(); }
  /// Null where nothing is known.
  const T* find(graph::NodeId node) const {
    const std::optional<T>& value = values_[node.index()];
    return value ? &*value : nullptr;
  }
  const T& at(graph::NodeId node) const { return values_[node.index()].value(); }

 private:
  std::vector<std::optional<T>> values_;
};

struct ScopeTables {
  explicit ScopeTables(const graph::Graph& graph) : levels(graph), batched(graph.nodes().size()) {}

  NodeTable<uint32_t> levels;
  std::vector<bool> batched;
};

/// The nodes of one function: its blocks are the scopes.
class Scopes {
 public:
  /// `nodes`: those of the function, in the order of the structure. Fills their rows of the tables, which
  /// outlive it.
  Scopes(const graph::Graph& graph, const Structure& structure, graph::FunctionId function,
         const std::vector<graph::NodeId>& nodes, ScopeTables& tables);

  const std::vector<Scope>& all() const { return all_; }
  /// Nothing for constants under every tag.
  std::optional<ScopeId> scope_of(graph::OutPort port) const;
  ScopeId scope_of(graph::NodeId node) const;
  /// Grows along every edge but those inside a region.
  uint32_t level_of(graph::NodeId node) const { return tables_.levels.at(node); }
  /// Whether the node runs as part of a batch.
  bool is_batched(graph::NodeId node) const { return tables_.batched[node.index()]; }
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
  ScopeTables& tables_;
};

}  // namespace hiaton::exec::flow
