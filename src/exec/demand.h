// Demand-driven evaluation by the rules of the static tagged graph: a value is computed when it is asked for.
//
// A demand for an output under a tag goes backward along the edges on which tokens travel forward in
// hiaton/graph.h, and is answered with the value of the token that would have come:
//
//   Op           demands its inputs under its own tag
//   Merge of an if     demands the predicate, then the input of the side that is taken
//   Merge of a parameter   under i:t demands the argument at call site i, under t
//   Return_i     under t demands the result of the callee under i:t
//   Exit         under t demands the predicate of the loop under 0:t, 1:t, ... until it is false under n:t,
//   and
//                then its input under n:t
//   Merge of a loop variable   under 0:t demands the Enter, whose input is under t; under n+1:t the
//                NextIteration, whose input is under n:t
//   make         gives a data value at once; its fields are inputs that are not demanded before the field is
//
// Each output is computed at most once under each tag. There are no dead tokens. One thread, and a stack of
// demands: the oracle of the production executor's demand-driven evaluation.
#pragma once

#include <span>

#include "hiaton/graph.h"
#include "hiaton/run.h"

namespace hiaton::exec {

/// Throws RunError, and ProgramError where the graph has no structure of branches and loops.
RunResult run_demand(const graph::Graph& graph, std::span<const Value> arguments, const RunOptions& options);

}  // namespace hiaton::exec
