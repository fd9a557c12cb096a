// Random programs that give their gradients too.
#pragma once

#include <optional>

#include "hiaton/ir.h"

namespace hiaton::properties {

/// The program with a new main that gives the values and gradients of the old one; none where the first
/// result of that, or all its parameters, are no floats.
std::optional<ir::Module> with_gradient(ir::Module module);

}  // namespace hiaton::properties
