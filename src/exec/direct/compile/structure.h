// Finds the nested conditionals and loops in a static tagged graph, so that it can be compiled to straight
// code.
//
// Every node stands in a Block: the nodes that always fire under the same tag and the same branch. A Switch
// opens a block for each side of its predicate, the Merge of two sides closes them; the Enter nodes of a loop
// open the block of its condition, the true side of its Switch nodes is the block of its body. Within a
// block, items are in an order in which every value is computed before it is read, and calls, or branches and
// loops with calls, that do not need each other stand together. Graphs whose Switch and Merge nodes do not
// nest have no such structure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hiaton/graph.h"

namespace hiaton::exec::direct {

using BlockId = StrongId<struct StructureBlockKind>;

struct Item {
  enum class Kind : uint8_t { Op, Call, Conditional, Loop };

  Kind kind;
  uint32_t index;  ///< a NodeId, CallSite, index into Structure::conditionals or LoopId, by kind
  /// Neighbours of the same group, calls and what has calls inside, do not need each other.
  uint32_t group = 0;

  /// Tells it apart from all other items.
  uint64_t key() const { return static_cast<uint64_t>(kind) << 32 | index; }
};

struct Block {
  BlockId parent;  ///< invalid for the body of a function
  graph::FunctionId function;
  graph::LoopId loop;       ///< the innermost loop around it; invalid outside of loops
  bool has_calls = false;   ///< here or in a block inside
  std::vector<Item> items;  ///< in the order of execution
};

/// What an if gives: one of two values.
struct Join {
  graph::NodeId merge;
  graph::OutPort from[2];  ///< when true, when false
};

/// An if: it stands as an item in `parent`; its sides are blocks (invalid where nothing depends on that
/// side).
struct Conditional {
  BlockId parent;
  graph::OutPort predicate;
  BlockId sides[2];  ///< when true, when false
  std::vector<Join> joins;
};

struct LoopShape {
  struct Variable {
    graph::NodeId enter;
    graph::NodeId merge;
    graph::NodeId next;
  };
  BlockId parent;
  BlockId condition;
  BlockId body;
  graph::OutPort predicate;
  std::vector<Variable> variables;
};

struct Structure {
  std::vector<bool> functions;  ///< of which it is, and of no others
  std::vector<Block> blocks;
  std::vector<BlockId> bodies;                       ///< by function
  std::vector<std::vector<graph::OutPort>> results;  ///< by function
  std::vector<Conditional> conditionals;
  std::vector<LoopShape> loops;         ///< by LoopId
  std::vector<graph::OutPort> origins;  ///< see origin()
  std::vector<BlockId> block_of;        ///< by node; invalid for a Const under every tag

  const Block& operator[](BlockId id) const { return blocks[id.index()]; }
  /// The node whose value stands on this output: looks through Switch, Enter, Exit and identity, which pass
  /// their operand on unchanged.
  graph::NodeId origin(graph::OutPort port) const { return origins[port.node.index()].node; }
  /// Whether it calls a function, or a block inside it does.
  bool has_calls(const Item& item) const;
};

/// The structure of these functions, which call no others, or nothing and in `reason` why there is none.
std::optional<Structure> find_structure(const graph::Graph& graph, std::vector<bool> functions,
                                        std::string& reason);
/// The same of all functions.
std::optional<Structure> find_structure(const graph::Graph& graph, std::string& reason);

}  // namespace hiaton::exec::direct
