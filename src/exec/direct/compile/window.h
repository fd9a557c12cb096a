// Finds what iterations of a loop may run at once.
//
// Where a body calls functions with values that do not themselves come from calls of an earlier iteration,
// the loop can run ahead: it computes those values for several iterations, makes their calls free to be
// stolen, and then does the rest of the iterations in order. Calls that are not there for the taking (in a
// branch, or of another call's result) are made by a task of the iteration, which is then free to be stolen
// instead.
#pragma once

#include <optional>
#include <vector>

#include "exec/direct/compile/outlined_task.h"
#include "exec/structure.h"

namespace hiaton::exec::direct {

struct Window {
  std::vector<TaskItem> ahead;         ///< needs no call of this or an earlier iteration
  std::vector<graph::CallSite> calls;  ///< calls whose arguments need no task; empty where there is one
  std::optional<OutlinedTask> task;
  std::vector<Item> rest;            ///< the rest of the body, in order
  std::vector<bool> variable_waits;  ///< by variable of the loop: its next value needs a call
};

/// Nothing where no call can be made ahead.
std::optional<Window> find_window(const graph::Graph& graph, const Structure& structure, graph::LoopId loop);

}  // namespace hiaton::exec::direct
