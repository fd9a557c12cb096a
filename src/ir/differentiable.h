// What can have a gradient.
#pragma once

#include <vector>

#include "hiaton/ir.h"

namespace hiaton::ir {

/// The types of the results of the gradient of a function: its results where `with_value`, then the types of
/// its parameters that hold floats. Throws ProgramError where its first result is no float scalar, where it
/// has others that hold floats, or where no parameter holds floats.
std::vector<Type> gradient_results(const Function& function, bool with_value);

}  // namespace hiaton::ir
