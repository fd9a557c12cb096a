#include <utility>
#include <vector>

#include "hiaton/builder.h"
#include "hiaton/passes.h"
#include "ir/differentiable.h"
#include "properties/generate.h"

namespace hiaton::properties {

std::optional<ir::Module> with_gradient(ir::Module module, ir::GradientForm::Kind kind) {
  const ir::FunctionId main = *module.find("main");
  const Type& first = module[main].results[0];
  const ir::GradientForm form{kind, {}};
  const bool is_number = first.is_scalar() && is_float(first.dtype);
  if (!is_number || ir::derived_by(module[main], form).empty()) return std::nullopt;
  const ir::GradientSignature signature = ir::gradient_signature(module, module[main], form);
  module[main].name = "main_before";
  module = passes::loops_to_calls_for_gradients(std::move(module), main);
  ModuleBuilder builder(std::move(module));
  const FunctionRef gradient = builder.declare("main", signature.params, signature.results);
  return passes::add_gradient(std::move(builder.module()), {gradient.id, main, form});
}

}  // namespace hiaton::properties
