#include <climits>

#include "ops/families.h"
#include "ops/family.h"
#include "ops/gradients.h"
#include "ops/vectorized.h"

namespace hiaton::ops {

using namespace kernels;

const OpDef add = {
    .name = std::string_view("add"),
    .symbol = std::string_view("+"),
    .doc = std::string_view("The sum. Integers wrap around, or fail under trapping overflow."),
    .operands = std::vector<std::string_view>{"a", "b"},
    .attributes = no_attributes,
    .type_rule = same_number,
    .kernels =
        std::vector{
            with_trap(binary_variant<Add, int32_t, int32_t>(), binary_variant<TrapAdd, int32_t, int32_t>()),
            with_trap(binary_variant<Add, int64_t, int64_t>(), binary_variant<TrapAdd, int64_t, int64_t>())} +
        binary_kernels<Add, float, double>(),
    .tensor_kernel = vector_binary<BinaryFunction::Add>,
    .gradient = Gradient{by_operand<pass, pass>},
    .algebra = Algebra::Commutative,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{2, 3}, 5}, {{2.5, 0.25}, 2.75}, {{INT32_MAX, 1}, INT32_MIN}},
    .line_kernel = binary_lines<BinaryFunction::Add>,
};

const OpDef sub = {
    .name = std::string_view("sub"),
    .symbol = std::string_view("-"),
    .doc = std::string_view("The difference. Integers wrap around, or fail under trapping overflow."),
    .operands = std::vector<std::string_view>{"a", "b"},
    .attributes = no_attributes,
    .type_rule = same_number,
    .kernels =
        std::vector{
            with_trap(binary_variant<Sub, int32_t, int32_t>(), binary_variant<TrapSub, int32_t, int32_t>()),
            with_trap(binary_variant<Sub, int64_t, int64_t>(), binary_variant<TrapSub, int64_t, int64_t>())} +
        binary_kernels<Sub, float, double>(),
    .tensor_kernel = vector_binary<BinaryFunction::Subtract>,
    .gradient = Gradient{by_operand<pass, pass_negated>},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{2, 3}, -1}, {{2.5f, 0.25f}, 2.25f}},
    .line_kernel = binary_lines<BinaryFunction::Subtract>,
};

const OpDef mul = {
    .name = std::string_view("mul"),
    .symbol = std::string_view("*"),
    .doc = std::string_view("The product. Integers wrap around, or fail under trapping overflow."),
    .operands = std::vector<std::string_view>{"a", "b"},
    .attributes = no_attributes,
    .type_rule = same_number,
    .kernels =
        std::vector{
            with_trap(binary_variant<Mul, int32_t, int32_t>(), binary_variant<TrapMul, int32_t, int32_t>()),
            with_trap(binary_variant<Mul, int64_t, int64_t>(), binary_variant<TrapMul, int64_t, int64_t>())} +
        binary_kernels<Mul, float, double>(),
    .tensor_kernel = vector_binary<BinaryFunction::Multiply>,
    .gradient = Gradient{by_operand<times_second, times_first>},
    .algebra = Algebra::Commutative,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{2, 3}, 6}, {{2.5, 2.0}, 5.0}},
    .line_kernel = binary_lines<BinaryFunction::Multiply>,
};

const OpDef div = {
    .name = std::string_view("div"),
    .symbol = std::string_view("/"),
    .doc = std::string_view("The quotient. Integers round toward zero; dividing an integer by zero fails."),
    .operands = std::vector<std::string_view>{"a", "b"},
    .attributes = no_attributes,
    .type_rule = same_number,
    .kernels = std::vector{with_trap(binary_variant<DivInt, int32_t, int32_t>(),
                                     binary_variant<TrapDivInt, int32_t, int32_t>()),
                           with_trap(binary_variant<DivInt, int64_t, int64_t>(),
                                     binary_variant<TrapDivInt, int64_t, int64_t>())} +
               binary_kernels<DivFloat, float, double>(),
    .tensor_kernel = vector_binary<BinaryFunction::Divide>,
    .gradient = Gradient{by_operand<over_second, quotient_second>},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples =
        std::vector<Sample>{
            {{7, 2}, 3}, {{-7, 2}, -3}, {{INT64_MIN, int64_t{-1}}, INT64_MIN}, {{1.0, 4.0}, 0.25}},
    .line_kernel = binary_lines<BinaryFunction::Divide>,
};

