#include "engine/pipeline.h"

#include <algorithm>

namespace hiaton {
namespace {

/// Programs of scalars alone run in frames from their begin to their end, with loops as they are. All others
/// run as items and batches, which know calls only.
bool has_only_scalars(const ir::Module& module) {
  if (!module.parameters.empty() || !module.gradient_requests.empty()) return false;
  return std::all_of(module.functions.begin(), module.functions.end(), [](const ir::Function& function) {
    return std::all_of(function.values.begin(), function.values.end(),
                       [](const ir::ValueInfo& value) { return value.type.is_scalar(); });
  });
}

}  // namespace

graph::Graph compile(ir::Module module, std::string_view entry, Purpose purpose,
                     const CompileOptions& options) {
  module.entry = module.function_named(entry);
  module = passes::simplify(std::move(module), options.simplify);
  if (purpose == Purpose::Run && has_only_scalars(module)) return passes::lower(module);
  module = passes::add_gradients(passes::loops_to_calls(std::move(module)));
  if (purpose == Purpose::Train) module = passes::add_training_step(std::move(module));
  return passes::lower(module);
}

}  // namespace hiaton
