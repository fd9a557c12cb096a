// The structure of functions as direct code needs it: blocks, and in each block items in an order in which
// every value is computed before it is read. Calls, or branches and loops with calls, that do not need each
// other stand together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exec/structure.h"

namespace hiaton::exec::direct {

/// The structure of these functions, which call no others, or nothing and in `reason` why there is none.
std::optional<Structure> find_structure(const graph::Graph& graph, std::vector<bool> functions,
                                        std::string& reason);
/// The same of all functions.
std::optional<Structure> find_structure(const graph::Graph& graph, std::string& reason);

}  // namespace hiaton::exec::direct
