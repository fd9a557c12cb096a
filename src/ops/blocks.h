// Kernels that join tensors along one axis and take slices of them, for elements of any type.
#pragma once

#include "hiaton/op.h"

namespace hiaton::ops {

/// Makes the operands contiguous along the attribute axis, an axis of the result. Where they lack that axis
/// they have size 1 there.
Fault concat_kernel(const KernelCall& call);
/// Attributes axis, start, length.
Fault slice_kernel(const KernelCall& call);
/// Operands x, like; attributes axis, start: as long as `like`.
Fault slice_like_kernel(const KernelCall& call);
/// Operands x, start, ..; attribute axis: as long as the result.
Fault slice_at_kernel(const KernelCall& call);
/// Operands part, start, like; attribute axis: the part in zeros.
Fault pad_at_kernel(const KernelCall& call);
/// Attributes axis, index: a slice of length 1, without its axis.
Fault take_kernel(const KernelCall& call);
/// Attributes axis, index: the first or second half.
Fault slice_half_kernel(const KernelCall& call);
/// Attributes axis, before, ..: the first operand with zeros around it.
Fault pad_kernel(const KernelCall& call);
/// Operands whole, parts...; attributes axis, index: what stands in `whole` where the part number `index`
/// does in the concatenation of the parts.
Fault part_kernel(const KernelCall& call);

}  // namespace hiaton::ops
