// The production executor for programs with tensors, data values or several phases.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "exec/flow_plan.h"
#include "hiaton/run.h"

namespace hiaton::exec {

/// Whether the program has what only this executor runs.
bool needs_flow(const graph::Graph& graph);

/// Runs the program for each argument list; batches go across them. With several workers each runs a part of
/// the lists. Throws RunError.
std::vector<std::vector<Value>> run_flow(const graph::Graph& graph, const flow::Plan& plan,
                                         std::span<const std::vector<Value>> arguments,
                                         const RunOptions& options, RunStats& stats);

}  // namespace hiaton::exec
