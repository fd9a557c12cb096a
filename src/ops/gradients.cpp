#include "ops/gradients.h"

#include "ops/shapes.h"

namespace hiaton::ops {
namespace {

Var a(const GradientQuestion& q) {
  return q.operands[0];
}
Var b(const GradientQuestion& q) {
  return q.operands[1];
}
Var apply(const GradientQuestion& q, std::string_view name, const std::vector<Var>& operands) {
  return q.builder.op(name, operands);
}
Var square(Var x) {
  return x * x;
}
/// g where the condition holds, else 0.
Var gate(const GradientQuestion& q, Var condition) {
  return apply(q, "where", {condition, q.gradient, constant_like(q.gradient, 0.0)});
}

}  // namespace

Var unbroadcast(FunctionBuilder& builder, Var gradient, Var operand) {
  if (surely_equal(gradient.type().shape, operand.type().shape)) return gradient;
  return builder.op("sum_like", {gradient, operand});
}

Var zeros_of(const GradientQuestion& question, std::size_t operand) {
  return question.builder.op("zeros_like", {question.operands[operand]});
}

Var pass(const GradientQuestion& q) {
  return q.gradient;
}
Var pass_negated(const GradientQuestion& q) {
  return -q.gradient;
}
Var times_first(const GradientQuestion& q) {
  return q.gradient * a(q);
}
Var times_second(const GradientQuestion& q) {
  return q.gradient * b(q);
}
Var times_result(const GradientQuestion& q) {
  return q.gradient * q.result;
}
Var over_operand(const GradientQuestion& q) {
  return q.gradient / a(q);
}
Var over_second(const GradientQuestion& q) {
  return q.gradient / b(q);
}
Var quotient_second(const GradientQuestion& q) {
  return -q.gradient * q.result / b(q);
}
Var where_first_is_result(const GradientQuestion& q) {
  return gate(q, a(q) == q.result);
}
Var where_first_is_not_result(const GradientQuestion& q) {
  return gate(q, a(q) != q.result);
}
Var times_sign(const GradientQuestion& q) {
  const DType dtype = q.gradient.type().dtype;
  return q.gradient * (q.builder.cast(a(q) > 0, dtype) - q.builder.cast(a(q) < 0, dtype));
}
Var cast_back(const GradientQuestion& q) {
  return q.builder.cast(q.gradient, a(q).type().dtype);
}
Var rem_second(const GradientQuestion& q) {
  return -q.gradient * apply(q, "trunc", {a(q) / b(q)});
}
Var sqrt_gradient(const GradientQuestion& q) {
  return q.gradient * 0.5 / q.result;
}
Var sin_gradient(const GradientQuestion& q) {
  return q.gradient * apply(q, "cos", {a(q)});
}
Var cos_gradient(const GradientQuestion& q) {
  return -q.gradient * apply(q, "sin", {a(q)});
}
Var tan_gradient(const GradientQuestion& q) {
  return q.gradient * (1.0 + square(q.result));
}
Var asin_gradient(const GradientQuestion& q) {
  return q.gradient / apply(q, "sqrt", {1.0 - square(a(q))});
}
Var acos_gradient(const GradientQuestion& q) {
  return -q.gradient / apply(q, "sqrt", {1.0 - square(a(q))});
}
Var atan_gradient(const GradientQuestion& q) {
  return q.gradient / (1.0 + square(a(q)));
}
Var sinh_gradient(const GradientQuestion& q) {
  return q.gradient * apply(q, "cosh", {a(q)});
}
Var cosh_gradient(const GradientQuestion& q) {
  return q.gradient * apply(q, "sinh", {a(q)});
}
Var tanh_gradient_of(const GradientQuestion& q) {
  return apply(q, "tanh_gradient", {q.result, q.gradient});
}
Var tanh_gradient_y(const GradientQuestion& q) {
  return -2.0 * q.gradient * a(q) * b(q);
}
Var tanh_gradient_g(const GradientQuestion& q) {
  return apply(q, "tanh_gradient", {a(q), q.gradient});
}
Var sigmoid_gradient_of(const GradientQuestion& q) {
  return apply(q, "sigmoid_gradient", {q.result, q.gradient});
}
Var sigmoid_gradient_y(const GradientQuestion& q) {
  return q.gradient * b(q) * (1.0 - 2.0 * a(q));
}
Var sigmoid_gradient_g(const GradientQuestion& q) {
  return apply(q, "sigmoid_gradient", {a(q), q.gradient});
}
Var relu_gradient_of(const GradientQuestion& q) {
  return apply(q, "relu_gradient", {q.result, q.gradient});
}
Var relu_gradient_g(const GradientQuestion& q) {
  return apply(q, "relu_gradient", {a(q), q.gradient});
}
Var zeros(const GradientQuestion& q) {
  return zeros_of(q, 0);
}
/// b times a to the power b - 1: 0 where b is 0, also where that power of a is infinite.
Var pow_base(const GradientQuestion& q) {
  const Var one = constant_like(b(q), 1.0);
  const Var power = apply(q, "pow", {a(q), apply(q, "where", {b(q) == 0.0, one, b(q) - 1.0})});
  return q.gradient * b(q) * power;
}
/// The result times the logarithm of a: 0 where a is 0, for b is not negative there or the result infinite.
Var pow_exponent(const GradientQuestion& q) {
  const Var one = constant_like(a(q), 1.0);
  const Var base = apply(q, "where", {b(q) >= 0.0, apply(q, "where", {a(q) == 0.0, one, a(q)}), a(q)});
  return q.gradient * q.result * apply(q, "log", {base});
}
Var atan2_first(const GradientQuestion& q) {
  return q.gradient * b(q) / (square(a(q)) + square(b(q)));
}
Var atan2_second(const GradientQuestion& q) {
  return -q.gradient * a(q) / (square(a(q)) + square(b(q)));
}

}  // namespace hiaton::ops
