#include "ops/families.h"
#include "ops/family.h"
#include "ops/gradients.h"
#include "ops/shapes.h"
#include "ops/typed.h"

namespace hiaton::ops {

using namespace kernels;

namespace {

template <DType to>
Type cast_to(const TypeQuestion& question) {
  refuse_data(question.operands);
  return Type(to, question.operands[0].shape);
}

}  // namespace

const OpDef to_bool = {
    .name = std::string_view("bool"),
    .symbol = std::string_view(""),
    .doc = std::string_view("Whether the number is not zero."),
    .operands = std::vector<std::string_view>{"a"},
    .attributes = no_attributes,
    .type_rule = cast_to<DType::Bool>,
    .kernels =
        std::vector{unary_variant<Cast<bool>, bool, bool>(), unary_variant<Cast<bool>, bool, int32_t>(),
                    unary_variant<Cast<bool>, bool, int64_t>(), unary_variant<Cast<bool>, bool, float>(),
                    unary_variant<Cast<bool>, bool, double>()},
    .tensor_kernel = typed_cast<Cast<bool>, bool, bool, int32_t, int64_t, float, double>,
    .gradient = Gradient{nullptr, a_truth_value},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{2}, true}, {{0.0}, false}},
};

const OpDef to_i32 = {
    .name = std::string_view("i32"),
    .symbol = std::string_view(""),
    .doc = std::string_view("As i32. Floats round toward zero; NaN and what does not fit fails. An i64 keeps "
                            "its low bits, or fails under trapping overflow."),
    .operands = std::vector<std::string_view>{"a"},
    .attributes = no_attributes,
    .type_rule = cast_to<DType::I32>,
    .kernels = std::vector{unary_variant<Cast<int32_t>, int32_t, bool>(),
                           unary_variant<Cast<int32_t>, int32_t, int32_t>(),
                           with_trap(unary_variant<Cast<int32_t>, int32_t, int64_t>(),
                                     unary_variant<TrapCast<int32_t>, int32_t, int64_t>()),
                           unary_variant<CastFloatToInt<int32_t>, int32_t, float>(),
                           unary_variant<CastFloatToInt<int32_t>, int32_t, double>()},
    .tensor_kernel = pointwise,
    .gradient = Gradient{nullptr, a_step},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{int64_t{7}}, 7}, {{-1.5}, -1}, {{true}, 1}},
};

const OpDef to_i64 = {
    .name = std::string_view("i64"),
    .symbol = std::string_view(""),
    .doc = std::string_view("As i64. Floats round toward zero; NaN and what does not fit fails."),
    .operands = std::vector<std::string_view>{"a"},
    .attributes = no_attributes,
    .type_rule = cast_to<DType::I64>,
    .kernels = std::vector{unary_variant<Cast<int64_t>, int64_t, bool>(),
                           unary_variant<Cast<int64_t>, int64_t, int32_t>(),
                           unary_variant<Cast<int64_t>, int64_t, int64_t>(),
                           unary_variant<CastFloatToInt<int64_t>, int64_t, float>(),
                           unary_variant<CastFloatToInt<int64_t>, int64_t, double>()},
    .tensor_kernel = typed_cast<Cast<int64_t>, int64_t, bool, int32_t, int64_t>,
    .gradient = Gradient{nullptr, a_step},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{7}, int64_t{7}}, {{2.75}, int64_t{2}}},
};

const OpDef to_f32 = {
    .name = std::string_view("f32"),
    .symbol = std::string_view(""),
    .doc = std::string_view("As f32, rounded to the nearest."),
    .operands = std::vector<std::string_view>{"a"},
    .attributes = no_attributes,
    .type_rule = cast_to<DType::F32>,
    .kernels =
        std::vector{unary_variant<Cast<float>, float, bool>(), unary_variant<Cast<float>, float, int32_t>(),
                    unary_variant<Cast<float>, float, int64_t>(), unary_variant<Cast<float>, float, float>(),
                    unary_variant<Cast<float>, float, double>()},
    .tensor_kernel = typed_cast<Cast<float>, float, bool, int32_t, int64_t, float, double>,
    .gradient = Gradient{by_operand<cast_back>},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{3}, 3.0f}, {{0.5}, 0.5f}},
};

const OpDef to_f64 = {
    .name = std::string_view("f64"),
    .symbol = std::string_view(""),
    .doc = std::string_view("As f64, rounded to the nearest."),
    .operands = std::vector<std::string_view>{"a"},
    .attributes = no_attributes,
    .type_rule = cast_to<DType::F64>,
    .kernels = std::vector{unary_variant<Cast<double>, double, bool>(),
                           unary_variant<Cast<double>, double, int32_t>(),
                           unary_variant<Cast<double>, double, int64_t>(),
                           unary_variant<Cast<double>, double, float>(),
                           unary_variant<Cast<double>, double, double>()},
    .tensor_kernel = typed_cast<Cast<double>, double, bool, int32_t, int64_t, float, double>,
    .gradient = Gradient{by_operand<cast_back>},
    .algebra = Algebra::None,
    .fusion = Fusion::Elementwise,
    .samples = std::vector<Sample>{{{3}, 3.0}, {{0.5f}, 0.5}},
};

}  // namespace hiaton::ops
