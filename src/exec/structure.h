// Finds the nested conditionals and loops in a static tagged graph, so that it can be compiled. Direct code
// and flow both start from it.
//
// Every node stands in a Block: the nodes that always fire under the same tag and the same branch. A Switch
// opens a block for each side of its predicate, the Merge of two sides closes them; the Enter nodes of a loop
// open the block of its condition, the true side of its Switch nodes is the block of its body. Graphs whose
// Switch and Merge nodes do not nest have no such structure.
#pragma once

#include <string>
#include <vector>

#include "hiaton/graph.h"

namespace hiaton::exec {

using BlockId = StrongId<struct StructureBlockKind>;

/// What direct code runs as one: see direct/compile/direct_passes.h.
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
  enum class Kind : uint8_t { Function, Side, LoopCondition };

  BlockId parent;  ///< invalid for the body of a function
  graph::FunctionId function;
  graph::LoopId loop;          ///< the innermost loop around it; invalid outside of loops
  Kind kind = Kind::Function;  ///< the body of a loop is a Side of the loop's predicate
  uint32_t index = 0;          ///< the number of the conditional or loop whose block it is
  uint32_t depth = 0;          ///< how many blocks are around it
  bool has_calls = false;      ///< here or in a block inside; known when the items are
  std::vector<Item> items;     ///< in the order of execution; empty where direct code has not ordered them
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
  std::vector<bool> functions;  ///< true for those that it is the structure of
  std::vector<Block> blocks;
  std::vector<BlockId> bodies;                       ///< by function
  std::vector<std::vector<graph::OutPort>> results;  ///< by function; of main, what its Output nodes read
  std::vector<graph::NodeId> order;  ///< all nodes, each after those that it reads or waits for under its tag
  std::vector<Conditional> conditionals;
  std::vector<uint32_t> conditional_of;  ///< by node: of a Switch that is read, its index in `conditionals`
  std::vector<LoopShape> loops;          ///< by LoopId
  std::vector<graph::OutPort> origins;   ///< see origin()
  std::vector<BlockId> block_of;         ///< by node; invalid for a Const under every tag
  std::vector<BlockId> after_loops;      ///< the false sides of loop predicates: only Exit nodes read there

  const Block& operator[](BlockId id) const { return blocks[id.index()]; }
  /// The node whose value stands on this output: looks through Switch, Enter, Exit and identity, which pass
  /// their operand on unchanged.
  graph::NodeId origin(graph::OutPort port) const { return origins[port.node.index()].node; }
  /// The block whose tokens this output carries; invalid for a Const under every tag, and for the side of a
  /// Switch that nothing reads.
  BlockId block_of_output(const graph::Graph& graph, graph::OutPort port) const;
  /// Whether it calls a function, or a block inside it does.
  bool has_calls(const Item& item) const;
};

/// Why a graph has no structure.
struct Unstructured {
  std::string reason;
};

/// Whether a node gives its first operand on unchanged, so that its value needs no place of its own.
bool passes_operand_on(const graph::Node& node);

/// What the Output nodes read.
std::vector<graph::OutPort> outputs_of(const graph::Graph& graph);

/// The structure of these functions, without items. Throws Unstructured.
Structure find_blocks(const graph::Graph& graph, std::vector<bool> functions);

/// Says by CallSite, of the functions of the structure, whether the results of the call are, all of them and
/// in their order, the results of its function: nothing stands between them but ends of branches that give
/// nothing else, and nothing else reads them or waits for them. A machine may have reasons of its own to keep
/// the frame all the same.
std::vector<bool> find_tail_calls(const graph::Graph& graph, const Structure& structure);

}  // namespace hiaton::exec
