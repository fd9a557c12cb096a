// A program whose parts are placed, for the production executor of several processes.
#pragma once

#include <optional>
#include <string>

#include "exec/direct_functions.h"
#include "exec/outline_placed.h"
#include "partition/partition.h"

namespace hiaton::exec {

/// Whether the graph or `places` place a function, an expression or a learned parameter somewhere. Throws
/// ProgramError where no process has room for a parameter.
bool has_places(const graph::Graph& graph, const partition::Places& places);

/// How many processes each of so many groups has (RunOptions::replicas). Throws ProgramError where the
/// processes are no multiple of the groups.
int processes_of_each(int replicas, int processes);

/// Each body on one process; loops are calls (outline_loops.h). Nothing, and in `reason` why, where calls
/// that are sent cannot express the graph: it has no structure (structure.h). Throws ProgramError where
/// `places` does not fit the graph.
std::optional<HomedGraph> place_program(const graph::Graph& graph, const partition::Places& places,
                                        std::string& reason);

/// Returns the functions of a program in flow that are direct in such a run: they call each other only, all
/// in one process, and no other process calls them.
FunctionSet direct_functions_at_home(const HomedGraph& homed, RunKind kind);

}  // namespace hiaton::exec
