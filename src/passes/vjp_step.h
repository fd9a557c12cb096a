// A function whose vector-Jacobian products are taken after its results, with learned parameters.
#pragma once

#include <cstddef>
#include <vector>

#include "hiaton/ir.h"

namespace hiaton::passes {

/// Makes the entry a new function. It takes what the entry takes, and a gradient for each of its float
/// results; it gives the results of the entry, then what becomes of the gradients for the parameters with the
/// numbers `wrt`, and also gathers the gradients of the module's parameters. The module must have an entry
/// and be free of loops. Throws ProgramError where it has no results that are floats, or results that hold
/// some in data.
ir::Module add_vjp_step(ir::Module module, const std::vector<std::size_t>& wrt);

}  // namespace hiaton::passes
