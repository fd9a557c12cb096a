// By what kind of instruction an operation runs. Operations that have a kernel for scalars run by that.
#pragma once

#include "exec/direct/compile/ownership.h"
#include "exec/direct/compile/scalar_kernels.h"
#include "exec/direct/compile/structure.h"
#include "hiaton/op.h"

namespace hiaton::exec::direct {

/// The length of a string and its code points have instructions of their own, which only look at it.
bool is_string_length(const graph::Node& node);
bool is_code_point(const graph::Node& node);

/// Whether the operation is one instruction on tensors, or on scalars that only its tensor kernel takes.
bool is_tensor_operation(const graph::Graph& graph, const Structure& structure, const graph::Node& node);

}  // namespace hiaton::exec::direct
