// Questions about parameters and gradients that do not depend on the optimizer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "hiaton/train.h"

namespace hiaton::train {

/// The gradient of one parameter, or of some of its rows where that of all others is zero.
struct Gradient {
  /// The elements, in the type of the parameter.
  using Values = std::variant<std::span<float>, std::span<double>>;

  bool sparse = false;
  /// As many as the parameter has, row by row, in memory of what is trained: until it is asked again.
  Values values;
  std::vector<int64_t> rows;  ///< sparse only: those that count, in increasing order

  std::size_t size() const {
    return std::visit([](const auto& elements) { return elements.size(); }, values);
  }
  /// Only where it is of f32.
  std::span<float> floats() const { return std::get<0>(values); }
};

/// Throws ProgramError where names are not all different, or shapes and values do not go together: a defect
/// of what is trained.
void check_form(const std::vector<ParameterValues>& parameters);

/// Throws ProgramError where a gradient does not have the form that Gradient promises for its parameter: a
/// defect of what is trained.
void check_form(std::span<const Gradient> gradients, const std::vector<ParameterValues>& parameters);

/// The Euclidean norm of all gradients together; not finite exactly where an element is not.
double norm_of(std::span<const Gradient> gradients, const std::vector<ParameterValues>& parameters);

/// The sum of the squares; not finite exactly where an element is not.
double squares_of(const Numbers& values);

/// The name of the first parameter whose gradient has an element that is not finite; empty where all are.
std::string first_not_finite(std::span<const Gradient> gradients,
                             const std::vector<ParameterValues>& parameters);

/// For messages, where the loss is not finite or a gradient is not: which of them.
std::string name_not_finite(double loss, std::span<const Gradient> gradients,
                            const std::vector<ParameterValues>& parameters);

}  // namespace hiaton::train
