#include <utility>
#include <vector>

#include "hiaton/builder.h"
#include "hiaton/passes.h"
#include "properties/generate.h"

namespace hiaton::properties {
namespace {

bool is_float_scalar(const Type& type) {
  return type.is_scalar() && is_float(type.dtype);
}

}  // namespace

std::optional<ir::Module> with_gradient(ir::Module module) {
  const ir::FunctionId main = *module.find("main");
  if (!is_float_scalar(module[main].results[0])) return std::nullopt;
  std::vector<Type> results = module[main].results;
  for (const ir::ValueInfo& param : module[main].params) {
    if (is_float_scalar(param.type)) results.push_back(param.type);
  }
  if (results.size() == module[main].results.size()) return std::nullopt;
  module[main].name = "main_before";
  module = passes::loops_to_calls_for_gradients(std::move(module), main);
  const std::vector<ir::ValueInfo> params = module[main].params;
  ModuleBuilder builder(std::move(module));
  const FunctionRef gradient = builder.declare("main", params, results);
  return passes::add_gradient(std::move(builder.module()),
                              {gradient.id, main, {ir::GradientForm::Kind::ValueAndGradients, {}}});
}

}  // namespace hiaton::properties
