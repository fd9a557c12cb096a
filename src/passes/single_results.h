// Functions and branches of several results, as such of one: a tuple.
#pragma once

#include <vector>

#include "hiaton/ir.h"

namespace hiaton::passes {

/// The functions that the entry reaches, each with one result; those of the entry stay. Nothing calls the
/// entry then. The module must be free of loops and phases.
ir::Module single_results(const ir::Module& module);

}  // namespace hiaton::passes
