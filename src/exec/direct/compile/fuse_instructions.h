// Instructions that do what several did.
#pragma once

#include <cstdint>

#include "exec/direct/direct_plan.h"

namespace hiaton::exec::direct {

/// Gives instructions from `begin` on, which are the last body of the plan, forms that do what the ones after
/// them, or those that they jump to, do too. These stay in their places, since others may jump to them.
void fuse_instructions(Plan& plan, uint32_t begin);

}  // namespace hiaton::exec::direct
