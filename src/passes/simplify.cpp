#include "hiaton/passes.h"
#include "passes/call_graph.h"
#include "passes/simplifications.h"

namespace hiaton::passes {
namespace {

/// Folding makes branches flat and operations equal; what is left over after merging is dead.
void simplify_body(ir::Function& function, const Effects& effects, const SimplifyOptions& options) {
  if (options.fold) fold_constants_in(function, options.overflow);
  if (options.flatten_logic) flatten_logic_in(function, options.overflow);
  if (options.cse && merge_common_in(function, effects) && options.fold) {
    fold_constants_in(function, options.overflow);
    merge_common_in(function, effects);
  }
  if (options.dce) drop_dead_in(function, effects);
}

}  // namespace

/// One function after the other, callees first: then more of them are small where they are called, and less
/// of them may fail.
ir::Module simplify(ir::Module module, const SimplifyOptions& options) {
  if (options.dce) drop_unreachable(module);
  const CallGraph calls = call_graph(module);
  Effects effects(module.functions.size(), options.overflow);
  SmallBodies small_bodies(module);
  for (const ir::FunctionId id : calls.bottom_up) {
    ir::Function& function = module[id];
    const bool is_recursive = calls.recursive[id.index()];
    if (!function.body.valid()) {
      effects.learn(id, function, is_recursive);
      continue;
    }
    simplify_body(function, effects, options);
    if (options.inline_small && inline_small_functions_in(function, small_bodies)) {
      simplify_body(function, effects, options);
    }
    effects.learn(id, function, is_recursive);
    small_bodies.offer(id, function, is_recursive);
  }
  if (options.dce) drop_unreachable(module);
  return module;
}

}  // namespace hiaton::passes
