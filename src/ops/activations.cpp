// Activation functions of neural nets, and the gradients of their operands from their results.
#include "ops/families.h"
#include "ops/family.h"
#include "ops/gradients.h"
#include "ops/vectorized.h"

namespace hiaton::ops {

using namespace kernels;

const OpDef sigmoid = {
    .name = std::string_view("sigmoid"),
    .symbol = std::string_view(""),
    .doc = std::string_view("1 / (1 + e to the power -a)."),
    .operands = std::vector<std::string_view>{"a"},
    .attributes = no_attributes,
    .type_rule = same_float,
    .kernels = unary_kernels<Sigmoid, float, double>(),
    .tensor_kernel = vector_unary<UnaryFunction::Sigmoid>,
    .gradient = Gradient{by_operand<sigmoid_gradient_of>},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{0.0}, 0.5}},
    .line_kernel = unary_lines<UnaryFunction::Sigmoid>,
};

const OpDef relu = {
    .name = std::string_view("relu"),
    .symbol = std::string_view(""),
    .doc = std::string_view("The number, or 0 where it is negative."),
    .operands = std::vector<std::string_view>{"a"},
    .attributes = no_attributes,
    .type_rule = same_float,
    .kernels = unary_kernels<Relu, float, double>(),
    .tensor_kernel = vector_unary<UnaryFunction::Relu>,
    .gradient = Gradient{by_operand<relu_gradient_of>},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{-2.0}, 0.0}, {{3.5}, 3.5}},
    .line_kernel = unary_lines<UnaryFunction::Relu>,
};

const OpDef tanh_gradient = {
    .name = std::string_view("tanh_gradient"),
    .symbol = std::string_view(""),
    .doc = std::string_view(
        "g (1 - y y): the gradient of the operand of a tanh, from its result y and the gradient g of that."),
    .operands = std::vector<std::string_view>{"y", "g"},
    .attributes = no_attributes,
    .type_rule = same_float,
    .kernels = binary_kernels<TanhGradient, float, double>(),
    .tensor_kernel = vector_gradient<BinaryFunction::TanhGradient>,
    .gradient = Gradient{by_operand<tanh_gradient_y, tanh_gradient_g>},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{0.5, 2.0}, 1.5}},
    .line_kernel = binary_lines<BinaryFunction::TanhGradient, true>,
};

const OpDef sigmoid_gradient = {
    .name = std::string_view("sigmoid_gradient"),
    .symbol = std::string_view(""),
    .doc = std::string_view("g y (1 - y): the gradient of the operand of a sigmoid, from its result y and "
                            "the gradient g of that."),
    .operands = std::vector<std::string_view>{"y", "g"},
    .attributes = no_attributes,
    .type_rule = same_float,
    .kernels = binary_kernels<SigmoidGradient, float, double>(),
    .tensor_kernel = vector_gradient<BinaryFunction::SigmoidGradient>,
    .gradient = Gradient{by_operand<sigmoid_gradient_y, sigmoid_gradient_g>},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{0.5, 2.0}, 0.5}},
    .line_kernel = binary_lines<BinaryFunction::SigmoidGradient, true>,
};

const OpDef relu_gradient = {
    .name = std::string_view("relu_gradient"),
    .symbol = std::string_view(""),
    .doc = std::string_view("g where y > 0, else 0: the gradient of the operand of a relu, from its result y "
                            "and the gradient g of that."),
    .operands = std::vector<std::string_view>{"y", "g"},
    .attributes = no_attributes,
    .type_rule = same_float,
    .kernels = binary_kernels<ReluGradient, float, double>(),
    .tensor_kernel = vector_gradient<BinaryFunction::ReluGradient>,
    .gradient = Gradient{by_operand<zeros, relu_gradient_g>},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{0.5, 2.0}, 2.0}, {{0.0, 2.0}, 0.0}},
    .line_kernel = binary_lines<BinaryFunction::ReluGradient, true>,
};

}  // namespace hiaton::ops
