#include "ops/reduction_kernels.h"

#include <algorithm>
#include <limits>

#include "kernels/rows.h"
#include "kernels/scalar.h"
#include "ops/reduction.h"
#include "ops/shapes.h"

namespace hiaton::ops {
namespace {

std::vector<bool> chosen_axes(const KernelCall& call) {
  return axes_of(call.attributes, call.operands[0].dims.size());
}

template <class T>
using AlongLines = void (*)(const kernels::AxisLayout&, const T*, T*);
template <class T>
using GradientAlongLines = void (*)(const kernels::AxisLayout&, const T*, const T*, T*);

kernels::AxisLayout layout_of(const KernelCall& call) {
  const std::span<const int64_t> dims = call.operands[0].dims;
  const std::size_t axis = axis_of(call.attributes[0], dims.size());
  return {product(dims.first(axis)), dims[axis], product(dims.subspan(axis + 1))};
}

template <class T>
Fault along_lines(const KernelCall& call, AlongLines<T> f) {
  kernels::AxisLayout layout = layout_of(call);
  const TensorArgument& x = call.operands[0];
  if (is_dense(call, x)) {
    layout.outer *= call.batch;
    f(layout, x.at<T>(0), call.result.at<T>(0));
    return Fault::None;
  }
  for (int64_t i = 0; i < call.batch; ++i) f(layout, x.at<T>(i), call.result.at<T>(i));
  return Fault::None;
}

template <class T>
Fault along_lines(const KernelCall& call, GradientAlongLines<T> f) {
  kernels::AxisLayout layout = layout_of(call);
  const TensorArgument& y = call.operands[0];
  const TensorArgument& g = call.operands[1];
  if (is_dense(call, y) && is_dense(call, g)) {
    layout.outer *= call.batch;
    f(layout, y.at<T>(0), g.at<T>(0), call.result.at<T>(0));
    return Fault::None;
  }
  for (int64_t i = 0; i < call.batch; ++i) f(layout, y.at<T>(i), g.at<T>(i), call.result.at<T>(i));
  return Fault::None;
}

/// Folds the elements along the axis, from `first` on, as f(sum, element) says.
template <class T, class F>
auto fold(T first, F f) {
  return [first, f](const kernels::AxisLayout& layout, const T* x, T* out) {
    for (int64_t o = 0; o < layout.outer; ++o, x += layout.axis * layout.inner, out += layout.inner) {
      std::fill_n(out, layout.inner, first);
      for (int64_t k = 0; k < layout.axis; ++k) {
        for (int64_t i = 0; i < layout.inner; ++i) out[i] = f(out[i], x[k * layout.inner + i]);
      }
    }
  };
}

/// Truth values, each a byte.
template <class F>
Fault fold_truth(const KernelCall& call, bool first, F f) {
  reduce<uint8_t, uint8_t>(call, call.operands[0], chosen_axes(call), fold<uint8_t>(first ? 1 : 0, f));
  return Fault::None;
}

/// The labels of one instance.
bool labels_are_classes(const TensorArgument& labels, int64_t instance, int64_t classes) {
  const auto count = static_cast<std::size_t>(labels.size());
  return kernels::first_outside(std::span<const int64_t>(labels.at<int64_t>(instance), count), classes) < 0;
}

/// Calls f(first instance, number of rows): once where all instances stand together, else for each.
template <class F>
Fault for_rows(const KernelCall& call, F f) {
  const TensorArgument& labels = call.operands[1];
  const int64_t classes = call.operands[0].dims.back();
  bool dense = true;
  for (const TensorArgument& operand : call.operands) dense = dense && is_dense(call, operand);
  for (int64_t i = 0; i < (labels.stride == 0 ? 1 : call.batch); ++i) {
    if (!labels_are_classes(labels, i, classes)) return Fault::Index;
  }
  if (dense) {
    f(0, call.batch * labels.size());
  } else {
    for (int64_t i = 0; i < call.batch; ++i) f(i, labels.size());
  }
  return Fault::None;
}

}  // namespace

Fault sum_kernel(const KernelCall& call) {
  const TensorArgument& x = call.operands[0];
  for_number(x.dtype, [&]<class T>(T) { reduce<T, T>(call, x, chosen_axes(call), kernels::sum<T>); });
  return Fault::None;
}

Fault mean_kernel(const KernelCall& call) {
  const TensorArgument& x = call.operands[0];
  for_float(x.dtype, [&]<class T>(T) { reduce<T, T>(call, x, chosen_axes(call), kernels::mean<T>); });
  return Fault::None;
}

Fault reduce_max_kernel(const KernelCall& call) {
  const TensorArgument& x = call.operands[0];
  for_number(x.dtype, [&]<class T>(T) { reduce<T, T>(call, x, chosen_axes(call), kernels::max<T>); });
  return Fault::None;
}

Fault reduce_min_kernel(const KernelCall& call) {
  const TensorArgument& x = call.operands[0];
  for_number(x.dtype, [&]<class T>(T) {
    using Limits = std::numeric_limits<T>;
    const T none = Limits::has_infinity ? Limits::infinity() : Limits::max();
    reduce<T, T>(call, x, chosen_axes(call), fold<T>(none, kernels::Min{}));
  });
  return Fault::None;
}

Fault any_kernel(const KernelCall& call) {
  return fold_truth(call, false, [](uint8_t a, uint8_t b) { return static_cast<uint8_t>(a | b); });
}

Fault all_kernel(const KernelCall& call) {
  return fold_truth(call, true, [](uint8_t a, uint8_t b) { return static_cast<uint8_t>(a & b); });
}

Fault logsumexp_kernel(const KernelCall& call) {
  const TensorArgument& x = call.operands[0];
  for_float(x.dtype, [&]<class T>(T) { reduce<T, T>(call, x, chosen_axes(call), kernels::logsumexp<T>); });
  return Fault::None;
}

Fault argmax_kernel(const KernelCall& call) {
  const TensorArgument& x = call.operands[0];
  const std::size_t axis = axis_of(call.attributes[0], x.dims.size());
  if (x.dims[axis] == 0) return Fault::Index;
  std::vector<bool> chosen(x.dims.size());
  chosen[axis] = true;
  for_number(x.dtype, [&]<class T>(T) { reduce<T, int64_t>(call, x, chosen, kernels::argmax<T>); });
  return Fault::None;
}

Fault softmax_kernel(const KernelCall& call) {
  return for_float(call.result.dtype,
                   [&]<class T>(T) { return along_lines<T>(call, AlongLines<T>(kernels::softmax<T>)); });
}

Fault log_softmax_kernel(const KernelCall& call) {
  return for_float(call.result.dtype,
                   [&]<class T>(T) { return along_lines<T>(call, AlongLines<T>(kernels::log_softmax<T>)); });
}

Fault softmax_gradient_kernel(const KernelCall& call) {
  return for_float(call.result.dtype, [&]<class T>(T) {
    return along_lines<T>(call, GradientAlongLines<T>(kernels::softmax_gradient<T>));
  });
}

Fault log_softmax_gradient_kernel(const KernelCall& call) {
  return for_float(call.result.dtype, [&]<class T>(T) {
    return along_lines<T>(call, GradientAlongLines<T>(kernels::log_softmax_gradient<T>));
  });
}

Fault cross_entropy_kernel(const KernelCall& call) {
  const TensorArgument& logits = call.operands[0];
  return for_float(logits.dtype, [&]<class T>(T) {
    return for_rows(call, [&](int64_t i, int64_t rows) {
      kernels::cross_entropy<T>(rows, logits.dims.back(), logits.at<T>(i), call.operands[1].at<int64_t>(i),
                                call.result.at<T>(i));
    });
  });
}

Fault cross_entropy_gradient_kernel(const KernelCall& call) {
  const TensorArgument& logits = call.operands[0];
  return for_float(logits.dtype, [&]<class T>(T) {
    return for_rows(call, [&](int64_t i, int64_t rows) {
      kernels::cross_entropy_gradient<T>(rows, logits.dims.back(), logits.at<T>(i),
                                         call.operands[1].at<int64_t>(i), call.operands[2].at<T>(i),
                                         call.result.at<T>(i));
    });
  });
}

}  // namespace hiaton::ops
