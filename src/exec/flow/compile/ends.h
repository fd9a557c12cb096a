// Branches at the end of a function.
#pragma once

#include "exec/flow/plan.h"

namespace hiaton::exec::flow {

/// Lets the sides of a branch return what the function would return behind it.
void shorten_ends(Plan& plan);

}  // namespace hiaton::exec::flow
