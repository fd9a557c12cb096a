#include "ops/families.h"
#include "ops/family.h"
#include "ops/gradients.h"
#include "ops/vectorized.h"

namespace hiaton::ops {

using namespace kernels;

const OpDef sqrt = {
    .name = std::string_view("sqrt"),
    .symbol = std::string_view(""),
    .doc = std::string_view("The square root; NaN for negative numbers."),
    .operands = std::vector<std::string_view>{"a"},
    .attributes = no_attributes,
    .type_rule = same_float,
    .kernels = unary_kernels<Sqrt, float, double>(),
    .tensor_kernel = vector_unary<UnaryFunction::Sqrt>,
    .gradient = Gradient{by_operand<sqrt_gradient>},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{9.0}, 3.0}},
    .line_kernel = unary_lines<UnaryFunction::Sqrt>,
};

const OpDef exp = {
    .name = std::string_view("exp"),
    .symbol = std::string_view(""),
    .doc = std::string_view("e to the power a."),
    .operands = std::vector<std::string_view>{"a"},
    .attributes = no_attributes,
    .type_rule = same_float,
    .kernels = unary_kernels<Exp, float, double>(),
    .tensor_kernel = vector_unary<UnaryFunction::Exp>,
    .gradient = Gradient{by_operand<times_result>},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{0.0}, 1.0}},
    .line_kernel = unary_lines<UnaryFunction::Exp>,
};

const OpDef log = {
    .name = std::string_view("log"),
    .symbol = std::string_view(""),
    .doc = std::string_view("The natural logarithm; -inf for 0, NaN for negative numbers."),
    .operands = std::vector<std::string_view>{"a"},
    .attributes = no_attributes,
    .type_rule = same_float,
    .kernels = unary_kernels<Log, float, double>(),
    .tensor_kernel = vector_unary<UnaryFunction::Log>,
    .gradient = Gradient{by_operand<over_operand>},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{1.0}, 0.0}},
    .line_kernel = unary_lines<UnaryFunction::Log>,
};

const OpDef sin = {
    .name = std::string_view("sin"),
    .symbol = std::string_view(""),
    .doc = std::string_view("The sine of an angle in radians."),
    .operands = std::vector<std::string_view>{"a"},
    .attributes = no_attributes,
    .type_rule = same_float,
    .kernels = unary_kernels<Sin, float, double>(),
    .tensor_kernel = pointwise,
    .gradient = Gradient{by_operand<sin_gradient>},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{0.0}, 0.0}},
};

const OpDef cos = {
    .name = std::string_view("cos"),
    .symbol = std::string_view(""),
    .doc = std::string_view("The cosine of an angle in radians."),
    .operands = std::vector<std::string_view>{"a"},
    .attributes = no_attributes,
    .type_rule = same_float,
    .kernels = unary_kernels<Cos, float, double>(),
    .tensor_kernel = pointwise,
    .gradient = Gradient{by_operand<cos_gradient>},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{0.0}, 1.0}},
};

const OpDef tan = {
    .name = std::string_view("tan"),
    .symbol = std::string_view(""),
    .doc = std::string_view("The tangent of an angle in radians."),
    .operands = std::vector<std::string_view>{"a"},
    .attributes = no_attributes,
    .type_rule = same_float,
    .kernels = unary_kernels<Tan, float, double>(),
    .tensor_kernel = pointwise,
    .gradient = Gradient{by_operand<tan_gradient>},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{0.0}, 0.0}},
};

const OpDef asin = {
    .name = std::string_view("asin"),
    .symbol = std::string_view(""),
    .doc = std::string_view("The angle in radians whose sine is a."),
    .operands = std::vector<std::string_view>{"a"},
    .attributes = no_attributes,
    .type_rule = same_float,
    .kernels = unary_kernels<Asin, float, double>(),
    .tensor_kernel = pointwise,
    .gradient = Gradient{by_operand<asin_gradient>},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{0.0}, 0.0}},
};

const OpDef acos = {
    .name = std::string_view("acos"),
    .symbol = std::string_view(""),
    .doc = std::string_view("The angle in radians whose cosine is a."),
    .operands = std::vector<std::string_view>{"a"},
    .attributes = no_attributes,
    .type_rule = same_float,
    .kernels = unary_kernels<Acos, float, double>(),
    .tensor_kernel = pointwise,
    .gradient = Gradient{by_operand<acos_gradient>},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{1.0}, 0.0}},
};

const OpDef atan = {
    .name = std::string_view("atan"),
    .symbol = std::string_view(""),
    .doc = std::string_view("The angle in radians whose tangent is a."),
    .operands = std::vector<std::string_view>{"a"},
    .attributes = no_attributes,
    .type_rule = same_float,
    .kernels = unary_kernels<Atan, float, double>(),
    .tensor_kernel = pointwise,
    .gradient = Gradient{by_operand<atan_gradient>},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{0.0}, 0.0}},
};

