// Loops of some functions as calls.
#pragma once

#include <vector>

#include "hiaton/ir.h"

namespace hiaton::passes {

/// loops_to_calls in functions with a loop that calls one of these functions, which are marked by number.
ir::Module loops_to_calls_that_call(ir::Module module, const std::vector<bool>& functions);

}  // namespace hiaton::passes
