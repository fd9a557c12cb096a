// What can have a gradient.
#pragma once

#include <vector>

#include "hiaton/ir.h"

namespace hiaton::ir {

/// What the gradient of a function takes and gives.
struct GradientSignature {
  std::vector<ValueInfo> params;
  std::vector<Type> results;
};
/// Throws ProgramError where the function has no such gradient: where its first result is no float scalar (of
/// a Vjp: where no result holds floats, or a data value does), where no parameter holds floats, or where one
/// that is asked for does not.
GradientSignature gradient_signature(const Module& module, const Function& function,
                                     const GradientForm& form);

/// By what the gradients of the function are, in the order in which they are given.
std::vector<GradientForm::By> derived_by(const Function& function, const GradientForm& form);

/// The results of which a Vjp takes the gradients: scalars and tensors of floats.
std::vector<std::size_t> float_results(const Function& function);

}  // namespace hiaton::ir
