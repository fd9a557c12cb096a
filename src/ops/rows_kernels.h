// Kernels on rows of a table, chosen by number. A number out of range is a fault.
#pragma once

#include "hiaton/op.h"

namespace hiaton::ops {

/// Operands table [r, ...], rows [..]: the rows [.., ...].
Fault gather_kernel(const KernelCall& call);
/// Operands values [.., ...], rows [..], like [r, ...]: zeros, with the values added to the rows.
Fault scatter_rows_kernel(const KernelCall& call);
/// Operands x [r, ...], rows [..], values [.., ...]: x with the values added to the rows.
Fault scatter_add_kernel(const KernelCall& call);

}  // namespace hiaton::ops
