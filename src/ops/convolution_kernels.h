// Kernels of convolutions along one axis and along two: `axes` is how many. Images are tensors [channels,
// spatial axes] or [images, channels, spatial axes], filters [outputs, channels of a group, spatial axes].
//
// Attributes: for each axis the stride, for each the padding, for each the dilation, and the groups; what
// follows does not count.
#pragma once

#include "hiaton/op.h"

namespace hiaton::ops {

/// Operands: images, filters.
template <std::size_t axes>
Fault convolution_kernel(const KernelCall& call);
/// Operands: the gradient of the result, filters. The result is of the shape of the images.
template <std::size_t axes>
Fault convolution_input_gradient_kernel(const KernelCall& call);
/// Operands: the gradient of the result, images. The result is of the shape of the filters.
template <std::size_t axes>
Fault convolution_filter_gradient_kernel(const KernelCall& call);

}  // namespace hiaton::ops
