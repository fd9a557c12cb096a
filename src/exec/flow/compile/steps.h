// Operations as steps of regions, and faster ways to run those of batched ones.
#pragma once

#include "exec/flow/plan.h"

namespace hiaton::exec::flow {

SlotKind slot_kind(const Type& type);

/// The operation as a step that runs in a batch or in its frame. Its operands are not known yet, nor what
/// follows from them.
Step step_of(const graph::Graph& graph, graph::NodeId node, bool is_batched, OverflowMode overflow);

/// Gives the steps of batched regions the code that runs them fastest, with the same results but for
/// rounding. A product with a parameter of rank 2 runs on the packed parameter; a bias that is all that is
/// ever done to the product is added on the way. A slice of the first axis that no frame keeps is a view.
/// The plan is complete otherwise: which steps frames keep is known.
void choose_fast_steps(const graph::Graph& graph, Plan& plan);

}  // namespace hiaton::exec::flow