const OpDef rem = {
    .name = std::string_view("rem"),
    .symbol = std::string_view("%"),
    .doc = std::string_view("The remainder, with the sign of the dividend: a == (a / b) * b + a % b for "
                            "integers. An integer remainder by zero fails."),
    .operands = std::vector<std::string_view>{"a", "b"},
    .attributes = no_attributes,
    .type_rule = same_number,
    .kernels = binary_kernels<RemInt, int32_t, int64_t>() + binary_kernels<RemFloat, float, double>(),
    .tensor_kernel = pointwise,
    .gradient = Gradient{by_operand<pass, rem_second>},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{7, 3}, 1}, {{-7, 3}, -1}, {{INT32_MIN, -1}, 0}, {{5.5, 2.0}, 1.5}},
};

const OpDef min = {
    .name = std::string_view("min"),
    .symbol = std::string_view(""),
    .doc = std::string_view("The smaller one; NaN if either is NaN. -0.0 is smaller than 0.0."),
    .operands = std::vector<std::string_view>{"a", "b"},
    .attributes = no_attributes,
    .type_rule = same_number,
    .kernels = binary_kernels<Min, int32_t, int64_t, float, double>(),
    .tensor_kernel = vector_binary<BinaryFunction::Min>,
    .gradient = Gradient{by_operand<where_first_is_result, where_first_is_not_result>},
    .algebra = Algebra::Commutative,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{2, 3}, 2}, {{0.5, -1.0}, -1.0}, {{0.0, -0.0}, -0.0}},
    .line_kernel = binary_lines<BinaryFunction::Min>,
};

const OpDef max = {
    .name = std::string_view("max"),
    .symbol = std::string_view(""),
    .doc = std::string_view("The larger one; NaN if either is NaN. 0.0 is larger than -0.0."),
    .operands = std::vector<std::string_view>{"a", "b"},
    .attributes = no_attributes,
    .type_rule = same_number,
    .kernels = binary_kernels<Max, int32_t, int64_t, float, double>(),
    .tensor_kernel = vector_binary<BinaryFunction::Max>,
    .gradient = Gradient{by_operand<where_first_is_result, where_first_is_not_result>},
    .algebra = Algebra::Commutative,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{2, 3}, 3}, {{0.5, -1.0}, 0.5}, {{-0.0, 0.0}, 0.0}},
    .line_kernel = binary_lines<BinaryFunction::Max>,
};

const OpDef neg = {
    .name = std::string_view("neg"),
    .symbol = std::string_view("-"),
    .doc = std::string_view("The number with the other sign."),
    .operands = std::vector<std::string_view>{"a"},
    .attributes = no_attributes,
    .type_rule = same_number,
    .kernels =
        std::vector{
            with_trap(unary_variant<Neg, int32_t, int32_t>(), unary_variant<TrapNeg, int32_t, int32_t>()),
            with_trap(unary_variant<Neg, int64_t, int64_t>(), unary_variant<TrapNeg, int64_t, int64_t>())} +
        unary_kernels<Neg, float, double>(),
    .tensor_kernel = vector_unary<UnaryFunction::Negate>,
    .gradient = Gradient{by_operand<pass_negated>},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{3}, -3}, {{INT32_MIN}, INT32_MIN}, {{1.5}, -1.5}},
    .line_kernel = unary_lines<UnaryFunction::Negate>,
};

const OpDef abs = {
    .name = std::string_view("abs"),
    .symbol = std::string_view(""),
    .doc = std::string_view(
        "The absolute value. The smallest integer wraps to itself, or fails under trapping overflow."),
    .operands = std::vector<std::string_view>{"a"},
    .attributes = no_attributes,
    .type_rule = same_number,
    .kernels =
        std::vector{
            with_trap(unary_variant<Abs, int32_t, int32_t>(), unary_variant<TrapAbs, int32_t, int32_t>()),
            with_trap(unary_variant<Abs, int64_t, int64_t>(), unary_variant<TrapAbs, int64_t, int64_t>())} +
        unary_kernels<Abs, float, double>(),
    .tensor_kernel = vector_unary<UnaryFunction::Absolute>,
    .gradient = Gradient{by_operand<times_sign>},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{-3}, 3}, {{-1.5}, 1.5}},
    .line_kernel = unary_lines<UnaryFunction::Absolute>,
};

}  // namespace hiaton::ops
