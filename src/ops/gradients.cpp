#include "ops/gradients.h"

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
  return q.gradient * q.builder.cast(condition, q.gradient.type().dtype);
}

}  // namespace

Var unbroadcast(FunctionBuilder& builder, Var gradient, Var operand) {
  if (gradient.type() == operand.type()) return gradient;
  return builder.op("sum_to", {gradient, operand});
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
Var tanh_gradient(const GradientQuestion& q) {
  return q.gradient * (1.0 - square(q.result));
}
Var pow_base(const GradientQuestion& q) {
  return q.gradient * b(q) * apply(q, "pow", {a(q), b(q) - 1.0});
}
Var pow_exponent(const GradientQuestion& q) {
  return q.gradient * q.result * apply(q, "log", {a(q)});
}
Var atan2_first(const GradientQuestion& q) {
  return q.gradient * b(q) / (square(a(q)) + square(b(q)));
}
Var atan2_second(const GradientQuestion& q) {
  return -q.gradient * a(q) / (square(a(q)) + square(b(q)));
}

}  // namespace hiaton::ops
