// The production executor: frames as tags, fused regions, direct calls, stolen calls.
#pragma once

#include <span>

#include "hiaton/graph.h"
#include "hiaton/run.h"

namespace hiaton::exec {

/// Throws RunError.
RunResult run_production(const graph::Graph& graph, std::span<const Value> arguments,
                         const RunOptions& options);

}  // namespace hiaton::exec
