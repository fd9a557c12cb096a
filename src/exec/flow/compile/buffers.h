// Memory for what a batch gathers and computes, and nobody needs after it.
#pragma once

#include "exec/flow/plan.h"

namespace hiaton::exec::flow {

/// The bytes of a tensor whose dimensions are all known.
std::size_t bytes_of(const Type& type);

/// Says of the steps of batched regions which inputs are gathered before them (Step::gathers) and, where
/// shapes are fixed, in which buffers of their region gathered inputs and results stand (Region::buffers), so
/// that those which are not alive at once share one. The results that frames keep have none.
/// Also how large the chunks are in which a region runs (Region::chunk).
void share_buffers(Plan& plan, const graph::Graph& graph);

}  // namespace hiaton::exec::flow
