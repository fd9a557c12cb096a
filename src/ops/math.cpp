#include <numbers>

#include "ops/family.h"
#include "ops/gradients.h"
#include "ops/typed.h"
#include "ops/vectorized.h"

namespace hiaton::ops {

using namespace kernels;

namespace {

// Gradients, in the letters of gradients.h.
Var sqrt_gradient(const GradientQuestion& q) {
  return q.gradient * 0.5 / q.result;
}
Var times_result(const GradientQuestion& q) {
  return q.gradient * q.result;
}
Var over_operand(const GradientQuestion& q) {
  return q.gradient / first(q);
}
Var sin_gradient(const GradientQuestion& q) {
  return q.gradient * apply(q, "cos", {first(q)});
}
Var cos_gradient(const GradientQuestion& q) {
  return -q.gradient * apply(q, "sin", {first(q)});
}
Var tan_gradient(const GradientQuestion& q) {
  return q.gradient * (1.0 + square(q.result));
}
Var asin_gradient(const GradientQuestion& q) {
  return q.gradient / apply(q, "sqrt", {1.0 - square(first(q))});
}
Var acos_gradient(const GradientQuestion& q) {
  return -q.gradient / apply(q, "sqrt", {1.0 - square(first(q))});
}
Var atan_gradient(const GradientQuestion& q) {
  return q.gradient / (1.0 + square(first(q)));
}
Var sinh_gradient(const GradientQuestion& q) {
  return q.gradient * apply(q, "cosh", {first(q)});
}
Var cosh_gradient(const GradientQuestion& q) {
  return q.gradient * apply(q, "sinh", {first(q)});
}
Var asinh_gradient(const GradientQuestion& q) {
  return q.gradient / apply(q, "sqrt", {square(first(q)) + 1.0});
}
Var acosh_gradient(const GradientQuestion& q) {
  return q.gradient / (apply(q, "sqrt", {first(q) - 1.0}) * apply(q, "sqrt", {first(q) + 1.0}));
}
Var atanh_gradient(const GradientQuestion& q) {
  return q.gradient / (1.0 - square(first(q)));
}
Var tanh_gradient_of(const GradientQuestion& q) {
  return apply(q, "tanh_gradient", {q.result, q.gradient});
}
Var expm1_gradient(const GradientQuestion& q) {
  return q.gradient * (q.result + 1.0);
}
Var log1p_gradient(const GradientQuestion& q) {
  return q.gradient / (first(q) + 1.0);
}
Var log2_gradient(const GradientQuestion& q) {
  return q.gradient * std::numbers::log2e / first(q);
}
Var log10_gradient(const GradientQuestion& q) {
  return q.gradient * std::numbers::log10e / first(q);
}
Var rsqrt_gradient(const GradientQuestion& q) {
  return q.gradient * -0.5 * q.result / first(q);
}
/// g 2 / sqrt(pi) exp(-a^2)
Var erf_gradient(const GradientQuestion& q) {
  return q.gradient * (2.0 * std::numbers::inv_sqrtpi) * apply(q, "exp", {-square(first(q))});
}
/// b times a to the power b - 1: 0 where b is 0, also where that power of a is infinite.
Var pow_base(const GradientQuestion& q) {
  const Var one = constant_like(second(q), 1.0);
  const Var power = apply(q, "pow", {first(q), apply(q, "where", {second(q) == 0.0, one, second(q) - 1.0})});
  return q.gradient * second(q) * power;
}
/// The result times the logarithm of a: 0 where a is 0, for b is not negative there or the result infinite.
Var pow_exponent(const GradientQuestion& q) {
  const Var one = constant_like(first(q), 1.0);
  const Var base =
      apply(q, "where", {second(q) >= 0.0, apply(q, "where", {first(q) == 0.0, one, first(q)}), first(q)});
  return q.gradient * q.result * apply(q, "log", {base});
}
Var atan2_first(const GradientQuestion& q) {
  return q.gradient * second(q) / (square(first(q)) + square(second(q)));
}
Var atan2_second(const GradientQuestion& q) {
  return -q.gradient * first(q) / (square(first(q)) + square(second(q)));
}

}  // namespace

std::span<const OpDef> math() {
  static const OpDef all[] = {
      {
          .name = "sqrt",
          .doc = "The square root; NaN for negative numbers.",
          .operands = {"a"},
          .type_rule = same_float,
          .kernels = unary_kernels<Sqrt, float, double>(),
          .tensor_kernel = vector_unary<UnaryFunction::Sqrt>,
          .line_kernel = unary_lines<UnaryFunction::Sqrt>,
          .gradient = by_operand<sqrt_gradient>,
          .fusion = Fusion::Elementwise,
          .samples = {{{9.0}, 3.0}},
      },
      {
          .name = "exp",
          .doc = "e to the power a.",
          .operands = {"a"},
          .type_rule = same_float,
          .kernels = unary_kernels<Exp, float, double>(),
          .tensor_kernel = vector_unary<UnaryFunction::Exp>,
          .line_kernel = unary_lines<UnaryFunction::Exp>,
          .gradient = by_operand<times_result>,
          .fusion = Fusion::Elementwise,
          .samples = {{{0.0}, 1.0}},
      },
      {
          .name = "log",
          .doc = "The natural logarithm; -inf for 0, NaN for negative numbers.",
          .operands = {"a"},
          .type_rule = same_float,
          .kernels = unary_kernels<Log, float, double>(),
          .tensor_kernel = vector_unary<UnaryFunction::Log>,
          .line_kernel = unary_lines<UnaryFunction::Log>,
          .gradient = by_operand<over_operand>,
          .fusion = Fusion::Elementwise,
          .samples = {{{1.0}, 0.0}},
      },
      {
          .name = "expm1",
          .doc = "e to the power a, less 1, exact for small a.",
          .operands = {"a"},
          .type_rule = same_float,
          .kernels = unary_kernels<Expm1, float, double>(),
          .tensor_kernel = typed_unary<Expm1, float, double>,
          .gradient = by_operand<expm1_gradient>,
          .fusion = Fusion::Elementwise,
          .samples = {{{0.0}, 0.0}, {{1e-10}, 1.00000000005e-10}},
      },
      {
          .name = "log1p",
          .doc = "The natural logarithm of 1 + a, exact for small a; -inf for -1, NaN for numbers below.",
          .operands = {"a"},
          .type_rule = same_float,
          .kernels = unary_kernels<Log1p, float, double>(),
          .tensor_kernel = typed_unary<Log1p, float, double>,
          .gradient = by_operand<log1p_gradient>,
          .fusion = Fusion::Elementwise,
          .samples = {{{0.0}, 0.0}, {{1e-20}, 1e-20}},
      },
      {
          .name = "log2",
          .doc = "The logarithm to base 2; -inf for 0, NaN for negative numbers.",
          .operands = {"a"},
          .type_rule = same_float,
          .kernels = unary_kernels<Log2, float, double>(),
          .tensor_kernel = pointwise,
          .gradient = by_operand<log2_gradient>,
          .fusion = Fusion::Elementwise,
          .samples = {{{8.0}, 3.0}},
      },
      {
          .name = "log10",
          .doc = "The logarithm to base 10; -inf for 0, NaN for negative numbers.",
          .operands = {"a"},
          .type_rule = same_float,
          .kernels = unary_kernels<Log10, float, double>(),
          .tensor_kernel = pointwise,
          .gradient = by_operand<log10_gradient>,
          .fusion = Fusion::Elementwise,
          .samples = {{{1000.0}, 3.0}},
      },
      {
          .name = "rsqrt",
          .doc = "1 over the square root; inf for 0, NaN for negative numbers.",
          .operands = {"a"},
          .type_rule = same_float,
          .kernels = unary_kernels<Rsqrt, float, double>(),
          .tensor_kernel = typed_unary<Rsqrt, float, double>,
          .gradient = by_operand<rsqrt_gradient>,
          .fusion = Fusion::Elementwise,
          .samples = {{{4.0}, 0.5}},
      },
      {
          .name = "sin",
          .doc = "The sine of an angle in radians.",
          .operands = {"a"},
          .type_rule = same_float,
          .kernels = unary_kernels<Sin, float, double>(),
          .tensor_kernel = pointwise,
          .gradient = by_operand<sin_gradient>,
          .fusion = Fusion::Elementwise,
          .samples = {{{0.0}, 0.0}},
      },
      {
          .name = "cos",
          .doc = "The cosine of an angle in radians.",
          .operands = {"a"},
          .type_rule = same_float,
          .kernels = unary_kernels<Cos, float, double>(),
          .tensor_kernel = pointwise,
          .gradient = by_operand<cos_gradient>,
          .fusion = Fusion::Elementwise,
          .samples = {{{0.0}, 1.0}},
      },
      {
          .name = "tan",
          .doc = "The tangent of an angle in radians.",
          .operands = {"a"},
          .type_rule = same_float,
          .kernels = unary_kernels<Tan, float, double>(),
          .tensor_kernel = pointwise,
          .gradient = by_operand<tan_gradient>,
          .fusion = Fusion::Elementwise,
          .samples = {{{0.0}, 0.0}},
      },
      {
          .name = "asin",
          .doc = "The angle in radians whose sine is a.",
          .operands = {"a"},
          .type_rule = same_float,
          .kernels = unary_kernels<Asin, float, double>(),
          .tensor_kernel = pointwise,
          .gradient = by_operand<asin_gradient>,
          .fusion = Fusion::Elementwise,
          .samples = {{{0.0}, 0.0}},
      },
      {
          .name = "acos",
          .doc = "The angle in radians whose cosine is a.",
          .operands = {"a"},
          .type_rule = same_float,
          .kernels = unary_kernels<Acos, float, double>(),
          .tensor_kernel = pointwise,
          .gradient = by_operand<acos_gradient>,
          .fusion = Fusion::Elementwise,
          .samples = {{{1.0}, 0.0}},
      },
      {
          .name = "atan",
          .doc = "The angle in radians whose tangent is a.",
          .operands = {"a"},
          .type_rule = same_float,
          .kernels = unary_kernels<Atan, float, double>(),
          .tensor_kernel = pointwise,
          .gradient = by_operand<atan_gradient>,
          .fusion = Fusion::Elementwise,
          .samples = {{{0.0}, 0.0}},
      },
      {
          .name = "sinh",
          .doc = "The hyperbolic sine.",
          .operands = {"a"},
          .type_rule = same_float,
          .kernels = unary_kernels<Sinh, float, double>(),
          .tensor_kernel = pointwise,
          .gradient = by_operand<sinh_gradient>,
          .fusion = Fusion::Elementwise,
          .samples = {{{0.0}, 0.0}},
      },
      {
          .name = "cosh",
          .doc = "The hyperbolic cosine.",
          .operands = {"a"},
          .type_rule = same_float,
          .kernels = unary_kernels<Cosh, float, double>(),
          .tensor_kernel = pointwise,
          .gradient = by_operand<cosh_gradient>,
          .fusion = Fusion::Elementwise,
          .samples = {{{0.0}, 1.0}},
      },
      {
          .name = "tanh",
          .doc = "The hyperbolic tangent.",
          .operands = {"a"},
          .type_rule = same_float,
          .kernels = unary_kernels<Tanh, float, double>(),
          .tensor_kernel = vector_unary<UnaryFunction::Tanh>,
          .line_kernel = unary_lines<UnaryFunction::Tanh>,
          .gradient = by_operand<tanh_gradient_of>,
          .fusion = Fusion::Elementwise,
          .samples = {{{0.0}, 0.0}},
      },
      {
          .name = "asinh",
          .doc = "The inverse hyperbolic sine.",
          .operands = {"a"},
          .type_rule = same_float,
          .kernels = unary_kernels<Asinh, float, double>(),
          .tensor_kernel = pointwise,
          .gradient = by_operand<asinh_gradient>,
          .fusion = Fusion::Elementwise,
          .samples = {{{0.0}, 0.0}},
      },
      {
          .name = "acosh",
          .doc = "The inverse hyperbolic cosine, from 0 on; NaN for numbers below 1.",
          .operands = {"a"},
          .type_rule = same_float,
          .kernels = unary_kernels<Acosh, float, double>(),
          .tensor_kernel = pointwise,
          .gradient = by_operand<acosh_gradient>,
          .fusion = Fusion::Elementwise,
          .samples = {{{1.0}, 0.0}},
      },
      {
          .name = "atanh",
          .doc = "The inverse hyperbolic tangent; infinite for 1 and -1, NaN for numbers beyond.",
          .operands = {"a"},
          .type_rule = same_float,
          .kernels = unary_kernels<Atanh, float, double>(),
          .tensor_kernel = pointwise,
          .gradient = by_operand<atanh_gradient>,
          .fusion = Fusion::Elementwise,
          .samples = {{{0.0}, 0.0}},
      },
      {
          .name = "erf",
          .doc =
              "The error function: 2 / sqrt(pi) times the integral of e to the power -t t for t from 0 to a.",
          .operands = {"a"},
          .type_rule = same_float,
          .kernels = unary_kernels<Erf, float, double>(),
          .tensor_kernel = vector_unary<UnaryFunction::Erf>,
          .line_kernel = unary_lines<UnaryFunction::Erf>,
          .gradient = by_operand<erf_gradient>,
          .fusion = Fusion::Elementwise,
          .samples = {{{0.0}, 0.0}, {{1.0}, 0.8427007929497149}, {{10.0}, 1.0}},
      },
      {
          .name = "floor",
          .doc = "The largest whole number that is at most a.",
          .operands = {"a"},
          .type_rule = same_float,
          .kernels = unary_kernels<Floor, float, double>(),
          .tensor_kernel = pointwise,
          .gradient = Gradient::none(a_step),
          .fusion = Fusion::Elementwise,
          .samples = {{{-1.5}, -2.0}},
      },
      {
          .name = "ceil",
          .doc = "The smallest whole number that is at least a.",
          .operands = {"a"},
          .type_rule = same_float,
          .kernels = unary_kernels<Ceil, float, double>(),
          .tensor_kernel = pointwise,
          .gradient = Gradient::none(a_step),
          .fusion = Fusion::Elementwise,
          .samples = {{{-1.5}, -1.0}},
      },
      {
          .name = "round",
          .doc = "The nearest whole number; halves away from zero.",
          .operands = {"a"},
          .type_rule = same_float,
          .kernels = unary_kernels<Round, float, double>(),
          .tensor_kernel = pointwise,
          .gradient = Gradient::none(a_step),
          .fusion = Fusion::Elementwise,
          .samples = {{{2.5}, 3.0}, {{-2.5}, -3.0}},
      },
      {
          .name = "trunc",
          .doc = "The whole part: rounds toward zero.",
          .operands = {"a"},
          .type_rule = same_float,
          .kernels = unary_kernels<Trunc, float, double>(),
          .tensor_kernel = pointwise,
          .gradient = Gradient::none(a_step),
          .fusion = Fusion::Elementwise,
          .samples = {{{-1.5}, -1.0}},
      },
      {
          .name = "pow",
          .doc = "a to the power b.",
          .operands = {"a", "b"},
          .type_rule = same_float,
          .kernels = binary_kernels<Pow, float, double>(),
          .tensor_kernel = pointwise,
          .gradient = by_operand<pow_base, pow_exponent>,
          .fusion = Fusion::Elementwise,
          .samples = {{{2.0, 10.0}, 1024.0}},
      },
      {
          .name = "atan2",
          .doc = "The angle in radians of the point (b, a), in (-pi, pi].",
          .operands = {"a", "b"},
          .type_rule = same_float,
          .kernels = binary_kernels<Atan2, float, double>(),
          .tensor_kernel = pointwise,
          .gradient = by_operand<atan2_first, atan2_second>,
          .fusion = Fusion::Elementwise,
          .samples = {{{0.0, 1.0}, 0.0}},
      },
  };
  return all;
}

}  // namespace hiaton::ops
