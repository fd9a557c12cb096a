// Copies the nodes of one function into another one that is being built.
#pragma once

#include <vector>

#include "hiaton/builder.h"
#include "hiaton/ir.h"

namespace hiaton::passes {

/// Subclasses decide in visit() what becomes of a node.
class BodyCopier {
 public:
  BodyCopier(const ir::Function& from, FunctionBuilder& to)
      : from_(from), to_(to), map_(from.values.size()), nodes_(from.nodes.size()) {}
  virtual ~BodyCopier() = default;

  void map(ir::ValueId value, Var copy) { map_[value.index()] = copy; }
  void map(std::span<const ir::ValueId> values, const Vars& copies);
  Var mapped(ir::ValueId value) const { return map_[value.index()]; }
  std::vector<Var> mapped(std::span<const ir::ValueId> values) const;
  void copy_nodes(ir::BlockId block);

 protected:
  virtual void visit(ir::NodeId id) { copy(id); }
  /// What a Call of the copy calls.
  virtual FunctionRef callee_of(ir::NodeId id) { return {from_[id].callee}; }
  /// What a Call of the copy passes on.
  virtual std::vector<Var> arguments_of(ir::NodeId id) { return mapped(from_[id].operands); }
  /// The same node; its blocks are copied by visit().
  void copy(ir::NodeId id);
  /// A block of the copy, ended with the copies of its results.
  ir::BlockId copy_block(ir::BlockId block);

  /// What is made next comes from the node: its place in the text, and where it runs.
  void begin(const ir::Node& node) {
    to_.set_span(node.span);
    to_.set_placement(node.placement);
  }

  /// The copy of a Call or If.
  ir::NodeId mapped(ir::NodeId node) const { return nodes_[node.index()]; }

  const ir::Function& from_;
  FunctionBuilder& to_;

 private:
  std::vector<Var> map_;
  std::vector<ir::NodeId> nodes_;  ///< copies of Calls and Ifs, by the node that was copied
};

}  // namespace hiaton::passes
