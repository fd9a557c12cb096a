// Gradients: functions that call an extension (extensions.h) and its mirrored phase.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "hiaton/passes.h"
#include "ir/differentiable.h"
#include "ir/errors.h"
#include "passes/call_graph.h"
#include "passes/extensions.h"
#include "passes/lift_parameters.h"

namespace hiaton::passes {
namespace {

void require_float_scalar(const ir::Function& function) {
  const Type& type = function.results[0];
  if (type.is_scalar() && is_float(type.dtype)) return;
  throw ProgramError(fmt::format(
      "expected the first result of '{}', of which gradients are asked, to be f32 or f64, found {}",
      function.name, to_string(type)));
}

struct ValueAndGradients {
  Vars values;
  Vars gradients;
};
/// Calls the function, then its mirrored phase. `seed` gives the gradient of a result, by its number and
/// value.
template <class Seed>
ValueAndGradients call_with_gradient(FunctionBuilder& f, Extensions& extensions, ir::FunctionId function,
                                     const std::vector<Var>& arguments, Seed seed) {
  const bool active = extensions.has_extension(function);
  const Vars values = f.call(active ? extensions.extension_of(function) : FunctionRef{function}, arguments);
  if (!active) return {values, Vars(std::vector<Var>())};
  const ir::NodeId call = f.last_node();
  std::vector<Var> gradients;
  for (const std::size_t result : extensions.mirror(function, 0).results) {
    gradients.push_back(seed(result, values[result]));
  }
  return {values, f.resume(call, 1, gradients)};
}

/// 1 for the first result, and 0 for the others.
auto seed_of_first(Extensions& extensions) {
  return [&](std::size_t result, Var value) {
    return result == 0 ? constant_like(value, 1.0) : extensions.data().zero(value);
  };
}

std::vector<Var> params_of(FunctionBuilder& f, std::size_t count) {
  std::vector<Var> params;
  for (std::size_t i = 0; i < count; ++i) params.push_back(f.param(i));
  return params;
}

/// What the mirrored phase gave for the parameter of this number, or zero where it gives none for that.
Var gradient_for(Extensions& extensions, ir::FunctionId function, const Vars& gradients,
                 std::optional<std::size_t> parameter, Var forward) {
  std::vector<std::size_t> given;
  if (extensions.has_extension(function)) given = extensions.mirror(function, 0).params;
  const auto at = parameter ? std::find(given.begin(), given.end(), *parameter) : given.end();
  const Var gradient = at != given.end() ? gradients[static_cast<std::size_t>(at - given.begin())]
                                         : extensions.data().zero(forward);
  return extensions.data().as_value(forward, gradient);
}

/// The gradients of results as they come in, behind the `params` parameters of the function; their sizes must
/// be those of the results.
auto seed_of_given(FunctionBuilder& f, std::size_t params, const std::vector<std::size_t>& results) {
  return [&f, params, &results](std::size_t result, Var value) {
    const auto at = std::find(results.begin(), results.end(), result) - results.begin();
    return f.checked_like(f.param(params + static_cast<std::size_t>(at)), value);
  };
}

std::vector<std::size_t> learned_among(const std::vector<ir::GradientForm::By>& wrt) {
  std::vector<std::size_t> numbers;
  for (const ir::GradientForm::By& by : wrt) {
    if (by.is_learned) numbers.push_back(by.number);
  }
  return numbers;
}

/// Derives one gradient. Gradients by learned parameters are those by arguments of lifted functions.
class Derivation {
 public:
  Derivation(ModuleBuilder& builder, const ir::GradientRequest& request)
      : builder_(builder),
        request_(request),
        param_count_(builder.module()[request.of].params.size()),
        wrt_(ir::derived_by(builder.module()[request.of], request.form)),
        results_(ir::is_vjp(request.form.kind) ? ir::float_results(builder.module()[request.of])
                                               : std::vector<std::size_t>{0}),
        lifted_(lift_parameters(builder, request.of, learned_among(wrt_))),
        extensions_(builder, {lifted_.function.id, results_, places()}, false) {}

  void run() {
    builder_.define({request_.function}, [&](FunctionBuilder& f) { return body(f); });
  }

 private:
  /// Where the parameter is among those of the lifted function; empty where that does not read it.
  std::optional<std::size_t> place_of(const ir::GradientForm::By& by) const {
    if (!by.is_learned) return by.number;
    const std::vector<std::size_t>& taken = lifted_.parameters;
    const auto found = std::find(taken.begin(), taken.end(), by.number);
    if (found == taken.end()) return std::nullopt;
    return param_count_ + static_cast<std::size_t>(found - taken.begin());
  }

