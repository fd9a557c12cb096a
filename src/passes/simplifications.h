// The simplifications of one function, in place; hiaton/passes.h says what they do.
#pragma once

#include <cstddef>
#include <vector>

#include "hiaton/ir.h"
#include "passes/effects.h"

namespace hiaton::passes {

void fold_constants_in(ir::Function& function, OverflowMode overflow);
void flatten_logic_in(ir::Function& function, OverflowMode overflow);
/// Whether a branch has the condition of one around it, or the opposite: then there is more to fold.
bool merge_common_in(ir::Function& function, const Effects& effects);
void drop_dead_in(ir::Function& function, const Effects& effects);

/// The bodies that may be put in place of calls, and how many nodes in all that may still add.
class SmallBodies {
 public:
  explicit SmallBodies(const ir::Module& module);

  /// Takes note of a function in its final form if its calls may become its body. It must stay where it is.
  void offer(ir::FunctionId id, const ir::Function& function, bool is_recursive);
  /// The body to put in place of a call; nullptr where the call stays.
  const ir::Function* body_for(const ir::Node& call) const;
  void spend(std::size_t nodes) { nodes_left_ -= nodes; }

 private:
  bool fits(ir::FunctionId id, const ir::Function& function) const;

  std::vector<const ir::Function*> bodies_;  ///< by function
  std::vector<std::size_t> calls_;           ///< by function: of it, in the whole module
  std::size_t nodes_left_;
};

/// Whether there was a call to replace.
bool inline_small_functions_in(ir::Function& function, SmallBodies& bodies);

/// Removes the functions that main does not reach; a module without main keeps all.
void drop_unreachable(ir::Module& module);

}  // namespace hiaton::passes
