#include "engine/pipeline.h"

namespace hiaton {

graph::Graph compile(ir::Module module, std::string_view entry, Purpose purpose,
                     const CompileOptions& options) {
  module.entry = module.function_named(entry);
  return compile_simplified(passes::simplify(std::move(module), options.simplify), purpose,
                            options.simplify.overflow);
}

namespace {

/// `trained`: the function by whose extension gradients are gathered; its loops are calls then.
ir::Module with_gradients(ir::Module module, std::optional<ir::FunctionId> trained, OverflowMode overflow) {
  module = passes::loops_to_calls_for_gradients(std::move(module), trained);
  return passes::add_gradients(passes::split_loops(std::move(module), overflow));
}

}  // namespace

graph::Graph compile_vjp(ir::Module module, const std::vector<std::size_t>& wrt,
                         const CompileOptions& options) {
  module.entry = module.function_named(options.entry);
  module = passes::simplify(std::move(module), options.simplify);
  const ir::FunctionId entry = module.entry;
  module = with_gradients(std::move(module), entry, options.simplify.overflow);
  return passes::lower(passes::add_vjp_step(std::move(module), wrt));
}

graph::Graph compile_simplified(ir::Module module, Purpose purpose, OverflowMode overflow) {
  const auto trained = purpose == Purpose::Train ? std::optional(module.entry) : std::nullopt;
  module = with_gradients(std::move(module), trained, overflow);
  if (purpose == Purpose::Train) module = passes::add_training_step(std::move(module));
  return passes::lower(module);
}

}  // namespace hiaton
