// Kernels of matrix products, and of einsum, which is made of them, with how its attributes are read.
#pragma once

#include <span>
#include <vector>

#include "hiaton/op.h"

namespace hiaton::ops {

Fault matmul_kernel(const KernelCall& call);
Fault matmul_nt_kernel(const KernelCall& call);
Fault matmul_tn_kernel(const KernelCall& call);
/// Vectors of one length: the sum of the products.
Fault dot_kernel(const KernelCall& call);

/// Stands between the labels of one operand and those of the next.
inline constexpr int64_t kNextSubscripts = -1;
/// As many as there are letters.
inline constexpr int64_t kMostLabels = 52;

/// The labels of the axes, which are parts of the attributes.
struct Subscripts {
  explicit Subscripts(std::span<const int64_t> attributes);

  std::vector<std::span<const int64_t>> of_operands;
  std::span<const int64_t> of_result;
};

/// One operand after the other is joined with the product so far, by matrix products; axes that nothing after
/// them needs are summed as soon as they can be.
Fault einsum_kernel(const KernelCall& call);

}  // namespace hiaton::ops
