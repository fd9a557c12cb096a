// What must not be dropped, merged or moved: what may end a run with a fault, or never end.
#pragma once

#include <vector>

#include "hiaton/ir.h"

namespace hiaton::passes {

/// The nodes of a function by the values they define. Refers to the function, which must outlive it
/// unchanged.
class Definitions {
 public:
  explicit Definitions(const ir::Function& function);

  const ir::Function& function() const { return function_; }
  /// nullptr for a parameter of a block.
  const ir::Node* node(ir::ValueId value) const;
  /// nullptr unless a Const defines it.
  const Value* constant(ir::ValueId value) const;

 private:
  const ir::Function& function_;
  std::vector<ir::NodeId> by_value_;
};

/// Whether the operation, with what is known of its operands, may end a run with a fault.
bool may_fail(const Definitions& definitions, const ir::Node& op, OverflowMode overflow);

/// Which functions and nodes may end a run with a fault or never end: operations that can fail, loops,
/// recursion, but for a function that calls itself with parts of a data value that it got, and calls of
/// functions that have any of these. Correct but coarse: a loop counts always.
class Effects {
 public:
  Effects(const ir::Module& module, OverflowMode overflow);
  /// Knows nothing yet: every function may fail. For those who go through a module callees first.
  Effects(std::size_t functions, OverflowMode overflow) : overflow_(overflow), functions_(functions, true) {}

  /// Finds out about a function whose callees it knows.
  void learn(ir::FunctionId id, const ir::Function& function, bool is_recursive);

  bool may_fail_or_diverge(ir::FunctionId function) const { return functions_[function.index()]; }
  /// The node itself; the nodes in the blocks of an If count for themselves.
  bool may_fail_or_diverge(const Definitions& definitions, const ir::Node& node) const;

 private:
  OverflowMode overflow_;
  std::vector<bool> functions_;
};

}  // namespace hiaton::passes
