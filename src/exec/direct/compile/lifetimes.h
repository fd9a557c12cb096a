// How often the values of a structure are read: how long their slots must be kept.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/structure.h"

namespace hiaton::exec::direct {

struct Lifetimes {
  /// By node: reads of its value, and one more for each loop around a read that the value comes from outside
  /// of (it must outlive the last iteration).
  std::vector<uint32_t> reads;
  /// By node: reads of a loop variable in the body of its loop.
  std::vector<uint32_t> body_reads;
  /// By LoopId: values from outside that are read inside.
  std::vector<std::vector<graph::NodeId>> kept_through;
  /// By LoopId: the body reads values that the condition computes.
  std::vector<bool> body_needs_condition;
};

Lifetimes measure(const graph::Graph& graph, const Structure& structure);

}  // namespace hiaton::exec::direct