const OpDef sinh = {
    .name = std::string_view("sinh"),
    .symbol = std::string_view(""),
    .doc = std::string_view("The hyperbolic sine."),
    .operands = std::vector<std::string_view>{"a"},
    .attributes = no_attributes,
    .type_rule = same_float,
    .kernels = unary_kernels<Sinh, float, double>(),
    .tensor_kernel = pointwise,
    .gradient = Gradient{by_operand<sinh_gradient>},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{0.0}, 0.0}},
};

const OpDef cosh = {
    .name = std::string_view("cosh"),
    .symbol = std::string_view(""),
    .doc = std::string_view("The hyperbolic cosine."),
    .operands = std::vector<std::string_view>{"a"},
    .attributes = no_attributes,
    .type_rule = same_float,
    .kernels = unary_kernels<Cosh, float, double>(),
    .tensor_kernel = pointwise,
    .gradient = Gradient{by_operand<cosh_gradient>},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{0.0}, 1.0}},
};

const OpDef tanh = {
    .name = std::string_view("tanh"),
    .symbol = std::string_view(""),
    .doc = std::string_view("The hyperbolic tangent."),
    .operands = std::vector<std::string_view>{"a"},
    .attributes = no_attributes,
    .type_rule = same_float,
    .kernels = unary_kernels<Tanh, float, double>(),
    .tensor_kernel = vector_unary<UnaryFunction::Tanh>,
    .gradient = Gradient{by_operand<tanh_gradient_of>},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{0.0}, 0.0}},
    .line_kernel = unary_lines<UnaryFunction::Tanh>,
};

const OpDef floor = {
    .name = std::string_view("floor"),
    .symbol = std::string_view(""),
    .doc = std::string_view("The largest whole number that is at most a."),
    .operands = std::vector<std::string_view>{"a"},
    .attributes = no_attributes,
    .type_rule = same_float,
    .kernels = unary_kernels<Floor, float, double>(),
    .tensor_kernel = pointwise,
    .gradient = Gradient{nullptr, a_step},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{-1.5}, -2.0}},
};

const OpDef ceil = {
    .name = std::string_view("ceil"),
    .symbol = std::string_view(""),
    .doc = std::string_view("The smallest whole number that is at least a."),
    .operands = std::vector<std::string_view>{"a"},
    .attributes = no_attributes,
    .type_rule = same_float,
    .kernels = unary_kernels<Ceil, float, double>(),
    .tensor_kernel = pointwise,
    .gradient = Gradient{nullptr, a_step},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{-1.5}, -1.0}},
};

const OpDef round = {
    .name = std::string_view("round"),
    .symbol = std::string_view(""),
    .doc = std::string_view("The nearest whole number; halves away from zero."),
    .operands = std::vector<std::string_view>{"a"},
    .attributes = no_attributes,
    .type_rule = same_float,
    .kernels = unary_kernels<Round, float, double>(),
    .tensor_kernel = pointwise,
    .gradient = Gradient{nullptr, a_step},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{2.5}, 3.0}, {{-2.5}, -3.0}},
};

const OpDef trunc = {
    .name = std::string_view("trunc"),
    .symbol = std::string_view(""),
    .doc = std::string_view("The whole part: rounds toward zero."),
    .operands = std::vector<std::string_view>{"a"},
    .attributes = no_attributes,
    .type_rule = same_float,
    .kernels = unary_kernels<Trunc, float, double>(),
    .tensor_kernel = pointwise,
    .gradient = Gradient{nullptr, a_step},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{-1.5}, -1.0}},
};

const OpDef pow = {
    .name = std::string_view("pow"),
    .symbol = std::string_view(""),
    .doc = std::string_view("a to the power b."),
    .operands = std::vector<std::string_view>{"a", "b"},
    .attributes = no_attributes,
    .type_rule = same_float,
    .kernels = binary_kernels<Pow, float, double>(),
    .tensor_kernel = pointwise,
    .gradient = Gradient{by_operand<pow_base, pow_exponent>},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{2.0, 10.0}, 1024.0}},
};

const OpDef atan2 = {
    .name = std::string_view("atan2"),
    .symbol = std::string_view(""),
    .doc = std::string_view("The angle in radians of the point (b, a), in (-pi, pi]."),
    .operands = std::vector<std::string_view>{"a", "b"},
    .attributes = no_attributes,
    .type_rule = same_float,
    .kernels = binary_kernels<Atan2, float, double>(),
    .tensor_kernel = pointwise,
    .gradient = Gradient{by_operand<atan2_first, atan2_second>},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{0.0, 1.0}, 0.0}},
};

}  // namespace hiaton::ops
