// Loops of a static tagged graph as functions that call themselves in tail position, for executors that know
// calls only.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "hiaton/graph.h"

namespace hiaton::exec {

/// The graph with every loop of the chosen functions, also a loop inside a loop, as a function of its own; or
/// nothing, and in `reason` why. A graph that has a structure (structure.h) always has such a form.
///
/// Nodes, functions and call sites keep their numbers, and what is new stands behind them: so what an error,
/// a timeline or a statistic says of a node of the new graph holds for the given one. Loops that stay are
/// numbered anew. Between the predicate of a loop and its Exit there may be operations, calls, branches and
/// other loops.
std::optional<graph::Graph> outline_loops(const graph::Graph& graph,
                                          const std::function<bool(graph::FunctionId)>& is_chosen,
                                          std::string& reason);

}  // namespace hiaton::exec
