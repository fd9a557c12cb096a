// Kernels of matrix products.
#pragma once

#include "hiaton/op.h"

namespace hiaton::ops {

Fault matmul_kernel(const KernelCall& call);
Fault matmul_nt_kernel(const KernelCall& call);
Fault matmul_tn_kernel(const KernelCall& call);
/// Vectors of one length: the sum of the products.
Fault dot_kernel(const KernelCall& call);

}  // namespace hiaton::ops
