// Moves the reading of fields to where they are needed.
#pragma once

#include "exec/direct/compile/structure.h"

namespace hiaton::exec::direct {

/// The rule: a field of a data value that nothing in its block reads but one branch is read at the begin of
/// each side of it that needs it, unless a call stands between, or it is a scalar that both sides need. There
/// the value is often read for the last time, and can be taken apart; on the other side it stays whole. Not
/// in loops, whose iterations are cut into tasks by item.
void sink_fields(const graph::Graph& graph, Structure& structure);

}  // namespace hiaton::exec::direct
