// The kernels that operations on scalars run by.
#pragma once

#include <algorithm>

#include "base/check.h"
#include "exec/direct/compile/structure.h"
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

}  // namespace hiaton::exec::direct
