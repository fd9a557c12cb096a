// Rebuilding functions: what the simplifications share.
#pragma once

#include <span>
#include <vector>

#include "hiaton/ir.h"

namespace hiaton::passes {

/// Rebuilds a function node by node, in order, through a map from the values of the old function to those of
/// the new one. As it stands it makes a copy; a pass overrides `visit` and says what becomes of each node. It
/// recurses as deep as blocks are nested.
class Rewriter {
 public:
  virtual ~Rewriter() = default;

  ir::Function rewrite(const ir::Function& function);

 protected:
  /// Makes what stands for `node` in the new function, and maps each of its results that is used later.
  virtual void visit(const ir::Node& node) { emit_copy(node); }
  /// Between these the nodes of one block of the new function are made.
  virtual void block_begins() {}
  virtual void block_ends() {}

  /// The function that is read: the rewritten one, or within splice() the callee.
  const ir::Function& old() const { return *old_; }
  /// The new value that stands for an old one.
  ir::ValueId mapped(ir::ValueId old_value) const;
  std::vector<ir::ValueId> mapped(std::span<const ir::ValueId> old_values) const;
  void map(ir::ValueId old_value, ir::ValueId new_value);

  const ir::Function& made() const { return new_; }
  ir::BlockId open_block() const { return open_blocks_.back(); }
  /// The node that defines a new value; nullptr for a parameter of a block.
  const ir::Node* definition(ir::ValueId new_value) const;
  /// The new value's constant, nullptr where it is not one.
  const Value* constant(ir::ValueId new_value) const;

  /// The node with new operands and rebuilt blocks, but without results.
  ir::Node copy(const ir::Node& node);
  /// The same, but for its blocks.
  ir::Node copy_without_blocks(const ir::Node& node) const;
  /// Adds a node to the open block, with new results that stand for the old ones.
  void emit(ir::Node node, std::span<const ir::ValueId> old_results);
  void emit_copy(const ir::Node& node) { emit(copy(node), node.results); }
  /// Adds a node to the open block, with one new result.
  ir::ValueId emit(ir::Node node, Type type);
  ir::ValueId emit_constant(const Value& value, const ir::Node& instead_of, std::size_t result = 0);

  /// Makes the nodes of an old block in the open block.
  void visit_nodes(ir::BlockId old_block);
  ir::BlockId rebuild(ir::BlockId old_block);
  /// Rebuilds a block with only these parameters and results.
  ir::BlockId rebuild(ir::BlockId old_block, std::span<const std::size_t> params,
                      std::span<const std::size_t> results);
  /// Makes the body of another function in the open block. The arguments and the results are new values.
  std::vector<ir::ValueId> splice(const ir::Function& callee, std::span<const ir::ValueId> arguments);

 private:
  ir::ValueId new_value(const ir::ValueInfo& info, ir::NodeId definition);

  const ir::Function* old_ = nullptr;
  std::vector<ir::ValueId> map_;  ///< by old value
  ir::Function new_;
  std::vector<ir::NodeId> definitions_;  ///< by new value
  std::vector<ir::BlockId> open_blocks_;
};

}  // namespace hiaton::passes
