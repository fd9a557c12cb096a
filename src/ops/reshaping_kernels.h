// Kernels that put elements of any type elsewhere, or repeat them.
#pragma once

#include "hiaton/op.h"

namespace hiaton::ops {

Fault zeros_kernel(const KernelCall& call);
Fault iota_kernel(const KernelCall& call);
Fault ones_kernel(const KernelCall& call);
/// The elements of the first operand in their order.
Fault copy_kernel(const KernelCall& call);
/// The first operand stretched to the shape of the result, as broadcasting does.
Fault broadcast_kernel(const KernelCall& call);
/// The first operand, which lacks the axes that the attributes name (all, if none) of the result, repeated
/// along them.
Fault expand_kernel(const KernelCall& call);
/// Attributes: the permutation.
Fault transpose_kernel(const KernelCall& call);
/// Attribute axis: the size of the operand along it.
Fault size_kernel(const KernelCall& call);
/// The sum over what broadcasting the result to the shape of the first operand would repeat.
Fault sum_like_kernel(const KernelCall& call);

/// Where each axis of a transposed tensor comes from; empty permutations reverse. Throws ProgramError where
/// it is no permutation.
std::vector<std::size_t> permutation_of(std::span<const int64_t> attributes, std::size_t rank);

}  // namespace hiaton::ops
