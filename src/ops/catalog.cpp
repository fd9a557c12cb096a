#include "ops/families.h"

namespace hiaton {

const Catalog& catalog() {
  using namespace ops;
  static const Catalog all({
      &add,
      &sub,
      &mul,
      &div,
      &rem,
      &ops::min,
      &ops::max,
      &neg,
      &ops::abs,  //
      &eq,
      &ne,
      &lt,
      &le,
      &gt,
      &ge,  //
      &logical_and,
      &logical_or,
      &logical_not,
      &ops::identity,  //
      &ops::sqrt,
      &ops::exp,
      &ops::log,
      &ops::sin,
      &ops::cos,
      &ops::tan,  //
      &ops::asin,
      &ops::acos,
      &ops::atan,
      &ops::sinh,
      &ops::cosh,
      &ops::tanh,  //
      &ops::floor,
      &ops::ceil,
      &ops::round,
      &ops::trunc,
      &ops::pow,
      &ops::atan2,  //
      &to_bool,
      &to_i32,
      &to_i64,
      &to_f32,
      &to_f64,  //
      &sigmoid,
      &relu,
      &tanh_gradient,
      &sigmoid_gradient,
      &relu_gradient,  //
      &matmul,
      &matmul_nt,
      &matmul_tn,
      &dot,
      &outer,  //
      &concat,
      &stack,
      &slice,
      &take,
      &slice_half,
      &pad,
      &pad_like,
      &slice_like,
      &concat_part,  //
      &zeros_like,
      &ones_like,
      &sum_like,
      &broadcast_like,
      &broadcast_to,
      &expand_like,  //
      &reshape,
      &reshape_like,
      &transpose,
      &ops::size,  //
      &gather,
      &scatter_rows,
      &scatter_add,  //
      &sum,
      &mean,
      &reduce_max,
      &logsumexp,
      &argmax,  //
      &softmax,
      &softmax_gradient,
      &log_softmax,
      &log_softmax_gradient,  //
      &cross_entropy,
      &cross_entropy_gradient,  //
      &where,
      &ops::uniform,
      &ops::normal,
      &dropout,  //
      &check_shape,
      &check_size,
      &check_rows,
      &conv2d,
      &conv2d_input_gradient,
      &conv2d_filter_gradient,
      &avg_pool2d,
      &avg_pool2d_gradient,
      &max_pool2d,
      &take_largest2d,
      &take_largest2d_gradient,  //
      &make,
      &variant,
      &field,
      &field_or_zero,
      &pass_after,
  });
  return all;
}

}  // namespace hiaton