  std::vector<std::size_t> places() const {
    std::vector<std::size_t> places;
    for (const ir::GradientForm::By& by : wrt_) {
      if (const std::optional<std::size_t> place = place_of(by)) places.push_back(*place);
    }
    return places;
  }

  Vars body(FunctionBuilder& f) {
    std::vector<Var> arguments = params_of(f, param_count_);
    for (const std::size_t parameter : lifted_.parameters) arguments.push_back(f.parameter(parameter));
    const ir::FunctionId function = lifted_.function.id;
    const ValueAndGradients found =
        ir::is_vjp(request_.form.kind)
            ? call_with_gradient(f, extensions_, function, arguments,
                                 seed_of_given(f, param_count_, results_))
            : call_with_gradient(f, extensions_, function, arguments, seed_of_first(extensions_));
    std::vector<Var> results;
    if (ir::gives_values(request_.form.kind)) results.assign(found.values.begin(), found.values.end());
    for (const ir::GradientForm::By& by : wrt_) {
      const std::optional<std::size_t> place = place_of(by);
      const Var forward = place ? arguments[*place] : f.parameter(by.number);
      results.push_back(gradient_for(extensions_, function, found.gradients, place, forward));
    }
    return Vars(std::move(results));
  }

  ModuleBuilder& builder_;
  const ir::GradientRequest& request_;
  const std::size_t param_count_;
  const std::vector<ir::GradientForm::By> wrt_;
  const std::vector<std::size_t> results_;  ///< the results for which gradients come in
  const Lifted lifted_;
  Extensions extensions_;
};

}  // namespace

ir::Module add_training_step(ir::Module module) {
  const ir::FunctionId id = module.entry.valid() ? module.entry : module.function_named("main");
  require_float_scalar(module[id]);
  ModuleBuilder builder(std::move(module));
  Extensions extensions(builder, {id, {0}, {}}, true);
  const ir::Function& of = builder.module()[id];
  const FunctionRef step = builder.declare(builder.unused_name("training_step"), of.params, of.results);
  builder.module()[step.id].placement = builder.module()[id].placement;
  const std::size_t param_count = builder.module()[id].params.size();
  builder.define(step, [&](FunctionBuilder& f) {
    return call_with_gradient(f, extensions, id, params_of(f, param_count), seed_of_first(extensions)).values;
  });
  builder.module().entry = step.id;
  return builder.finish();
}

ir::Module add_vjp_step(ir::Module module, const std::vector<std::size_t>& wrt) {
  const ir::FunctionId id = module.entry;
  ir::GradientForm form{.kind = ir::GradientForm::Kind::Vjp};
  for (const std::size_t number : wrt) form.wrt.push_back({.is_learned = false, .number = number});
  if (wrt.empty()) form.wrt.push_back({.is_learned = true, .number = 0});
  const ir::GradientSignature signature = ir::gradient_signature(module, module[id], form);
  const std::vector<std::size_t> seeded = ir::float_results(module[id]);
  ModuleBuilder builder(std::move(module));
  Extensions extensions(builder, {id, seeded, wrt}, true);
  std::vector<Type> types = builder.module()[id].results;
  if (!wrt.empty()) types.insert(types.end(), signature.results.begin(), signature.results.end());
  const FunctionRef step = builder.declare(builder.unused_name("vjp_step"), signature.params, types);
  const std::size_t param_count = builder.module()[id].params.size();
  builder.define(step, [&](FunctionBuilder& f) {
    const std::vector<Var> arguments = params_of(f, param_count);
    const ValueAndGradients found =
        call_with_gradient(f, extensions, id, arguments, seed_of_given(f, param_count, seeded));
    std::vector<Var> results(found.values.begin(), found.values.end());
    for (const std::size_t number : wrt)
      results.push_back(gradient_for(extensions, id, found.gradients, number, arguments[number]));
    return Vars(std::move(results));
  });
  builder.module().entry = step.id;
  return builder.finish();
}

ir::Module add_gradient(ir::Module module, const ir::GradientRequest& request) {
  if (!ir::is_vjp(request.form.kind)) require_float_scalar(module[request.of]);
  ModuleBuilder builder(std::move(module));
  Derivation(builder, request).run();
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
