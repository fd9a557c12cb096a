// Strictness: what is computed for certain where a result is asked for.
#pragma once

#include <span>
#include <vector>

#include "hiaton/ir.h"

namespace hiaton::passes {

/// What a function, a branch or some nodes are sure to ask for when their result is asked for: the greatest
/// fixed point over functions that call each other. A call that never returns asks for everything. Of a
/// module whose functions are all reached, and free of loops and phases; it must outlive this unchanged.
class Needs {
 public:
  explicit Needs(const ir::Module& module);

  /// Whether each call whose result is asked for asks for the argument.
  bool is_strict(ir::FunctionId function, std::size_t param) const {
    return strict_[function.index()][param];
  }
  /// By value of the function: whether it is asked for where the results of the nodes are, which stand in an
  /// order in which values are defined before their uses.
  std::vector<bool> of(ir::FunctionId function, std::span<const ir::NodeId> nodes,
                       std::span<const ir::ValueId> results) const;

 private:
  void collect(const ir::Function& function, std::span<const ir::NodeId> nodes,
               std::vector<bool>& needed) const;

  const ir::Module& module_;
  std::vector<std::vector<bool>> strict_;  ///< by function
};

}  // namespace hiaton::passes
