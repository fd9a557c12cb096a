// Which functions run depth first in threaded code, and which as items that wait for batches.
#pragma once

#include <cstdint>
#include <vector>

#include "hiaton/graph.h"

namespace hiaton::exec {

/// Whether operations on tensors may be instructions of direct code.
enum class TensorsIn : uint8_t { FlowOnly, DirectCode };

/// By function: whether it is *direct*: it has one phase, and nothing that it reaches holds a tensor or reads
/// a learned parameter, unless tensors may be in direct code and the program has no data values. A function
/// that is not is *flow*. Direct functions call direct functions only.
std::vector<bool> direct_functions(const graph::Graph& graph, TensorsIn tensors = TensorsIn::FlowOnly);

/// Whether the program begins with a direct function.
bool is_direct(const graph::Graph& graph, TensorsIn tensors);

}  // namespace hiaton::exec
