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

template <class T>
using Convolve = void (*)(const kernels::Convolution&, const T*, const T*, T*);
template <class T>
void convolve_all(const KernelCall& call, const kernels::Convolution& shape, Convolve<T> f) {
  for (int64_t i = 0; i < call.batch; ++i) {
    f(shape, call.operands[0].at<T>(i), call.operands[1].at<T>(i), call.result.at<T>(i));
  }
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
  for_float(call.result.dtype, [&]<class T>(T) { convolve_all<T>(call, shape, kernels::convolve<T>); });
  return Fault::None;
}

Fault conv2d_input_gradient_kernel(const KernelCall& call) {
  const kernels::Convolution shape = convolution(call, call.result.dims, call.operands[1].dims);
  for_float(call.result.dtype,
            [&]<class T>(T) { convolve_all<T>(call, shape, kernels::convolve_input_gradient<T>); });
  return Fault::None;
}

Fault conv2d_filter_gradient_kernel(const KernelCall& call) {
  const kernels::Convolution shape = convolution(call, call.operands[1].dims, call.result.dims);
  for_float(call.result.dtype,
            [&]<class T>(T) { convolve_all<T>(call, shape, kernels::convolve_filter_gradient<T>); });
  return Fault::None;
}

Fault avg_pool2d_kernel(const KernelCall& call) {
  const TensorArgument& x = call.operands[0];
  for_float(x.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < call.batch; ++i) {
      kernels::average_pool<T>(pooling(call, x.dims), x.at<T>(i), call.result.at<T>(i));
    }
  });
  return Fault::None;
}

Fault avg_pool2d_gradient_kernel(const KernelCall& call) {
  for_float(call.result.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < call.batch; ++i) {
      kernels::average_pool_gradient<T>(pooling(call, call.result.dims), call.operands[0].at<T>(i),
                                        call.result.at<T>(i));
    }
  });
  return Fault::None;
}

Fault max_pool2d_kernel(const KernelCall& call) {
  const TensorArgument& x = call.operands[0];
  for_float(x.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < call.batch; ++i) {
      kernels::take_largest<T>(pooling(call, x.dims), x.at<T>(i), x.at<T>(i), call.result.at<T>(i));
    }
  });
  return Fault::None;
}

Fault take_largest2d_kernel(const KernelCall& call) {
  const TensorArgument& x = call.operands[0];
  for_float(x.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < call.batch; ++i) {
      kernels::take_largest<T>(pooling(call, x.dims), x.at<T>(i), call.operands[1].at<T>(i),
                               call.result.at<T>(i));
    }
  });
  return Fault::None;
}

Fault take_largest2d_gradient_kernel(const KernelCall& call) {
  const TensorArgument& x = call.operands[0];
  for_float(x.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < call.batch; ++i) {
      kernels::take_largest_gradient<T>(pooling(call, x.dims), x.at<T>(i), call.operands[1].at<T>(i),
                                        call.result.at<T>(i));
    }
  });
  return Fault::None;
}

}  // namespace hiaton::ops
