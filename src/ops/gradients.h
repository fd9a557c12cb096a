// What gradient rules are made of. The rules themselves stand beside their operations.
//
// g is the gradient of the result y; a rule gives that of an operand a (the first) or b (the second).
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

inline Var first(const GradientQuestion& q) {
  return q.operands[0];
}
inline Var second(const GradientQuestion& q) {
  return q.operands[1];
}
/// The operation of this name, in the function that is being extended.
inline Var apply(const GradientQuestion& q, std::string_view name, const std::vector<Var>& operands,
                 Attributes attributes = {}) {
  return q.builder.op(name, operands, std::move(attributes));
}
inline Var square(Var x) {
  return x * x;
}

// Rules that several families use.
Var pass(const GradientQuestion& q);  ///< g

}  // namespace hiaton::ops
