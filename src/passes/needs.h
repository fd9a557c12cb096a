// Strictness: what is computed for certain where a result is asked for.
#pragma once

#include <set>
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
  /// The values of the function that are asked for where the results of the nodes are, which stand in an
  /// order in which values are defined before their uses.
  std::set<ir::ValueId> of(ir::FunctionId function, std::span<const ir::NodeId> nodes,
                           std::span<const ir::ValueId> results) const;

 private:
  std::set<ir::ValueId> of(const ir::Function& function, std::span<const ir::NodeId> nodes,
                           std::span<const ir::ValueId> results) const;

  const ir::Module& module_;
  std::vector<std::vector<bool>> strict_;  ///< by function
};

}  // namespace hiaton::passes
