#include "ops/pool2d_kernels.h"

#include "kernels/pooling.h"
#include "ops/instances.h"

namespace hiaton::ops {
namespace {

kernels::Pooling pooling_of(const KernelCall& call, std::span<const int64_t> x) {
  const std::span<const int64_t> a = call.attributes;
  return {.planes = product(x.first(x.size() - 2)),
          .height = x[x.size() - 2],
          .width = x.back(),
          .size = {a[0], a[1]},
          .stride = {a[2], a[3]},
          .padding = {a[4], a[5]}};
}

/// Calls f(T{}, i) for each instance i, T being the element type.
template <class F>
Fault for_instances(const KernelCall& call, F f) {
  for_float(call.result.dtype, [&]<class T>(T type) {
    for (int64_t i = 0; i < call.batch; ++i) f(type, i);
  });
  return Fault::None;
}

}  // namespace

Fault avg_pool2d_kernel(const KernelCall& call) {
  const TensorArgument& x = call.operands[0];
  return for_instances(call, [&]<class T>(T, int64_t i) {
    kernels::average_pool(pooling_of(call, x.dims), x.at<T>(i), call.result.at<T>(i));
  });
}

Fault avg_pool2d_gradient_kernel(const KernelCall& call) {
  return for_instances(call, [&]<class T>(T, int64_t i) {
    kernels::average_pool_gradient(pooling_of(call, call.result.dims), call.operands[0].at<T>(i),
                                   call.result.at<T>(i));
  });
}

Fault max_pool2d_kernel(const KernelCall& call) {
  const TensorArgument& x = call.operands[0];
  return for_instances(call, [&]<class T>(T, int64_t i) {
    kernels::take_largest(pooling_of(call, x.dims), x.at<T>(i), x.at<T>(i), call.result.at<T>(i));
  });
}

Fault take_largest2d_kernel(const KernelCall& call) {
  const TensorArgument& x = call.operands[0];
  return for_instances(call, [&]<class T>(T, int64_t i) {
    kernels::take_largest(pooling_of(call, x.dims), x.at<T>(i), call.operands[1].at<T>(i),
                          call.result.at<T>(i));
  });
}

Fault take_largest2d_gradient_kernel(const KernelCall& call) {
  const TensorArgument& x = call.operands[0];
  return for_instances(call, [&]<class T>(T, int64_t i) {
    kernels::take_largest_gradient(pooling_of(call, x.dims), x.at<T>(i), call.operands[1].at<T>(i),
                                   call.result.at<T>(i));
  });
}

}  // namespace hiaton::ops
