// Elementwise steps of a batch that run together.
#pragma once

#include <span>

#include "hiaton/op.h"

namespace hiaton::exec::flow {

/// An elementwise step for the instances of a batch.
struct ElementwiseStep {
  /// Where the instances of a tensor stand: the first, and how many bytes it is from one to the next.
  struct Operand {
    std::byte* first = nullptr;
    int64_t stride = 0;
  };
  LineKernel kernel;
  Operand a, b, out;  ///< b: null, where the kernel reads one operand
};

/// Runs the steps in their order, for all instances. `size`: elements of an instance, `bytes` each.
void run_elementwise_steps(std::span<const ElementwiseStep> steps, int64_t batch, int64_t size,
                           int64_t bytes);

}  // namespace hiaton::exec::flow
