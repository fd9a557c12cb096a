#include "ir/differentiable.h"

#include <fmt/format.h>

#include <algorithm>

#include "hiaton/error.h"
#include "ir/errors.h"

namespace hiaton::ir {
namespace {

std::string unused_param(const std::vector<ValueInfo>& params, std::size_t result) {
  std::string name = fmt::format("g{}", result + 1);
  const auto is_taken = [&] {
    return std::any_of(params.begin(), params.end(), [&](const ValueInfo& p) { return p.name == name; });
  };
  while (is_taken()) name += "_";
  return name;
}

void require_float_scalar(const Function& function) {
  const Type& first = function.results.at(0);
  if (first.is_scalar() && is_float(first.dtype)) return;
  throw ProgramError(fmt::format(
      "the gradient of '{}': expected a function whose first result is f32 or f64, found results {}",
      function.name, list_types(function.results)));
}

void require_float_results(const Function& function) {
  const auto is_data = [](const Type& type) { return type.is_data() && holds_floats(type); };
  const auto of_data = std::find_if(function.results.begin(), function.results.end(), is_data);
  if (of_data == function.results.end() && !float_results(function).empty()) return;
  throw ProgramError(fmt::format(
      "the vjp of '{}': expected results that are numbers or tensors, some of them of floats, found {}{}",
      function.name, list_types(function.results),
      of_data == function.results.end()
          ? ""
          : "; of what a data value holds, a function that takes it out has one, as fn(x) -> f(x).field"));
}

Type type_of(const Module& module, const Function& function, const GradientForm::By& by) {
  if (!by.is_learned) return function.params.at(by.number).type;
  return module.parameters.at(by.number).type;
}

}  // namespace

std::string_view name_of(GradientForm::Kind kind) {
  switch (kind) {
    case GradientForm::Kind::Gradients:
      return "grad";
    case GradientForm::Kind::ValueAndGradients:
      return "value_and_grad";
    case GradientForm::Kind::Vjp:
      return "vjp";
    case GradientForm::Kind::ValueAndVjp:
      return "value_and_vjp";
  }
  return "?";
}

std::vector<GradientForm::By> derived_by(const Function& function, const GradientForm& form) {
  if (!form.wrt.empty()) return form.wrt;
  std::vector<GradientForm::By> by;
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    if (holds_floats(function.params[i].type)) by.push_back({.is_learned = false, .number = i});
  }
  return by;
}

std::vector<std::size_t> float_results(const Function& function) {
  std::vector<std::size_t> results;
  for (std::size_t i = 0; i < function.results.size(); ++i) {
    const Type& type = function.results[i];
    if (!type.is_data() && is_float(type.dtype)) results.push_back(i);
  }
  return results;
}

GradientSignature gradient_signature(const Module& module, const Function& function,
                                     const GradientForm& form) {
  GradientSignature signature{function.params, {}};
  if (is_vjp(form.kind)) {
    require_float_results(function);
    for (const std::size_t result : float_results(function)) {
      signature.params.push_back({function.results[result], unused_param(signature.params, result)});
    }
  } else {
    require_float_scalar(function);
  }
  if (gives_values(form.kind)) signature.results = function.results;
  const std::vector<GradientForm::By> by = derived_by(function, form);
  if (by.empty()) {
    const std::string learned = module.parameters.empty()
                                    ? ""
                                    : fmt::format("; by what is learned, it is written grad({}, wrt={})",
                                                  function.name, module.parameters.front().name);
    throw ProgramError(
        fmt::format("the gradient of '{}': expected a parameter that holds floats, found none{}",
                    function.name, learned));
  }
  for (const GradientForm::By& one : by) {
    const Type type = type_of(module, function, one);
    if (!holds_floats(type)) {
      throw ProgramError(fmt::format(
          "the gradient of '{}': expected a parameter that holds floats, found '{}', which is of type {}",
          function.name, function.params[one.number].name, to_string(type)));
    }
    signature.results.push_back(type);
  }
  return signature;
}

}  // namespace hiaton::ir
