// Where the slots of a function stand in its frames.
#pragma once

#include "exec/flow/plan.h"

namespace hiaton::exec::flow {

/// Chooses Function::positions: frames are smaller where slots share one.
void place_slots(Plan& plan);

}  // namespace hiaton::exec::flow
