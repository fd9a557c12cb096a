// Who calls whom, and loops that become calls for that reason.
#pragma once

#include <cstdint>
#include <vector>

#include "hiaton/ir.h"

namespace hiaton::passes {

struct CallGraph {
  /// By function; a callee once for each call. A gradient that is still to be derived calls what it is of.
  std::vector<std::vector<ir::FunctionId>> callees;
  std::vector<ir::FunctionId> bottom_up;  ///< callees before their callers, as far as there is no cycle
  std::vector<uint32_t> cycle;  ///< by function: the same number for those that call each other in a cycle
  std::vector<bool> recursive;  ///< by function: calls itself, perhaps through others; also those gradients
};

CallGraph call_graph(const ir::Module& module);

/// By function: whether `from` is it or calls it, perhaps through others.
std::vector<bool> reachable(const CallGraph& graph, ir::FunctionId from);

/// loops_to_calls in functions with a loop that calls one of these functions, which are marked by number.
ir::Module loops_to_calls_that_call(ir::Module module, const std::vector<bool>& functions);

}  // namespace hiaton::passes
