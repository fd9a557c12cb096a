// When a frame lets go of what it holds.
#pragma once

#include "exec/flow/plan.h"

namespace hiaton::exec::flow {

/// Says which readers of tensors and data values are their last ones. Calls, ends of branches and returns
/// then take what they pass on (Source::last). On the backward paths other items let go of tensors
/// (Item::releases), so that a step does not hold the values of the forward path and all gradients at once.
/// What is not found stays until the frame goes; so do arguments, which a message may show, but for tensors
/// that a backward path has read.
void find_releases(Plan& plan);

}  // namespace hiaton::exec::flow
