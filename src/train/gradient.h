// Questions about parameters and gradients that do not depend on the optimizer.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hiaton/optimizer.h"

namespace hiaton::train {

/// Throws ProgramError where names are not all different, or shapes and values do not go together: a defect
/// of what is trained.
void check_form(const std::vector<ParameterValues>& parameters);

/// The sum of the squares; not finite exactly where an element is not.
double squares_of(const Numbers& values);

/// The name of the first parameter whose gradient has an element that is not finite; empty where all are.
std::string first_not_finite(std::span<const Gradient> gradients,
                             const std::vector<ParameterValues>& parameters);

/// For messages, where the loss is not finite or a gradient is not: which of them.
std::string name_not_finite(double loss, std::span<const Gradient> gradients,
                            const std::vector<ParameterValues>& parameters);

}  // namespace hiaton::train
