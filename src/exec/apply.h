// Applying an operation to values.
#pragma once

#include <span>

#include "hiaton/graph.h"
#include "hiaton/run.h"

namespace hiaton::exec {

/// Applies the operation of an Op node; on success `result` is its value.
Fault apply(const graph::Node& node, std::span<const Value> operands, OverflowMode mode, Value& result);

/// The value of a Const node: its own, or that of a parameter of the program.
const Value& constant_of(const graph::Node& node, const RunOptions& options);

/// What an Accumulate node adds for these operands. Nothing where `gradients` is null.
void accumulate(const graph::Node& node, std::span<const Value> operands, Gradients* gradients);

}  // namespace hiaton::exec
