// By what kind of instruction an operation runs. Operations that have a kernel for scalars run by that.
#pragma once

#include <algorithm>

#include "base/check.h"
#include "exec/direct/compile/ownership.h"
#include "exec/structure.h"
#include "hiaton/op.h"
#include "hiaton/run.h"

namespace hiaton::exec::direct {

/// Whether the operation runs on scalars, by a kernel of its own for them.
inline bool has_kernel(const graph::Graph& graph, const Structure& structure, const graph::Node& node) {
  const auto type_of = [&](graph::OutPort input) -> const Type& {
    return graph[structure.origin(input)].type;
  };
  return node.type.is_scalar() && !node.inputs.empty() && !node.op->kernels.empty() &&
         std::ranges::all_of(node.inputs, [&](graph::OutPort input) { return type_of(input).is_scalar(); }) &&
         node.op->find_kernel(type_of(node.inputs[0]).dtype) != nullptr;
}

/// The kernel of an operation that has one.
inline Kernel kernel_of(const graph::Graph& graph, const Structure& structure, const graph::Node& node,
                        OverflowMode overflow) {
  const KernelVariant* variant = node.op->find_kernel(graph[structure.origin(node.inputs[0])].type.dtype);
  HIATON_CHECK(variant != nullptr);
  return overflow == OverflowMode::Trap ? variant->trap : variant->wrap;
}

/// The length of a string and its code points have instructions of their own, which only look at it.
bool is_string_length(const graph::Node& node);
bool is_code_point(const graph::Node& node);

/// Whether the operation is one instruction on tensors, or on scalars that only its tensor kernel takes.
bool is_tensor_operation(const graph::Graph& graph, const Structure& structure, const graph::Node& node);

}  // namespace hiaton::exec::direct
