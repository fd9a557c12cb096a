// A function whose nodes are spread over several bodies, and what they use.
#pragma once

#include <set>
#include <vector>

#include "hiaton/ir.h"
#include "passes/effects.h"

namespace hiaton::passes {

/// What is known of a function before any of it is made.
struct SourceFunction {
  SourceFunction(const ir::Function& of, ir::FunctionId its_id);

  const ir::Function& function;
  ir::FunctionId id;
  Definitions definitions;
  /// By block: the values that it uses, at any depth, and that are defined outside of it; no constants.
  std::vector<std::set<ir::ValueId>> outside;
  /// By block: nodes from around it that were moved into it, since nothing else uses them.
  std::vector<std::vector<ir::NodeId>> extra;

  const ir::Node& operator[](ir::NodeId node) const { return function[node]; }
  bool is_constant(ir::ValueId value) const { return definitions.constant(value) != nullptr; }
  /// The values that the node uses, also inside.
  std::set<ir::ValueId> uses(ir::NodeId node) const;
  std::vector<ir::NodeId> nodes_of(ir::BlockId block) const;

 private:
  void find_outside(ir::BlockId block);
};

}  // namespace hiaton::passes
