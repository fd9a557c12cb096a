// The families of operations; catalog.cpp lists what stands in them.
#pragma once

#include "hiaton/op.h"

namespace hiaton::ops {

// arithmetic.cpp
extern const OpDef add, sub, mul, div, rem, min, max, neg, abs;
// comparison.cpp
extern const OpDef eq, ne, lt, le, gt, ge;
// logic.cpp
extern const OpDef logical_and, logical_or, logical_not, identity;
// math.cpp
extern const OpDef sqrt, exp, log, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, floor, ceil, round,
    trunc, pow, atan2;
// activations.cpp
extern const OpDef sigmoid, relu, tanh_gradient, sigmoid_gradient, relu_gradient;
// linear_algebra.cpp
extern const OpDef matmul, matmul_nt, matmul_tn, dot, outer;
// pieces.cpp
extern const OpDef concat, stack, slice, take, slice_half, pad, pad_like, slice_like, concat_part;
// reshaping.cpp
extern const OpDef zeros_like, ones_like, sum_like, broadcast_like, broadcast_to, expand_like, reshape,
    reshape_like, transpose, size;
// checks.cpp
extern const OpDef check_shape, check_size, check_rows;
// rows.cpp
extern const OpDef gather, scatter_rows, scatter_add;
// reductions.cpp
extern const OpDef sum, mean, reduce_max, logsumexp, argmax;
// classification.cpp
extern const OpDef softmax, softmax_gradient, log_softmax, log_softmax_gradient, cross_entropy,
    cross_entropy_gradient;
// choice.cpp
extern const OpDef where;
// random.cpp
extern const OpDef uniform, normal, dropout;
// images.cpp
extern const OpDef conv2d, conv2d_input_gradient, conv2d_filter_gradient, avg_pool2d, avg_pool2d_gradient,
    max_pool2d, take_largest2d, take_largest2d_gradient;
// data.cpp
extern const OpDef make, variant, field, field_or_zero, pass_after;
// cast.cpp
extern const OpDef to_bool, to_i32, to_i64, to_f32, to_f64;

}  // namespace hiaton::ops
