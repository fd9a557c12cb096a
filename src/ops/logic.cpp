#include "ops/family.h"
#include "ops/gradients.h"
#include "ops/reshaping_kernels.h"
#include "ops/typed.h"

namespace hiaton::ops {

using namespace kernels;

std::span<const OpDef> logic() {
  static const OpDef all[] = {
      {
          .name = "and",
          .doc = "Whether both hold, both operands computed. The language's `and` skips its right "
                 "side and becomes an if.",
          .operands = {"a", "b"},
          .type_rule = same_bool,
          .kernels = binary_kernels<And, bool>(),
          .tensor_kernel = typed_predicate<And, bool>,
          .gradient = Gradient::none(a_truth_value),
          .is_commutative = true,
          .equations = {idempotent(), neutral(1), constant_with(0, 0, is_bool)},
          .fusion = Fusion::Elementwise,
          .samples = {{{true, false}, false}, {{true, true}, true}},
      },
      {
          .name = "or",
          .doc = "Whether at least one holds, both operands computed. The language's `or` skips "
                 "its right side and becomes an if.",
          .operands = {"a", "b"},
          .type_rule = same_bool,
          .kernels = binary_kernels<Or, bool>(),
          .tensor_kernel = typed_predicate<Or, bool>,
          .gradient = Gradient::none(a_truth_value),
          .is_commutative = true,
          .equations = {idempotent(), neutral(0), constant_with(1, 1, is_bool)},
          .fusion = Fusion::Elementwise,
          .samples = {{{true, false}, true}, {{false, false}, false}},
      },
      {
          .name = "not",
          .symbol = "not",
          .doc = "The other truth value.",
          .operands = {"a"},
          .type_rule = same_bool,
          .kernels = unary_kernels<Not, bool>(),
          .tensor_kernel = typed_cast<Not, bool, bool>,
          .gradient = Gradient::none(a_truth_value),
          .equations = {involution()},
          .fusion = Fusion::Elementwise,
          .samples = {{{true}, false}, {{false}, true}},
      },
      {
          .name = "assume",
          .doc = "The condition, which must hold: else the run ends, with this id in its error.",
          .operands = {"condition"},
          .attributes = {{.name = "id", .otherwise = 0}},
          .type_rule = same_bool,
          .kernels = unary_kernels<Assume, bool>(),
          .tensor_kernel = pointwise,
          .gradient = Gradient::none(a_truth_value),
          .fusion = Fusion::Elementwise,
          .samples = {{{true}, true, {3}}},
      },
      {
          .name = "identity",
          .doc = "Its operand, unchanged.",
          .operands = {"a"},
          .type_rule = any_type,
          .kernels = unary_kernels<Identity, bool, uint8_t, int32_t, int64_t, float, double>(),
          .tensor_kernel = copy_kernel,
          .gradient = by_operand<pass>,
          .equations = {changes_nothing()},
          .fusion = Fusion::Elementwise,
          .role = Role::Identity,
          .samples = {{{3}, 3}, {{true}, true}},
      },
  };
  return all;
}

}  // namespace hiaton::ops
