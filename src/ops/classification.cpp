// Class scores: softmax and the losses that come of it.
#include "ops/family.h"
#include "ops/gradients.h"
#include "ops/reduction_kernels.h"
#include "ops/shapes.h"

namespace hiaton::ops {
namespace {

Type softmax_type(const TypeQuestion& question) {
  const Type& x = question.operands[0];
  if (!x.is_tensor() || !is_float(x.dtype)) refuse("a tensor of f32 or f64", question.operands);
  axis_of(question.attributes[0], x.shape.size());
  return x;
}

Type softmax_gradient_type(const TypeQuestion& question) {
  const Type& y = question.operands[0];
  const Type& g = question.operands[1];
  if (!g.is_tensor() || g.dtype != y.dtype || !may_equal(y.shape, g.shape)) {
    refuse("tensors of one type, f32 or f64", question.operands);
  }
  return softmax_type(question);
}

bool are_logits_and_labels(std::span<const Type> operands) {
  const Type& logits = operands[0];
  const Type& labels = operands[1];
  return logits.is_tensor() && is_float(logits.dtype) && !labels.is_data() && labels.dtype == DType::I64 &&
         may_equal(std::span(logits.shape).first(logits.shape.size() - 1), labels.shape);
}

Type cross_entropy_type(const TypeQuestion& question) {
  if (!are_logits_and_labels(question.operands)) {
    refuse("logits [.., classes] of f32 or f64 and labels [..] of i64", question.operands);
  }
  return Type(question.operands[0].dtype, question.operands[1].shape);
}

Type cross_entropy_gradient_type(const TypeQuestion& question) {
  const Type& g = question.operands[2];
  if (!are_logits_and_labels(question.operands) || g.is_data() || g.dtype != question.operands[0].dtype ||
      !may_equal(g.shape, question.operands[1].shape)) {
    refuse("logits [.., classes] of f32 or f64, labels [..] of i64 and gradients [..] of the logits' type",
           question.operands);
  }
  return question.operands[0];
}

/// The sum along the axis, repeated along it.
Var line_sum(const GradientQuestion& q, Var x, int64_t axis) {
  return apply(q, "expand_like", {apply(q, "sum", {x}, {axis}), x}, {axis});
}

Var softmax_rule(const GradientQuestion& q, std::size_t) {
  return apply(q, "softmax_gradient", {q.result, q.gradient}, {q.attributes[0]});
}
Var log_softmax_rule(const GradientQuestion& q, std::size_t) {
  return apply(q, "log_softmax_gradient", {q.result, q.gradient}, {q.attributes[0]});
}

/// The gradient of the softmax gradient, y (g - sum of g y).
Var softmax_gradient_rule(const GradientQuestion& q, std::size_t index) {
  const Var y = q.operands[0];
  const Var g = q.operands[1];
  const int64_t axis = q.attributes[0];
  if (index == 1) return apply(q, "softmax_gradient", {y, q.gradient}, {axis});
  return q.gradient * (g - line_sum(q, g * y, axis)) - g * line_sum(q, q.gradient * y, axis);
}
/// The gradient of the log_softmax gradient, g - exp(y) (sum of g).
Var log_softmax_gradient_rule(const GradientQuestion& q, std::size_t index) {
  const Var weighted = q.gradient * apply(q, "exp", {q.operands[0]});
  const int64_t axis = q.attributes[0];
  if (index == 1) return q.gradient - line_sum(q, weighted, axis);
  return -weighted * line_sum(q, q.operands[1], axis);
}

Var cross_entropy_rule(const GradientQuestion& q, std::size_t) {
  return apply(q, "cross_entropy_gradient", {q.operands[0], q.operands[1], q.gradient});
}
/// The gradient of the cross_entropy gradient, g (softmax(logits) - [class = label]).
Var cross_entropy_gradient_rule(const GradientQuestion& q, std::size_t index) {
  const Var logits = q.operands[0];
  const Var g = q.operands[2];
  if (index == 2) {
    const Var slope = apply(q, "cross_entropy_gradient", {logits, q.operands[1], apply(q, "ones_like", {g})});
    return apply(q, "sum", {slope * q.gradient}, {-1});
  }
  const Var y = apply(q, "softmax", {logits}, {-1});
  return apply(q, "expand_like", {g, logits}, {-1}) * apply(q, "softmax_gradient", {y, q.gradient}, {-1});
}

}  // namespace

std::span<const OpDef> classification() {
  static const OpDef all[] = {
      {
          .name = "softmax",
          .doc = "The exponentials over their sum along the axis.",
          .operands = {"x"},
          .attributes = {{.name = "axis", .otherwise = -1}},
          .type_rule = softmax_type,
          .tensor_kernel = softmax_kernel,
          .gradient = softmax_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<double>({2}, {1000, 1000})}, tensor<double>({2}, {0.5, 0.5}), {-1}}},
      },
      {
          .name = "softmax_gradient",
          .doc = "The gradient of the operand of a softmax, from its result y and the gradient g of that.",
          .operands = {"y", "g"},
          .attributes = {{.name = "axis", .otherwise = -1}},
          .type_rule = softmax_gradient_type,
          .tensor_kernel = softmax_gradient_kernel,
          .gradient = softmax_gradient_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<double>({2}, {0.5, 0.5}), tensor<double>({2}, {1, 0})},
                       tensor<double>({2}, {0.25, -0.25}),
                       {-1}}},
      },
      {
          .name = "log_softmax",
          .doc = "The logarithm of the softmax along the axis.",
          .operands = {"x"},
          .attributes = {{.name = "axis", .otherwise = -1}},
          .type_rule = softmax_type,
          .tensor_kernel = log_softmax_kernel,
          .gradient = log_softmax_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<double>({1}, {1000})}, tensor<double>({1}, {0}), {-1}}},
      },
      {
          .name = "log_softmax_gradient",
          .doc =
              "The gradient of the operand of a log_softmax, from its result y and the gradient g of that.",
          .operands = {"y", "g"},
          .attributes = {{.name = "axis", .otherwise = -1}},
          .type_rule = softmax_gradient_type,
          .tensor_kernel = log_softmax_gradient_kernel,
          .gradient = log_softmax_gradient_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<double>({1}, {0}), tensor<double>({1}, {3})}, tensor<double>({1}, {0}), {-1}}},
      },
      {
          .name = "cross_entropy",
          .doc = "The negative logarithm of the probability that softmax gives to the label. A "
                 "label that is no class fails.",
          .operands = {"logits", "label"},
          .type_rule = cross_entropy_type,
          .tensor_kernel = cross_entropy_kernel,
          .fails_on_elements = true,
          .gradient = cross_entropy_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<double>({1}, {3}), int64_t{0}}, 0.0},
                      {{tensor<float>({2, 1}, {3, 5}), tensor<int64_t>({2}, {0, 0})},
                       tensor<float>({2}, {0, 0})}},
      },
      {
          .name = "cross_entropy_gradient",
          .doc = "The gradient of the logits of a cross_entropy, from the gradient g of the loss.",
          .operands = {"logits", "label", "g"},
          .type_rule = cross_entropy_gradient_type,
          .tensor_kernel = cross_entropy_gradient_kernel,
          .fails_on_elements = true,
          .gradient = cross_entropy_gradient_rule,
          .fusion = Fusion::Tensor,
          .samples = {{{tensor<double>({2}, {7, 7}), int64_t{1}, 2.0}, tensor<double>({2}, {1, -1})}},
      },
  };
  return all;
}

}  // namespace hiaton::ops
