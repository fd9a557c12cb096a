#include "ops/convolution_kernels.h"

#include "kernels/convolution.h"
#include "ops/instances.h"

namespace hiaton::ops {
namespace {

/// One instance is one convolution: how many there are changes nothing about it. Along one axis it is one of
/// images of a single row.
template <std::size_t axes>
kernels::Convolution convolution_of(const KernelCall& call, std::span<const int64_t> x,
                                    std::span<const int64_t> w) {
  const std::size_t channels = x.size() - 1 - axes;
  kernels::Convolution shape{.images = product(x.first(channels)),
                             .channels = x[channels],
                             .width = x.back(),
                             .outputs = w[0],
                             .filter_width = w.back(),
                             .groups = call.attributes[3 * axes]};
  if (axes == 2) {
    shape.height = x[channels + 1];
    shape.filter_height = w[2];
  }
  for (std::size_t i = 0; i < axes; ++i) {
    const std::size_t axis = 2 - axes + i;
    shape.stride[axis] = call.attributes[i];
    shape.padding[axis] = call.attributes[axes + i];
    shape.dilation[axis] = call.attributes[2 * axes + i];
  }
  return shape;
}

/// Calls kernel(first operand, second operand, result) for each instance.
template <class F>
Fault convolve_all(const KernelCall& call, F kernel) {
  for_float(call.result.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < call.batch; ++i) {
      const T* first = call.operands[0].at<T>(i);
      const T* second = call.operands[1].at<T>(i);
      kernel(first, second, call.result.at<T>(i));
    }
  });
  return Fault::None;
}

}  // namespace

template <std::size_t axes>
Fault convolution_kernel(const KernelCall& call) {
  const auto shape = convolution_of<axes>(call, call.operands[0].dims, call.operands[1].dims);
  return convolve_all(call,
                      [&](const auto* x, const auto* w, auto* y) { kernels::convolve(shape, x, w, y); });
}

template <std::size_t axes>
Fault convolution_input_gradient_kernel(const KernelCall& call) {
  const auto shape = convolution_of<axes>(call, call.result.dims, call.operands[1].dims);
  return convolve_all(call, [&](const auto* g, const auto* w, auto* dx) {
    kernels::convolve_input_gradient(shape, g, w, dx);
  });
}

template <std::size_t axes>
Fault convolution_filter_gradient_kernel(const KernelCall& call) {
  const auto shape = convolution_of<axes>(call, call.operands[1].dims, call.result.dims);
  return convolve_all(call, [&](const auto* g, const auto* x, auto* dw) {
    kernels::convolve_filter_gradient(shape, g, x, dw);
  });
}

template Fault convolution_kernel<1>(const KernelCall&);
template Fault convolution_kernel<2>(const KernelCall&);
template Fault convolution_input_gradient_kernel<1>(const KernelCall&);
template Fault convolution_input_gradient_kernel<2>(const KernelCall&);
template Fault convolution_filter_gradient_kernel<1>(const KernelCall&);
template Fault convolution_filter_gradient_kernel<2>(const KernelCall&);

}  // namespace hiaton::ops
