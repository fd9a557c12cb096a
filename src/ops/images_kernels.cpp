#include "ops/images_kernels.h"

#include "kernels/convolution.h"
#include "kernels/pooling.h"
#include "ops/instances.h"

namespace hiaton::ops {
namespace {

int64_t from_end(std::span<const int64_t> dims, std::size_t place) {
  return dims[dims.size() - place];
}

/// One instance is one convolution: how many there are changes nothing about it.
kernels::Convolution convolution(const KernelCall& call, std::span<const int64_t> x,
                                 std::span<const int64_t> w) {
  return {.images = product(x.first(x.size() - 3)),
          .channels = from_end(x, 3),
          .height = from_end(x, 2),
          .width = from_end(x, 1),
          .outputs = w[0],
          .filter_height = w[2],
          .filter_width = w[3],
          .stride = call.attributes[0],
          .padding = call.attributes[1]};
}

/// Calls f(T{}, i) for each instance i, T being the element type.
template <class F>
Fault for_instances(const KernelCall& call, F f) {
  for_float(call.result.dtype, [&]<class T>(T type) {
    for (int64_t i = 0; i < call.batch; ++i) f(type, i);
  });
  return Fault::None;
}

template <class F>
Fault convolve_all(const KernelCall& call, F kernel) {
  return for_instances(call, [&]<class T>(T, int64_t i) {
    const T* first = call.operands[0].at<T>(i);
    const T* second = call.operands[1].at<T>(i);
    kernel(first, second, call.result.at<T>(i));
  });
}

kernels::Pooling pooling(const KernelCall& call, std::span<const int64_t> x) {
  return {.planes = product(x.first(x.size() - 2)),
          .height = from_end(x, 2),
          .width = from_end(x, 1),
          .size = call.attributes[0],
          .stride = call.attributes[1]};
}

}  // namespace

Fault conv2d_kernel(const KernelCall& call) {
  const kernels::Convolution shape = convolution(call, call.operands[0].dims, call.operands[1].dims);
  return convolve_all(call,
                      [&](const auto* x, const auto* w, auto* y) { kernels::convolve(shape, x, w, y); });
}

Fault conv2d_input_gradient_kernel(const KernelCall& call) {
  const kernels::Convolution shape = convolution(call, call.result.dims, call.operands[1].dims);
  return convolve_all(call, [&](const auto* g, const auto* w, auto* dx) {
    kernels::convolve_input_gradient(shape, g, w, dx);
  });
}

Fault conv2d_filter_gradient_kernel(const KernelCall& call) {
  const kernels::Convolution shape = convolution(call, call.operands[1].dims, call.result.dims);
  return convolve_all(call, [&](const auto* g, const auto* x, auto* dw) {
    kernels::convolve_filter_gradient(shape, g, x, dw);
  });
}

Fault avg_pool2d_kernel(const KernelCall& call) {
  const TensorArgument& x = call.operands[0];
  return for_instances(call, [&]<class T>(T, int64_t i) {
    kernels::average_pool(pooling(call, x.dims), x.at<T>(i), call.result.at<T>(i));
  });
}

Fault avg_pool2d_gradient_kernel(const KernelCall& call) {
  return for_instances(call, [&]<class T>(T, int64_t i) {
    kernels::average_pool_gradient(pooling(call, call.result.dims), call.operands[0].at<T>(i),
                                   call.result.at<T>(i));
  });
}

Fault max_pool2d_kernel(const KernelCall& call) {
  const TensorArgument& x = call.operands[0];
  return for_instances(call, [&]<class T>(T, int64_t i) {
    kernels::take_largest(pooling(call, x.dims), x.at<T>(i), x.at<T>(i), call.result.at<T>(i));
  });
}

Fault take_largest2d_kernel(const KernelCall& call) {
  const TensorArgument& x = call.operands[0];
  return for_instances(call, [&]<class T>(T, int64_t i) {
    kernels::take_largest(pooling(call, x.dims), x.at<T>(i), call.operands[1].at<T>(i), call.result.at<T>(i));
  });
}

Fault take_largest2d_gradient_kernel(const KernelCall& call) {
  const TensorArgument& x = call.operands[0];
  return for_instances(call, [&]<class T>(T, int64_t i) {
    kernels::take_largest_gradient(pooling(call, x.dims), x.at<T>(i), call.operands[1].at<T>(i),
                                   call.result.at<T>(i));
  });
}

}  // namespace hiaton::ops
