#include "train/model_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "hiaton/error.h"

namespace hiaton::train {

std::vector<Parameter> first_parameters(const Model& model, uint64_t seed) {
  std::vector<Parameter> parameters;
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

std::vector<Value> values_of(std::vector<Parameter>& parameters) {
  std::vector<Value> values;
  for (Parameter& parameter : parameters) {
    values.emplace_back(Tensor(DType::F32, parameter.shape,
                               reinterpret_cast<std::byte*>(parameter.values.data()),
                               std::shared_ptr<const void>()));
  }
  return values;
}

double number_in(const Value& value) {
  return value.dtype() == DType::F32 ? value.as<float>() : value.as<double>();
}

void copy_gradient(const Gradients::Sum& from, Gradient& to) {
  const float* sum = from.values.data<float>();
  to.sparse = !from.dense;
  to.rows = from.rows;
  if (from.dense) {
    to.values.assign(sum, sum + from.values.size());
    return;
  }
  std::sort(to.rows.begin(), to.rows.end());
  const int64_t width = from.values.size() / from.values.dims()[0];
  to.values.resize(to.rows.size() * static_cast<std::size_t>(width));
  for (std::size_t i = 0; i < to.rows.size(); ++i) {
    std::memcpy(to.values.data() + i * static_cast<std::size_t>(width), sum + to.rows[i] * width,
                static_cast<std::size_t>(width) * sizeof(float));
  }
}

}  // namespace hiaton::train
