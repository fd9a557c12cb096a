// When a frame lets go of what it holds.
#pragma once

#include "exec/flow/plan.h"

namespace hiaton::exec::flow {

/// Says of the items of the backward paths which tensors nobody reads after them (Item::releases), so that a
/// step does not hold the values of the forward path and all gradients at once. What is not found stays until
/// the frame goes.
void find_releases(Plan& plan);

}  // namespace hiaton::exec::flow
