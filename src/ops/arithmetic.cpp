#include <climits>

#include "ops/family.h"
#include "ops/gradients.h"
#include "ops/typed.h"
#include "ops/vectorized.h"

namespace hiaton::ops {

using namespace kernels;

namespace {

// Gradients, in the letters of gradients.h.
Var pass_negated(const GradientQuestion& q) {
  return -q.gradient;
}
Var times_first(const GradientQuestion& q) {
  return q.gradient * first(q);
}
Var times_second(const GradientQuestion& q) {
  return q.gradient * second(q);
}
Var over_second(const GradientQuestion& q) {
  return q.gradient / second(q);
}
Var quotient_second(const GradientQuestion& q) {
  return -q.gradient * q.result / second(q);
}
Var rem_second(const GradientQuestion& q) {
  return -q.gradient * apply(q, "trunc", {first(q) / second(q)});
}
Var floor_mod_second(const GradientQuestion& q) {
  return -q.gradient * apply(q, "floor_div", {first(q), second(q)});
}
/// g where the condition holds, else 0.
Var gate(const GradientQuestion& q, Var condition) {
  return apply(q, "where", {condition, q.gradient, constant_like(q.gradient, 0.0)});
}
Var where_first_is_result(const GradientQuestion& q) {
  return gate(q, first(q) == q.result);
}
Var where_first_is_not_result(const GradientQuestion& q) {
  return gate(q, first(q) != q.result);
}
template <class T>
Fault clip(const Slot* operands, Slot* out) {
  const T at_least = kernels::Max{}(get<T>(operands[0]), get<T>(operands[1]));
  *out = make_slot<T>(kernels::Min{}(at_least, get<T>(operands[2])));
  return Fault::None;
}

template <class T>
KernelVariant clip_variant() {
  return {ScalarTraits<T>::dtype, clip<T>, false, clip<T>, false};
}

/// The gradient of clip goes to the operand that its result is: x, the lower or the upper bound.
Var where_inside(const GradientQuestion& q) {
  return gate(q, q.operands[0] == q.result);
}
Var where_below(const GradientQuestion& q) {
  return apply(
      q, "where",
      {q.operands[0] == q.result, constant_like(q.gradient, 0.0), gate(q, q.operands[1] == q.result)});
}
Var where_above(const GradientQuestion& q) {
  const Var is_other = apply(q, "or", {q.operands[0] == q.result, q.operands[1] == q.result});
  return apply(q, "where", {is_other, constant_like(q.gradient, 0.0), gate(q, q.operands[2] == q.result)});
}
Var times_sign(const GradientQuestion& q) {
  const DType dtype = q.gradient.type().dtype;
  return q.gradient * (q.builder.cast(first(q) > 0, dtype) - q.builder.cast(first(q) < 0, dtype));
}

}  // namespace

std::span<const OpDef> arithmetic() {
  static const OpDef all[] = {
      {
          .name = "add",
          .symbol = "+",
          .doc = "The sum. Integers wrap around, or fail under trapping overflow.",
          .operands = {"a", "b"},
          .type_rule = same_number,
          .kernels = trapping_binary_kernels<Add, TrapAdd, uint8_t, int32_t, int64_t>() +
                     binary_kernels<Add, float, double>(),
          .tensor_kernel = vector_binary<BinaryFunction::Add>,
          .line_kernel = binary_lines<BinaryFunction::Add>,
          .gradient = by_operand<pass, pass>,
          .is_commutative = true,
          .equations = {neutral(0, is_integer)},
          .fusion = Fusion::Elementwise,
          .role = Role::Sum,
          .samples = {{{2, 3}, 5}, {{2.5, 0.25}, 2.75}, {{INT32_MAX, 1}, INT32_MIN}},
      },
      {
          .name = "sub",
          .symbol = "-",
          .doc = "The difference. Integers wrap around, or fail under trapping overflow.",
          .operands = {"a", "b"},
          .type_rule = same_number,
          .kernels = trapping_binary_kernels<Sub, TrapSub, uint8_t, int32_t, int64_t>() +
                     binary_kernels<Sub, float, double>(),
          .tensor_kernel = vector_binary<BinaryFunction::Subtract>,
          .line_kernel = binary_lines<BinaryFunction::Subtract>,
          .gradient = by_operand<pass, pass_negated>,
          .equations = {neutral(0), with_itself(0, is_integer)},
          .fusion = Fusion::Elementwise,
          .samples = {{{2, 3}, -1}, {{2.5f, 0.25f}, 2.25f}},
      },
      {
          .name = "mul",
          .symbol = "*",
          .doc = "The product. Integers wrap around, or fail under trapping overflow.",
          .operands = {"a", "b"},
          .type_rule = same_number,
          .kernels = trapping_binary_kernels<Mul, TrapMul, uint8_t, int32_t, int64_t>() +
                     binary_kernels<Mul, float, double>(),
          .tensor_kernel = vector_binary<BinaryFunction::Multiply>,
          .line_kernel = binary_lines<BinaryFunction::Multiply>,
          .gradient = by_operand<times_second, times_first>,
          .is_commutative = true,
          .equations = {neutral(1), constant_with(0, 0, is_integer)},
          .fusion = Fusion::Elementwise,
          .samples = {{{2, 3}, 6}, {{2.5, 2.0}, 5.0}},
      },
      {
          .name = "div",
          .symbol = "/",
          .doc = "The quotient. Integers round toward zero; dividing an integer by zero fails.",
          .operands = {"a", "b"},
          .type_rule = same_number,
          .kernels = trapping_binary_kernels<DivInt, TrapDivInt, uint8_t, int32_t, int64_t>() +
                     binary_kernels<DivFloat, float, double>(),
          .tensor_kernel = vector_binary<BinaryFunction::Divide>,
          .line_kernel = binary_lines<BinaryFunction::Divide>,
          .fails_only_for = {0, -1},
          .gradient = by_operand<over_second, quotient_second>,
          .equations = {neutral(1)},
          .fusion = Fusion::Elementwise,
          .samples = {{{7, 2}, 3}, {{-7, 2}, -3}, {{INT64_MIN, int64_t{-1}}, INT64_MIN}, {{1.0, 4.0}, 0.25}},
      },
      {
          .name = "rem",
          .symbol = "%",
          .doc = "The remainder, with the sign of the dividend: a == (a / b) * b + a % b for "
                 "integers. An integer remainder by zero fails.",
          .operands = {"a", "b"},
          .type_rule = same_number,
          .kernels =
              binary_kernels<RemInt, uint8_t, int32_t, int64_t>() + binary_kernels<RemFloat, float, double>(),
          .tensor_kernel = pointwise,
          .fails_only_for = {0, -1},
          .gradient = by_operand<pass, rem_second>,
          .equations = {constant_with(1, 0, is_integer)},
          .fusion = Fusion::Elementwise,
          .samples = {{{7, 3}, 1}, {{-7, 3}, -1}, {{INT32_MIN, -1}, 0}, {{5.5, 2.0}, 1.5}},
      },
      {
          .name = "floor_div",
          .doc = "The largest whole number that is at most the quotient. Dividing an integer by zero fails.",
          .operands = {"a", "b"},
          .type_rule = same_number,
          .kernels = trapping_binary_kernels<FloorDivInt, TrapFloorDivInt, uint8_t, int32_t, int64_t>() +
                     binary_kernels<FloorDivFloat, float, double>(),
          .tensor_kernel = pointwise,
          .fails_only_for = {0, -1},
          .gradient = Gradient::none(a_step),
          .equations = {neutral(1, is_integer)},
          .fusion = Fusion::Elementwise,
          .samples = {{{7, 2}, 3}, {{-7, 2}, -4}, {{INT64_MIN, int64_t{-1}}, INT64_MIN}, {{-1.0, 4.0}, -1.0}},
      },
      {
          .name = "floor_mod",
          .doc =
              "The remainder, with the sign of the divisor: a == floor_div(a, b) * b + floor_mod(a, b) for "
              "integers. An integer remainder by zero fails.",
          .operands = {"a", "b"},
          .type_rule = same_number,
          .kernels = binary_kernels<FloorModInt, uint8_t, int32_t, int64_t>() +
                     binary_kernels<FloorModFloat, float, double>(),
          .tensor_kernel = pointwise,
          .fails_only_for = {0, -1},
          .gradient = by_operand<pass, floor_mod_second>,
          .equations = {constant_with(1, 0, is_integer)},
          .fusion = Fusion::Elementwise,
          .samples = {{{7, 3}, 1}, {{-7, 3}, 2}, {{7, -3}, -2}, {{INT32_MIN, -1}, 0}, {{-5.5, 2.0}, 0.5}},
      },
      {
          .name = "min",
          .doc = "The smaller one; NaN if either is NaN. -0.0 is smaller than 0.0.",
          .operands = {"a", "b"},
          .type_rule = same_number,
          .kernels = binary_kernels<Min, uint8_t, int32_t, int64_t, float, double>(),
          .tensor_kernel = vector_binary<BinaryFunction::Min>,
          .line_kernel = binary_lines<BinaryFunction::Min>,
          .gradient = by_operand<where_first_is_result, where_first_is_not_result>,
          .is_commutative = true,
          .equations = {idempotent()},
          .fusion = Fusion::Elementwise,
          .samples = {{{2, 3}, 2}, {{0.5, -1.0}, -1.0}, {{0.0, -0.0}, -0.0}},
      },
      {
          .name = "max",
          .doc = "The larger one; NaN if either is NaN. 0.0 is larger than -0.0.",
          .operands = {"a", "b"},
          .type_rule = same_number,
          .kernels = binary_kernels<Max, uint8_t, int32_t, int64_t, float, double>(),
          .tensor_kernel = vector_binary<BinaryFunction::Max>,
          .line_kernel = binary_lines<BinaryFunction::Max>,
          .gradient = by_operand<where_first_is_result, where_first_is_not_result>,
          .is_commutative = true,
          .equations = {idempotent()},
          .fusion = Fusion::Elementwise,
          .samples = {{{2, 3}, 3}, {{0.5, -1.0}, 0.5}, {{-0.0, 0.0}, 0.0}},
      },
      {
          .name = "clip",
          .doc =
              "x, or low where x is smaller, or high where that is larger than high: min(max(x, low), high).",
          .operands = {"x", "low", "high"},
          .type_rule = same_number,
          .kernels = {clip_variant<uint8_t>(), clip_variant<int32_t>(), clip_variant<int64_t>(),
                      clip_variant<float>(), clip_variant<double>()},
          .tensor_kernel = pointwise,
          .gradient = by_operand<where_inside, where_below, where_above>,
          .fusion = Fusion::Elementwise,
          .samples = {{{5, 0, 3}, 3}, {{-1.0, 0.0, 3.0}, 0.0}, {{2.0, 0.0, 3.0}, 2.0}},
      },
      {
          .name = "neg",
          .symbol = "-",
          .doc = "The number with the other sign.",
          .operands = {"a"},
          .type_rule = same_number,
          .kernels = trapping_unary_kernels<Neg, TrapNeg, uint8_t, int32_t, int64_t>() +
                     unary_kernels<Neg, float, double>(),
          .tensor_kernel = vector_unary<UnaryFunction::Negate>,
          .line_kernel = unary_lines<UnaryFunction::Negate>,
          .gradient = by_operand<pass_negated>,
          .equations = {involution()},
          .fusion = Fusion::Elementwise,
          .samples = {{{3}, -3}, {{INT32_MIN}, INT32_MIN}, {{1.5}, -1.5}},
      },
      {
          .name = "abs",
          .doc =
              "The absolute value. The smallest integer wraps to itself, or fails under trapping overflow.",
          .operands = {"a"},
          .type_rule = same_number,
          .kernels = unary_kernels<Identity, uint8_t>() +
                     trapping_unary_kernels<Abs, TrapAbs, int32_t, int64_t>() +
                     unary_kernels<Abs, float, double>(),
          .tensor_kernel = vector_unary<UnaryFunction::Absolute>,
          .line_kernel = unary_lines<UnaryFunction::Absolute>,
          .gradient = by_operand<times_sign>,
          .fusion = Fusion::Elementwise,
          .samples = {{{-3}, 3}, {{-1.5}, 1.5}},
      },
      {
          .name = "sign",
          .doc = "-1, 0 or 1, as the number is below, equal to or above 0; NaN for NaN.",
          .operands = {"a"},
          .type_rule = same_number,
          .kernels = unary_kernels<Sign, uint8_t, int32_t, int64_t, float, double>(),
          .tensor_kernel = typed_unary<Sign, uint8_t, int32_t, int64_t, float, double>,
          .gradient = Gradient::none(a_step),
          .fusion = Fusion::Elementwise,
          .samples = {{{-3}, -1}, {{0}, 0}, {{0.25}, 1.0}},
      },
  };
  return all;
}

}  // namespace hiaton::ops
