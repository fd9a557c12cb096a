// Puts what stands in each block of a structure into the order in which it is executed.
#pragma once

#include <string>
#include <vector>

#include "exec/direct/compile/structure.h"

namespace hiaton::exec::direct {

/// Why a graph has no structure.
struct Unstructured {
  std::string reason;
};

/// What a block is inside its parent: a side of a conditional, or the condition or body of a loop.
struct Place {
  enum class Kind : uint8_t { Function, Side, LoopCondition } kind = Kind::Function;
  uint32_t index = 0;  ///< of the conditional or loop
  uint32_t depth = 0;
};

/// Whether a node gives its first operand on unchanged, so that its value needs no place of its own.
bool passes_operand_on(const graph::Node& node);

/// Fills Block::items and Block::has_calls of all blocks; `places` is by block. Throws Unstructured where two
/// branches of one predicate need each other's results.
void order_items(const graph::Graph& graph, const std::vector<Place>& places, Structure& structure);

}  // namespace hiaton::exec::direct
