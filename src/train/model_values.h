// Parameters and gradients, from the engine's form to the trainer's and back.
#pragma once

#include <string>
#include <vector>

#include "hiaton/model.h"
#include "hiaton/train.h"
#include "train/gradient.h"

namespace hiaton::train {

/// A tensor that is to be learned. Throws ProgramError where it is not of f32 or f64.
ParameterValues parameter_of(std::string name, const Tensor& tensor);

/// The parameters of a model with their first values. Throws ProgramError where one is not of f32 or f64.
std::vector<ParameterValues> first_parameters(const Model& model, uint64_t seed);

/// A parameter as the engine sees it, without a copy: it must outlive the value.
Value value_of(ParameterValues& parameter);
std::vector<Value> values_of(std::vector<ParameterValues>& parameters);

/// A loss.
double number_in(const Value& value);

/// What a run gathered for a parameter, where it stands.
Gradient gradient_in(Gradients& sums, std::size_t parameter);

}  // namespace hiaton::train
