// Applying an operation.
#pragma once

#include <array>
#include <span>

#include "base/check.h"
#include "hiaton/graph.h"

namespace hiaton::exec {

/// Applies the operation of an Op node; on success `result` is its value.
inline Fault apply(const graph::Node& node, std::span<const Value> operands, OverflowMode mode,
                   Value& result) {
  constexpr std::size_t kMostOperands = 8;
  std::array<Slot, kMostOperands> slots;
  HIATON_CHECK(!operands.empty() && operands.size() <= kMostOperands);
  for (std::size_t i = 0; i < operands.size(); ++i) slots[i] = operands[i].slot();
  const KernelVariant* variant = node.op->find_kernel(operands[0].dtype());
  HIATON_CHECK(variant != nullptr);
  Slot out;
  const Fault fault = (mode == OverflowMode::Trap ? variant->trap : variant->wrap)(slots.data(), &out);
  result = Value(node.type.dtype, out);
  return fault;
}

}  // namespace hiaton::exec
