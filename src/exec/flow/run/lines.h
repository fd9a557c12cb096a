// Elementwise steps of a batch that run together.
#pragma once

#include <span>

#include "hiaton/op.h"

namespace hiaton::exec::flow {

/// A step for instances of tensors, that stand so many bytes from one to the next.
struct Line {
  struct Place {
    std::byte* first = nullptr;
    int64_t step = 0;
  };
  LineKernel kernel;
  Place a, b, out;  ///< b: of none, where the kernel reads one operand
};

/// Runs each line in turn, for all instances. `size`: elements of an instance, `bytes` each.
void run_lines(std::span<const Line> lines, int64_t batch, int64_t size, int64_t bytes);

}  // namespace hiaton::exec::flow
