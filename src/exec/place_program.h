// A program whose parts are placed, for the production executor of several processes.
#pragma once

#include "exec/outline_placed.h"
#include "partition/partition.h"

namespace hiaton::exec {

/// Whether it places a function, an expression or a learned parameter somewhere.
bool has_places(const graph::Graph& graph);

/// Each body on one process; loops are calls (outline_loops.h). Throws ProgramError where `places` does not
/// fit the graph, and where a function has several phases, as gradients have: calls that are sent have one.
HomedGraph place_program(const graph::Graph& graph, const partition::Places& places);

}  // namespace hiaton::exec
