// Activation functions of neural nets, and the gradients of their operands from their results.
#include <numbers>

#include "ops/family.h"
#include "ops/gradients.h"
#include "ops/typed.h"
#include "ops/vectorized.h"

namespace hiaton::ops {

using namespace kernels;

namespace {

// Gradients, in the letters of gradients.h.
Var sigmoid_gradient_of(const GradientQuestion& q) {
  return apply(q, "sigmoid_gradient", {q.result, q.gradient});
}
Var relu_gradient_of(const GradientQuestion& q) {
  return apply(q, "relu_gradient", {q.result, q.gradient});
}
/// g where a > 0, g slope elsewhere.
Var leaky_relu_a(const GradientQuestion& q) {
  return apply(q, "where", {first(q) > 0.0, q.gradient, q.gradient * second(q)});
}
Var leaky_relu_slope(const GradientQuestion& q) {
  return q.gradient * apply(q, "min", {first(q), constant_like(first(q), 0.0)});
}
/// g times the normal distribution's probability up to a, and a times its density there.
Var gelu_gradient_of(const GradientQuestion& q) {
  const Var a = first(q);
  const Var probability = 0.5 * apply(q, "erf", {a * (1.0 / std::numbers::sqrt2)}) + 0.5;
  const Var density = apply(q, "exp", {square(a) * -0.5}) * (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
  return q.gradient * (probability + a * density);
}
Var softplus_gradient_of(const GradientQuestion& q) {
  return q.gradient * apply(q, "sigmoid", {first(q)});
}
Var tanh_gradient_y(const GradientQuestion& q) {
  return -2.0 * q.gradient * first(q) * second(q);
}
Var tanh_gradient_g(const GradientQuestion& q) {
  return apply(q, "tanh_gradient", {first(q), q.gradient});
}
Var sigmoid_gradient_y(const GradientQuestion& q) {
  return q.gradient * second(q) * (1.0 - 2.0 * first(q));
}
Var sigmoid_gradient_g(const GradientQuestion& q) {
  return apply(q, "sigmoid_gradient", {first(q), q.gradient});
}
Var zeros(const GradientQuestion& q) {
  return zeros_of(q, 0);
}
Var relu_gradient_g(const GradientQuestion& q) {
  return apply(q, "relu_gradient", {first(q), q.gradient});
}

}  // namespace

std::span<const OpDef> activations() {
  static const OpDef all[] = {
      {
          .name = "sigmoid",
          .doc = "1 / (1 + e to the power -a).",
          .operands = {"a"},
          .type_rule = same_float,
          .kernels = unary_kernels<Sigmoid, float, double>(),
          .tensor_kernel = vector_unary<UnaryFunction::Sigmoid>,
          .line_kernel = unary_lines<UnaryFunction::Sigmoid>,
          .gradient = by_operand<sigmoid_gradient_of>,
          .fusion = Fusion::Elementwise,
          .samples = {{{0.0}, 0.5}},
      },
      {
          .name = "relu",
          .doc = "The number, or 0 where it is negative.",
          .operands = {"a"},
          .type_rule = same_float,
          .kernels = unary_kernels<Relu, float, double>(),
          .tensor_kernel = vector_unary<UnaryFunction::Relu>,
          .line_kernel = unary_lines<UnaryFunction::Relu>,
          .gradient = by_operand<relu_gradient_of>,
          .fusion = Fusion::Elementwise,
          .samples = {{{-2.0}, 0.0}, {{3.5}, 3.5}},
      },
      {
          .name = "leaky_relu",
          .doc = "The number, or slope times it where it is not positive.",
          .operands = {"a", "slope"},
          .type_rule = same_float,
          .kernels = binary_kernels<LeakyRelu, float, double>(),
          .tensor_kernel = typed_binary<LeakyRelu, float, double>,
          .gradient = by_operand<leaky_relu_a, leaky_relu_slope>,
          .fusion = Fusion::Elementwise,
          .samples = {{{-2.0, 0.5}, -1.0}, {{3.5, 0.5}, 3.5}},
      },
      {
          .name = "gelu",
          .doc = "a times the probability that a number of the standard normal distribution is below a (the "
                 "exact form, by the error function).",
          .operands = {"a"},
          .type_rule = same_float,
          .kernels = unary_kernels<Gelu, float, double>(),
          .tensor_kernel = typed_unary<Gelu, float, double>,
          .gradient = by_operand<gelu_gradient_of>,
          .fusion = Fusion::Elementwise,
          .samples = {{{0.0}, 0.0}, {{1.0}, 0.8413447460685429}},
      },
      {
          .name = "softplus",
          .doc = "log(1 + e to the power a), without overflow.",
          .operands = {"a"},
          .type_rule = same_float,
          .kernels = unary_kernels<Softplus, float, double>(),
          .tensor_kernel = typed_unary<Softplus, float, double>,
          .gradient = by_operand<softplus_gradient_of>,
          .fusion = Fusion::Elementwise,
          .samples = {{{1000.0}, 1000.0}, {{-1000.0}, 0.0}},
      },
      {
          .name = "tanh_gradient",
          .doc = "g (1 - y y): the gradient of the operand of a tanh, from its result y and the gradient g "
                 "of that.",
          .operands = {"y", "g"},
          .type_rule = same_float,
          .kernels = binary_kernels<TanhGradient, float, double>(),
          .tensor_kernel = vector_gradient<BinaryFunction::TanhGradient>,
          .line_kernel = binary_lines<BinaryFunction::TanhGradient, true>,
          .gradient = by_operand<tanh_gradient_y, tanh_gradient_g>,
          .fusion = Fusion::Elementwise,
          .samples = {{{0.5, 2.0}, 1.5}},
      },
      {
          .name = "sigmoid_gradient",
          .doc = "g y (1 - y): the gradient of the operand of a sigmoid, from its result y and "
                 "the gradient g of that.",
          .operands = {"y", "g"},
          .type_rule = same_float,
          .kernels = binary_kernels<SigmoidGradient, float, double>(),
          .tensor_kernel = vector_gradient<BinaryFunction::SigmoidGradient>,
          .line_kernel = binary_lines<BinaryFunction::SigmoidGradient, true>,
          .gradient = by_operand<sigmoid_gradient_y, sigmoid_gradient_g>,
          .fusion = Fusion::Elementwise,
          .samples = {{{0.5, 2.0}, 0.5}},
      },
      {
          .name = "relu_gradient",
          .doc = "g where y > 0, else 0: the gradient of the operand of a relu, from its result y "
                 "and the gradient g of that.",
          .operands = {"y", "g"},
          .type_rule = same_float,
          .kernels = binary_kernels<ReluGradient, float, double>(),
          .tensor_kernel = vector_gradient<BinaryFunction::ReluGradient>,
          .line_kernel = binary_lines<BinaryFunction::ReluGradient, true>,
          .gradient = by_operand<zeros, relu_gradient_g>,
          .fusion = Fusion::Elementwise,
          .samples = {{{0.5, 2.0}, 2.0}, {{0.0, 2.0}, 0.0}},
      },
  };
  return all;
}

}  // namespace hiaton::ops
