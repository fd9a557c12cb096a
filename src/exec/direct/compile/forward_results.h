// Results that the next instructions read come to them in a register.
#pragma once

#include "exec/direct/direct_plan.h"

namespace hiaton::exec::direct {

/// Gives instructions whose left operand is the latest result their Result form. Of linked code.
void forward_results(Plan& plan);

}  // namespace hiaton::exec::direct
