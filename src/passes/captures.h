// Captures: the values from outside that a branch or a loop uses.
#pragma once

#include <vector>

#include "hiaton/ir.h"

namespace hiaton::passes {

/// What crosses each boundary of a function: a value that is defined outside and used, at any depth, inside.
/// Constants do not count: their tokens are under every tag. In the order of first use.
///
/// A boundary is known by a block: that of an If by its then block (both branches count), that of a While by
/// its condition block (condition and body count), that of a While's body, which stands inside the former, by
/// the body block.
class Captures {
 public:
  explicit Captures(const ir::Function& function);

  const ir::ValueIds& of(ir::BlockId boundary) const { return by_block_[boundary.index()]; }

 private:
  std::vector<ir::ValueIds> by_block_;
};

}  // namespace hiaton::passes
