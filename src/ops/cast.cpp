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

Var cast_back(const GradientQuestion& q) {
  return q.builder.cast(q.gradient, first(q).type().dtype);
}

template <DType one>
constexpr bool is(DType dtype) {
  return dtype == one;
}

}  // namespace

std::span<const OpDef> cast() {
  static const OpDef all[] = {
      {
          .name = "bool",
          .doc = "Whether the number is not zero.",
          .operands = {"a"},
          .type_rule = cast_to<DType::Bool>,
          .kernels =
              std::vector{
                  unary_variant<Cast<bool>, bool, bool>(), unary_variant<Cast<bool>, bool, uint8_t>(),
                  unary_variant<Cast<bool>, bool, int32_t>(), unary_variant<Cast<bool>, bool, int64_t>(),
                  unary_variant<Cast<bool>, bool, float>(), unary_variant<Cast<bool>, bool, double>()},
          .tensor_kernel = typed_cast<Cast<bool>, bool, bool, uint8_t, int32_t, int64_t, float, double>,
          .gradient = Gradient::none(a_truth_value),
          .equations = {changes_nothing(is<DType::Bool>)},
          .fusion = Fusion::Elementwise,
          .samples = {{{2}, true}, {{0.0}, false}},
      },
      {
          .name = "u8",
          .doc = "As u8, from 0 to 255. Floats round toward zero; NaN and what does not fit fails. An i32 or "
                 "i64 keeps its low bits, or fails under trapping overflow.",
          .operands = {"a"},
          .type_rule = cast_to<DType::U8>,
          .kernels = std::vector{unary_variant<Cast<uint8_t>, uint8_t, bool>(),
                                 unary_variant<Cast<uint8_t>, uint8_t, uint8_t>(),
                                 with_trap(unary_variant<Cast<uint8_t>, uint8_t, int32_t>(),
                                           unary_variant<TrapCast<uint8_t>, uint8_t, int32_t>()),
                                 with_trap(unary_variant<Cast<uint8_t>, uint8_t, int64_t>(),
                                           unary_variant<TrapCast<uint8_t>, uint8_t, int64_t>()),
                                 unary_variant<CastFloatToInt<uint8_t>, uint8_t, float>(),
                                 unary_variant<CastFloatToInt<uint8_t>, uint8_t, double>()},
          .tensor_kernel = pointwise,
          .gradient = Gradient::none(a_step),
          .equations = {changes_nothing(is<DType::U8>)},
          .fusion = Fusion::Elementwise,
          .samples =
              {{{7}, uint8_t{7}}, {{-1}, uint8_t{255}}, {{255.75}, uint8_t{255}}, {{true}, uint8_t{1}}},
      },
      {
          .name = "i32",
          .doc = "As i32. Floats round toward zero; NaN and what does not fit fails. An i64 keeps "
                 "its low bits, or fails under trapping overflow.",
          .operands = {"a"},
          .type_rule = cast_to<DType::I32>,
          .kernels = std::vector{unary_variant<Cast<int32_t>, int32_t, bool>(),
                                 unary_variant<Cast<int32_t>, int32_t, uint8_t>(),
                                 unary_variant<Cast<int32_t>, int32_t, int32_t>(),
                                 with_trap(unary_variant<Cast<int32_t>, int32_t, int64_t>(),
                                           unary_variant<TrapCast<int32_t>, int32_t, int64_t>()),
                                 unary_variant<CastFloatToInt<int32_t>, int32_t, float>(),
                                 unary_variant<CastFloatToInt<int32_t>, int32_t, double>()},
          .tensor_kernel = pointwise,
          .gradient = Gradient::none(a_step),
          .equations = {changes_nothing(is<DType::I32>)},
          .fusion = Fusion::Elementwise,
          .samples = {{{int64_t{7}}, 7}, {{-1.5}, -1}, {{true}, 1}},
      },
      {
          .name = "i64",
          .doc = "As i64. Floats round toward zero; NaN and what does not fit fails.",
          .operands = {"a"},
          .type_rule = cast_to<DType::I64>,
          .kernels = std::vector{unary_variant<Cast<int64_t>, int64_t, bool>(),
                                 unary_variant<Cast<int64_t>, int64_t, uint8_t>(),
                                 unary_variant<Cast<int64_t>, int64_t, int32_t>(),
                                 unary_variant<Cast<int64_t>, int64_t, int64_t>(),
                                 unary_variant<CastFloatToInt<int64_t>, int64_t, float>(),
                                 unary_variant<CastFloatToInt<int64_t>, int64_t, double>()},
          .tensor_kernel = typed_cast<Cast<int64_t>, int64_t, bool, uint8_t, int32_t, int64_t>,
          .gradient = Gradient::none(a_step),
          .equations = {changes_nothing(is<DType::I64>)},
          .fusion = Fusion::Elementwise,
          .samples = {{{7}, int64_t{7}}, {{2.75}, int64_t{2}}},
      },
      {
          .name = "f32",
          .doc = "As f32, rounded to the nearest.",
          .operands = {"a"},
          .type_rule = cast_to<DType::F32>,
          .kernels =
              std::vector{
                  unary_variant<Cast<float>, float, bool>(), unary_variant<Cast<float>, float, uint8_t>(),
                  unary_variant<Cast<float>, float, int32_t>(), unary_variant<Cast<float>, float, int64_t>(),
                  unary_variant<Cast<float>, float, float>(), unary_variant<Cast<float>, float, double>()},
          .tensor_kernel = typed_cast<Cast<float>, float, bool, uint8_t, int32_t, int64_t, float, double>,
          .gradient = by_operand<cast_back>,
          .equations = {changes_nothing(is<DType::F32>)},
          .fusion = Fusion::Elementwise,
          .samples = {{{3}, 3.0f}, {{0.5}, 0.5f}},
      },
      {
          .name = "f64",
          .doc = "As f64, rounded to the nearest.",
          .operands = {"a"},
          .type_rule = cast_to<DType::F64>,
          .kernels = std::vector{unary_variant<Cast<double>, double, bool>(),
                                 unary_variant<Cast<double>, double, uint8_t>(),
                                 unary_variant<Cast<double>, double, int32_t>(),
                                 unary_variant<Cast<double>, double, int64_t>(),
                                 unary_variant<Cast<double>, double, float>(),
                                 unary_variant<Cast<double>, double, double>()},
          .tensor_kernel = typed_cast<Cast<double>, double, bool, uint8_t, int32_t, int64_t, float, double>,
          .gradient = by_operand<cast_back>,
          .equations = {changes_nothing(is<DType::F64>)},
          .fusion = Fusion::Elementwise,
          .samples = {{{3}, 3.0}, {{0.5f}, 0.5}},
      },
  };
  return all;
}

}  // namespace hiaton::ops
