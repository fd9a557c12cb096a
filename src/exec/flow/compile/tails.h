// Calls whose results are those of the function that makes them.
#pragma once

#include "exec/flow/plan.h"
#include "hiaton/graph.h"

namespace hiaton::exec::flow {

/// Sets Call::forwarded: what such a call calls returns to the caller of the frame that makes it.
void find_tail_calls(const graph::Graph& graph, Plan& plan);

}  // namespace hiaton::exec::flow
