// Kernels of pooling, on images: tensors [channels, height, width] or [images, channels, height, width].
//
// Attributes: the size of windows, stride and padding, each for rows and for columns.
#pragma once

#include "hiaton/op.h"

namespace hiaton::ops {

/// Operand: images.
Fault avg_pool2d_kernel(const KernelCall& call);
/// Operands: the gradient of the result, images of which only the shape counts.
Fault avg_pool2d_gradient_kernel(const KernelCall& call);
/// Operand: images.
Fault max_pool2d_kernel(const KernelCall& call);
/// Operands: images, others of their shape of which the elements are taken where the images are largest.
Fault take_largest2d_kernel(const KernelCall& call);
/// Operands: images, the gradient of the result.
Fault take_largest2d_gradient_kernel(const KernelCall& call);

}  // namespace hiaton::ops
