// Loops of some functions as calls.
#pragma once

#include <vector>

#include "hiaton/ir.h"

namespace hiaton::passes {

/// loops_to_calls in the functions that are chosen, by number.
ir::Module loops_to_calls_in(ir::Module module, const std::vector<bool>& chosen);

}  // namespace hiaton::passes
