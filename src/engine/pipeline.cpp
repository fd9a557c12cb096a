#include "engine/pipeline.h"

namespace hiaton {

graph::Graph compile(ir::Module module, std::string_view entry, Purpose purpose,
                     const CompileOptions& options) {
  module.entry = module.function_named(entry);
  return compile_simplified(passes::simplify(std::move(module), options.simplify), purpose);
}

graph::Graph compile_simplified(ir::Module module, Purpose purpose) {
  const auto trained = purpose == Purpose::Train ? std::optional(module.entry) : std::nullopt;
  module = passes::loops_to_calls_for_gradients(std::move(module), trained);
  module = passes::add_gradients(passes::split_loops(std::move(module)));
  if (purpose == Purpose::Train) module = passes::add_training_step(std::move(module));
  return passes::lower(module);
}

}  // namespace hiaton
