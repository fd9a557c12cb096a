#include "ops/family.h"
#include "ops/typed.h"

namespace hiaton::ops {

using namespace kernels;

std::span<const OpDef> comparison() {
  static const OpDef all[] = {
      {
          .name = "eq",
          .symbol = "==",
          .doc = "Whether both are equal; NaN equals nothing.",
          .operands = {"a", "b"},
          .type_rule = compare_any,
          .kernels = predicate_kernels<Eq, bool, int32_t, int64_t, float, double>(),
          .tensor_kernel = typed_predicate<Eq, bool, int32_t, int64_t, float, double>,
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
          .kernels = predicate_kernels<Ne, bool, int32_t, int64_t, float, double>(),
          .tensor_kernel = typed_predicate<Ne, bool, int32_t, int64_t, float, double>,
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
          .kernels = predicate_kernels<Lt, int32_t, int64_t, float, double>(),
          .tensor_kernel = typed_predicate<Lt, int32_t, int64_t, float, double>,
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
          .kernels = predicate_kernels<Le, int32_t, int64_t, float, double>(),
          .tensor_kernel = typed_predicate<Le, int32_t, int64_t, float, double>,
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
          .kernels = predicate_kernels<Gt, int32_t, int64_t, float, double>(),
          .tensor_kernel = typed_predicate<Gt, int32_t, int64_t, float, double>,
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
          .kernels = predicate_kernels<Ge, int32_t, int64_t, float, double>(),
          .tensor_kernel = typed_predicate<Ge, int32_t, int64_t, float, double>,
          .gradient = Gradient::none(a_truth_value),
          .equations = {with_itself(1, is_no_float)},
          .fusion = Fusion::Elementwise,
          .samples = {{{2, 2}, true}, {{1, 2}, false}},
      },
  };
  return all;
}

}  // namespace hiaton::ops
