// How gradients pass the operations: rules that build ir, one for each operand.
//
// g is the gradient of the result y; the rules give that of an operand a (the first) or b (the second).
#pragma once

#include "hiaton/builder.h"
#include "hiaton/op.h"

namespace hiaton::ops {

using OperandRule = Var (*)(const GradientQuestion& question);

/// Sums `gradient` over what broadcasting stretched, so that it has the type of `operand`.
Var unbroadcast(FunctionBuilder& builder, Var gradient, Var operand);

/// For an operand that gets no gradient.
Var zeros_of(const GradientQuestion& question, std::size_t operand);

/// One rule for each operand of an elementwise operation.
template <OperandRule... rules>
Var by_operand(const GradientQuestion& question, std::size_t index) {
  static constexpr OperandRule all[] = {rules...};
  return unbroadcast(question.builder, all[index](question), question.operands[index]);
}

Var pass(const GradientQuestion& q);                       ///< g
Var pass_negated(const GradientQuestion& q);               ///< -g
Var times_first(const GradientQuestion& q);                ///< g a
Var times_second(const GradientQuestion& q);               ///< g b
Var times_result(const GradientQuestion& q);               ///< g y
Var over_operand(const GradientQuestion& q);               ///< g / a
Var over_second(const GradientQuestion& q);                ///< g / b
Var quotient_second(const GradientQuestion& q);            ///< of a / b, for b: -g y / b
Var where_first_is_result(const GradientQuestion& q);      ///< g where y = a, else 0
Var where_first_is_not_result(const GradientQuestion& q);  ///< g where y != a, else 0
Var times_sign(const GradientQuestion& q);                 ///< g, with the sign of a
Var cast_back(const GradientQuestion& q);                  ///< g, as a's element type
Var rem_second(const GradientQuestion& q);                 ///< -g trunc(a / b)
Var sqrt_gradient(const GradientQuestion& q);
Var sin_gradient(const GradientQuestion& q);
Var cos_gradient(const GradientQuestion& q);
Var tan_gradient(const GradientQuestion& q);
Var asin_gradient(const GradientQuestion& q);
Var acos_gradient(const GradientQuestion& q);
Var atan_gradient(const GradientQuestion& q);
Var sinh_gradient(const GradientQuestion& q);
Var cosh_gradient(const GradientQuestion& q);
Var tanh_gradient_of(const GradientQuestion& q);
Var tanh_gradient_y(const GradientQuestion& q);  ///< of the operation tanh_gradient(y, g)
Var tanh_gradient_g(const GradientQuestion& q);
Var sigmoid_gradient_of(const GradientQuestion& q);
Var sigmoid_gradient_y(const GradientQuestion& q);
Var sigmoid_gradient_g(const GradientQuestion& q);
Var relu_gradient_of(const GradientQuestion& q);
Var relu_gradient_g(const GradientQuestion& q);
Var zeros(const GradientQuestion& q);  ///< of a, which does not matter
Var pow_base(const GradientQuestion& q);
Var pow_exponent(const GradientQuestion& q);
Var atan2_first(const GradientQuestion& q);
Var atan2_second(const GradientQuestion& q);

}  // namespace hiaton::ops
