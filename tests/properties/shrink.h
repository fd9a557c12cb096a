// Making a program that shows a defect small.
#pragma once

#include <functional>

#include "properties/generate.h"

namespace hiaton::properties {

/// The smallest program that single steps lead to from this one, while `still_wrong` holds for each: calls,
/// operations, branches and loops become constants, operands or one of their blocks, parameters and results
/// go, constants get closer to 0.
Program shrink(Program program, const std::function<bool(const Program&)>& still_wrong);

}  // namespace hiaton::properties
