#include "train/model_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "hiaton/error.h"

namespace hiaton::train {

std::vector<ParameterValues> first_parameters(const Model& model, uint64_t seed) {
  std::vector<ParameterValues> parameters;
  const std::vector<Value> initial = model.initial_parameters(seed);
  for (std::size_t i = 0; i < initial.size(); ++i) {
    const Tensor tensor = initial[i].tensor();
    if (tensor.dtype() != DType::F32) {
      throw ProgramError(fmt::format("parameter '{}': expected f32 to train it, found {}",
                                     model.parameters()[i].name, hiaton::to_string(initial[i].type())));
    }
    parameters.push_back({model.parameters()[i].name,
                          {tensor.dims().begin(), tensor.dims().end()},
                          {tensor.data<float>(), tensor.data<float>() + tensor.size()}});
  }
  return parameters;
}

std::vector<Value> values_of(std::vector<ParameterValues>& parameters) {
  std::vector<Value> values;
  for (ParameterValues& parameter : parameters) {
    values.emplace_back(Tensor(DType::F32, parameter.shape,
                               reinterpret_cast<std::byte*>(parameter.values.data()),
                               std::shared_ptr<const void>()));
  }
  return values;
}

double number_in(const Value& value) {
  return value.dtype() == DType::F32 ? value.as<float>() : value.as<double>();
}

Gradient gradient_in(Gradients& sums, std::size_t parameter) {
  const Gradients::Sum& sum = sums[parameter];
  Tensor& values = sums.values(parameter);
  Gradient gradient{!sum.dense, {values.mutable_data<float>(), static_cast<std::size_t>(values.size())}, {}};
  if (gradient.sparse) {
    gradient.rows = sum.rows;
    std::sort(gradient.rows.begin(), gradient.rows.end());
  }
  return gradient;
}

}  // namespace hiaton::train
