#include "hiaton/passes.h"

namespace hiaton::passes {
namespace {

/// Folding makes branches flat and operations equal; what is left over after merging is dead.
ir::Module simplify_bodies(ir::Module module, const SimplifyOptions& options) {
  if (options.fold) module = fold_constants(module, options.overflow);
  if (options.flatten_logic) module = flatten_logic(module, options.overflow);
  if (options.cse) module = merge_common(module, options.overflow);
  if (options.dce) module = drop_dead(module, options.overflow);
  return module;
}

}  // namespace

ir::Module simplify(const ir::Module& module, const SimplifyOptions& options) {
  // Small bodies first: then more of them fit where they are called, and the second round joins them there.
  ir::Module simplified = simplify_bodies(module, options);
  if (!options.inline_small) return simplified;
  return simplify_bodies(inline_small_functions(simplified), options);
}

}  // namespace hiaton::passes
