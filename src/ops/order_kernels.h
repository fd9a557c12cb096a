// Kernels that work on each line of a tensor along one axis: sums up to each place, order, and elements
// chosen by number. Attribute: the axis, the last of the attributes where there are others. Also kernels on
// rows of a table, chosen by number: one that is out of range is a fault.
#pragma once

#include "hiaton/op.h"

namespace hiaton::ops {

Fault cumsum_kernel(const KernelCall& call);
Fault flip_kernel(const KernelCall& call);
/// Attribute diagonal: of matrices, the last two axes.
Fault tril_kernel(const KernelCall& call);
Fault triu_kernel(const KernelCall& call);

/// Attributes descending, axis.
Fault sort_kernel(const KernelCall& call);
Fault argsort_kernel(const KernelCall& call);
/// Attributes k, axis.
Fault top_k_kernel(const KernelCall& call);
Fault top_k_indices_kernel(const KernelCall& call);

/// Operands x, indices.
Fault take_along_axis_kernel(const KernelCall& call);
/// Operands values, indices, like.
Fault scatter_along_axis_kernel(const KernelCall& call);
/// Operand labels; attribute: the number of classes.
Fault one_hot_kernel(const KernelCall& call);

/// Operands table [r, ...], rows [..]: the rows [.., ...].
Fault gather_kernel(const KernelCall& call);
/// Operands values [.., ...], rows [..], like [r, ...]: zeros, with the values added to the rows.
Fault scatter_rows_kernel(const KernelCall& call);
/// Operands x [r, ...], rows [..], values [.., ...]: x with the values added to the rows.
Fault scatter_add_kernel(const KernelCall& call);
/// Operands x [a, b, ..], numbers of a place, one for each of the first axes: what stands there.
Fault at_kernel(const KernelCall& call);
/// Operands x, value, numbers of a place: x with the value there.
Fault set_at_kernel(const KernelCall& call);
Fault add_at_kernel(const KernelCall& call);
/// Operands x [r, ...], row [...]: the rows [r + 1, ...].
Fault append_row_kernel(const KernelCall& call);
/// Operand x [r, ...]: the rows [r - 1, ...].
Fault drop_last_row_kernel(const KernelCall& call);

}  // namespace hiaton::ops
