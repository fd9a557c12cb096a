// Moves the operations that compute the next values of loop variables behind what reads the present ones.
#pragma once

#include "exec/direct/compile/structure.h"
#include "hiaton/run.h"

namespace hiaton::exec::direct {

/// The rule: an operation on scalars that cannot fail and whose result is a variable's value in the next
/// iteration stands behind the last operation of the body that reads the variable, where only operations that
/// do not need the result stand between. Then the variable's slot is free, and takes the result without a
/// move.
void delay_updates(const graph::Graph& graph, Structure& structure, OverflowMode overflow);

}  // namespace hiaton::exec::direct
