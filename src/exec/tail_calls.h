// Which calls are tail calls, by the structure of the graph alone.
#pragma once

#include <vector>

#include "exec/structure.h"

namespace hiaton::exec {

/// Says by CallSite, of the functions of the structure, whether the results of the call are, all of them and
/// in their order, the results of its function: nothing stands between them but ends of branches that give
/// nothing else, and nothing else reads them or waits for them. A machine may have reasons of its own to keep
/// the frame all the same.
std::vector<bool> find_tail_calls(const graph::Graph& graph, const Structure& structure);

}  // namespace hiaton::exec
