#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "hiaton/error.h"
#include "hiaton/optimizer.h"
#include "tensor/scalar_or_tensor.h"

namespace hiaton::train {

ParameterValues parameter_of(std::string name, const Value& value) {
  if (value.is_data() || !is_float(value.dtype())) {
    throw ProgramError(fmt::format("parameter '{}': expected f32 or f64 to train it, found {}", name,
                                   hiaton::to_string(value.type())));
  }
  if (value.is_scalar()) {
    ParameterValues parameter{std::move(name), {}, Numbers(value.dtype(), 1)};
    std::memcpy(parameter.values.bytes().data(), &value.slot(), size_of(value.dtype()));
    return parameter;
  }
  const Tensor tensor = value.tensor();
  ParameterValues parameter{std::move(name), {tensor.dims().begin(), tensor.dims().end()}, {}};
  parameter.values = Numbers(tensor.dtype(), static_cast<std::size_t>(tensor.size()));
  const std::span<std::byte> to = parameter.values.bytes();
  if (!to.empty()) std::memcpy(to.data(), tensor.data<std::byte>(), to.size());
  return parameter;
}

std::vector<ParameterValues> first_parameters(const Model& model, uint64_t seed) {
  std::vector<ParameterValues> parameters;
  const std::vector<Value> initial = model.initial_parameters(seed);
  for (std::size_t i = 0; i < initial.size(); ++i) {
    parameters.push_back(parameter_of(model.parameters()[i].name, initial[i]));
  }
  return parameters;
}

Value value_of(ParameterValues& parameter) {
  return scalar_or_tensor(Tensor(parameter.values.dtype(), parameter.shape, parameter.values.bytes().data(),
                                 std::shared_ptr<const void>()));
}

std::vector<Value> values_of(std::vector<ParameterValues>& parameters) {
  std::vector<Value> values;
  for (ParameterValues& parameter : parameters) values.push_back(value_of(parameter));
  return values;
}

double number_in(const Value& value) {
  return value.dtype() == DType::F32 ? value.as<float>() : value.as<double>();
}

Gradient gradient_in(Gradients& sums, std::size_t parameter) {
  const Gradients::Sum& sum = sums[parameter];
  Tensor& values = sums.values(parameter);
  const auto size = static_cast<std::size_t>(values.size());
  Gradient gradient{!sum.dense, std::span<float>(), {}};
  if (values.dtype() == DType::F64) {
    gradient.values = std::span(values.mutable_data<double>(), size);
  } else {
    gradient.values = std::span(values.mutable_data<float>(), size);
  }
  if (gradient.sparse) {
    gradient.rows = sum.rows;
    std::sort(gradient.rows.begin(), gradient.rows.end());
  }
  return gradient;
}

std::vector<Gradient> gradients_in(Gradients& sums) {
  std::vector<Gradient> gradients;
  for (std::size_t i = 0; i < sums.size(); ++i) gradients.push_back(gradient_in(sums, i));
  return gradients;
}

}  // namespace hiaton::train
