// Gradients: functions that call an extension (extensions.h) and its mirrored phase.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "hiaton/passes.h"
#include "ir/module_error.h"
#include "passes/call_graph.h"
#include "passes/extensions.h"

namespace hiaton::passes {
namespace {

std::vector<std::size_t> params_with_floats(const ir::Function& function) {
  std::vector<std::size_t> params;
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    if (holds_floats(function.params[i].type)) params.push_back(i);
  }
  return params;
}

void require_float_scalar(const ir::Function& function) {
  const Type& type = function.results[0];
  if (type.is_scalar() && is_float(type.dtype)) return;
  throw ProgramError(fmt::format(
      "expected the first result of '{}', of which gradients are asked, to be f32 or f64, found {}",
      function.name, to_string(type)));
}

/// Calls the function, then its mirrored phase with a gradient of 1 for the first result.
struct ValueAndGradients {
  Vars values;
  Vars gradients;
};
ValueAndGradients call_with_gradient(FunctionBuilder& f, Extensions& extensions, ir::FunctionId function) {
  const ir::Function& of = f.module()[function];
  std::vector<Var> arguments;
  for (std::size_t i = 0; i < of.params.size(); ++i) arguments.push_back(f.param(i));
  const bool active = extensions.has_extension(function);
  const Vars values = f.call(active ? extensions.extension_of(function) : FunctionRef{function}, arguments);
  if (!active) return {values, Vars(std::vector<Var>())};
  const ir::NodeId call = f.last_node();
  std::vector<Var> gradients;
  for (std::size_t result : extensions.mirror(function, 0).results) {
    const Var value = values[result];
    gradients.push_back(result == 0 ? constant_like(value, 1.0) : extensions.data().zero(value));
  }
  return {values, f.resume(call, 1, gradients)};
}

}  // namespace

ir::Module add_training_step(ir::Module module) {
  const ir::FunctionId id = module.entry.valid() ? module.entry : module.function_named("main");
  require_float_scalar(module[id]);
  ModuleBuilder builder(std::move(module));
  Extensions extensions(builder, {id, {0}, {}}, true);
  const ir::Function& of = builder.module()[id];
  const FunctionRef step = builder.declare(builder.unused_name("training_step"), of.params, of.results);
  builder.module()[step.id].placement = builder.module()[id].placement;
  builder.define(step, [&](FunctionBuilder& f) { return call_with_gradient(f, extensions, id).values; });
  builder.module().entry = step.id;
  return builder.finish();
}

ir::Module add_gradient(ir::Module module, const ir::GradientRequest& request) {
  require_float_scalar(module[request.of]);
  const std::vector<std::size_t> params = params_with_floats(module[request.of]);
  ModuleBuilder builder(std::move(module));
  Extensions extensions(builder, {request.of, {0}, params}, false);
  builder.define({request.function}, [&](FunctionBuilder& f) {
    const ValueAndGradients found = call_with_gradient(f, extensions, request.of);
    std::vector<Var> results;
    if (request.with_value) results.assign(found.values.begin(), found.values.end());
    std::vector<std::size_t> given;
    if (extensions.has_extension(request.of)) given = extensions.mirror(request.of, 0).params;
    for (std::size_t param : params) {
      const auto at = std::find(given.begin(), given.end(), param);
      const Var forward = f.param(param);
      const Var gradient = at != given.end() ? found.gradients[static_cast<std::size_t>(at - given.begin())]
                                             : extensions.data().zero(forward);
      results.push_back(extensions.data().as_value(forward, gradient));
    }
    return Vars(std::move(results));
  });
  std::erase_if(builder.module().gradient_requests,
                [&](const ir::GradientRequest& open) { return open.function == request.function; });
  return std::move(builder.module());
}

ir::Module add_gradients(ir::Module module) {
  while (!module.gradient_requests.empty()) {
    const std::vector<ir::GradientRequest>& requests = module.gradient_requests;
    const CallGraph calls = call_graph(module);
    // Ready is one whose function, and all it calls, have bodies: found by going from one that waits to what
    // it waits for.
    auto ready = requests.begin();
    for (std::size_t steps = 0; true; ++steps) {
      const std::vector<bool> needed = reachable(calls, ready->of);
      const auto waits_for =
          std::find_if(requests.begin(), requests.end(),
                       [&](const ir::GradientRequest& other) { return needed[other.function.index()]; });
      if (waits_for == requests.end()) break;
      ready = waits_for;
      if (steps < requests.size()) continue;
      const ir::Function& function = module[ready->of];
      throw ir::error_in(module, function,
                         fmt::format("the gradient of '{}' depends on itself", function.name));
    }
    const ir::GradientRequest request = *ready;
    module = add_gradient(std::move(module), request);
  }
  return module;
}

}  // namespace hiaton::passes
