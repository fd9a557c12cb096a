// Kernels that reduce a tensor along axes; attributes: the axes, all if none.
#pragma once

#include "hiaton/op.h"

namespace hiaton::ops {

Fault sum_kernel(const KernelCall& call);
Fault mean_kernel(const KernelCall& call);
Fault reduce_max_kernel(const KernelCall& call);
Fault reduce_min_kernel(const KernelCall& call);
Fault any_kernel(const KernelCall& call);
Fault all_kernel(const KernelCall& call);
Fault logsumexp_kernel(const KernelCall& call);
/// Attribute: one axis. An empty one is a fault.
Fault argmax_kernel(const KernelCall& call);

// Along one axis, which stays; attribute: that axis.

Fault softmax_kernel(const KernelCall& call);
Fault log_softmax_kernel(const KernelCall& call);
/// Operands: the result y, its gradient.
Fault softmax_gradient_kernel(const KernelCall& call);
Fault log_softmax_gradient_kernel(const KernelCall& call);

/// Operands: logits [.., classes], labels [..].
Fault cross_entropy_kernel(const KernelCall& call);
/// Operands: logits, labels, the gradient of the losses.
Fault cross_entropy_gradient_kernel(const KernelCall& call);

}  // namespace hiaton::ops
