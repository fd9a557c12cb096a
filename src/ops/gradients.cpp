#include "ops/gradients.h"

#include "ops/shapes.h"

namespace hiaton::ops {

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

}  // namespace hiaton::ops
