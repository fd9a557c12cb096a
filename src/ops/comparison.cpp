#include <limits>

#include "ops/family.h"
#include "ops/typed.h"

namespace hiaton::ops {

using namespace kernels;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Type test_of_float(const TypeQuestion& question) {
  Type result = same_float(question);
  result.dtype = DType::Bool;
  return result;
}

}  // namespace

std::span<const OpDef> comparison() {
  static const OpDef all[] = {
      {
          .name = "eq",
          .symbol = "==",
          .doc = "Whether both are equal; NaN equals nothing.",
          .operands = {"a", "b"},
          .type_rule = compare_any,
          .kernels = predicate_kernels<Eq, bool, uint8_t, int32_t, int64_t, float, double>(),
          .tensor_kernel = typed_predicate<Eq, bool, uint8_t, int32_t, int64_t, float, double>,
          .gradient = Gradient::none(a_truth_value),
          .is_commutative = true,
          .equations = {with_itself(1, is_no_float), neutral(1, is_bool), negating(0)},
          .fusion = Fusion::Elementwise,
          .samples = {{{2, 2}, true}, {{true, false}, false}},
      },
      {
          .name = "ne",
          .symbol = "!=",
          .doc = "Whether they differ.",
          .operands = {"a", "b"},
          .type_rule = compare_any,
          .kernels = predicate_kernels<Ne, bool, uint8_t, int32_t, int64_t, float, double>(),
          .tensor_kernel = typed_predicate<Ne, bool, uint8_t, int32_t, int64_t, float, double>,
          .gradient = Gradient::none(a_truth_value),
          .is_commutative = true,
          .equations = {with_itself(0, is_no_float), neutral(0, is_bool), negating(1)},
          .fusion = Fusion::Elementwise,
          .samples = {{{2, 2}, false}, {{true, false}, true}},
      },
      {
          .name = "lt",
          .symbol = "<",
          .doc = "Whether a is less than b.",
          .operands = {"a", "b"},
          .type_rule = compare_numbers,
          .kernels = predicate_kernels<Lt, uint8_t, int32_t, int64_t, float, double>(),
          .tensor_kernel = typed_predicate<Lt, uint8_t, int32_t, int64_t, float, double>,
          .gradient = Gradient::none(a_truth_value),
          .equations = {with_itself(0, is_no_float)},
          .fusion = Fusion::Elementwise,
          .samples = {{{1, 2}, true}, {{2.0, 2.0}, false}},
      },
      {
          .name = "le",
          .symbol = "<=",
          .doc = "Whether a is at most b.",
          .operands = {"a", "b"},
          .type_rule = compare_numbers,
          .kernels = predicate_kernels<Le, uint8_t, int32_t, int64_t, float, double>(),
          .tensor_kernel = typed_predicate<Le, uint8_t, int32_t, int64_t, float, double>,
          .gradient = Gradient::none(a_truth_value),
          .equations = {with_itself(1, is_no_float)},
          .fusion = Fusion::Elementwise,
          .samples = {{{2, 2}, true}, {{3, 2}, false}},
      },
      {
          .name = "gt",
          .symbol = ">",
          .doc = "Whether a is greater than b.",
          .operands = {"a", "b"},
          .type_rule = compare_numbers,
          .kernels = predicate_kernels<Gt, uint8_t, int32_t, int64_t, float, double>(),
          .tensor_kernel = typed_predicate<Gt, uint8_t, int32_t, int64_t, float, double>,
          .gradient = Gradient::none(a_truth_value),
          .equations = {with_itself(0, is_no_float)},
          .fusion = Fusion::Elementwise,
          .samples = {{{1, 2}, false}, {{3.0, 2.0}, true}},
      },
      {
          .name = "ge",
          .symbol = ">=",
          .doc = "Whether a is at least b.",
          .operands = {"a", "b"},
          .type_rule = compare_numbers,
          .kernels = predicate_kernels<Ge, uint8_t, int32_t, int64_t, float, double>(),
          .tensor_kernel = typed_predicate<Ge, uint8_t, int32_t, int64_t, float, double>,
          .gradient = Gradient::none(a_truth_value),
          .equations = {with_itself(1, is_no_float)},
          .fusion = Fusion::Elementwise,
          .samples = {{{2, 2}, true}, {{1, 2}, false}},
      },
      {
          .name = "is_nan",
          .doc = "Whether the number is NaN.",
          .operands = {"a"},
          .type_rule = test_of_float,
          .kernels = {unary_variant<IsNan, bool, float>(), unary_variant<IsNan, bool, double>()},
          .tensor_kernel = typed_cast<IsNan, bool, float, double>,
          .gradient = Gradient::none(a_truth_value),
          .fusion = Fusion::Elementwise,
          .samples = {{{1.0}, false}, {{kNan}, true}},
      },
      {
          .name = "is_inf",
          .doc = "Whether the number is infinite.",
          .operands = {"a"},
          .type_rule = test_of_float,
          .kernels = {unary_variant<IsInf, bool, float>(), unary_variant<IsInf, bool, double>()},
          .tensor_kernel = typed_cast<IsInf, bool, float, double>,
          .gradient = Gradient::none(a_truth_value),
          .fusion = Fusion::Elementwise,
          .samples = {{{1.0}, false}, {{kNan}, false}, {{-kInf}, true}},
      },
      {
          .name = "is_finite",
          .doc = "Whether the number is neither infinite nor NaN.",
          .operands = {"a"},
          .type_rule = test_of_float,
          .kernels = {unary_variant<IsFinite, bool, float>(), unary_variant<IsFinite, bool, double>()},
          .tensor_kernel = typed_cast<IsFinite, bool, float, double>,
          .gradient = Gradient::none(a_truth_value),
          .fusion = Fusion::Elementwise,
          .samples = {{{1.0}, true}, {{kNan}, false}, {{kInf}, false}},
      },
  };
  return all;
}

}  // namespace hiaton::ops
