// Bits of integers, in two's complement.
#include "kernels/bits.h"

#include "ops/family.h"
#include "ops/shapes.h"
#include "ops/typed.h"

namespace hiaton::ops {

using namespace kernels;

std::span<const OpDef> bits() {
  static const OpDef all[] = {
      {
          .name = "bitwise_and",
          .doc = "The bits that both have.",
          .operands = {"a", "b"},
          .type_rule = same_integer,
          .kernels = binary_kernels<BitAnd, uint8_t, int32_t, int64_t>(),
          .tensor_kernel = typed_binary<BitAnd, uint8_t, int32_t, int64_t>,
          .gradient = Gradient::none(an_integer),
          .is_commutative = true,
          .equations = {idempotent(), constant_with(0, 0, nullptr), neutral(-1)},
          .fusion = Fusion::Elementwise,
          .samples = {{{12, 10}, 8}},
      },
      {
          .name = "bitwise_or",
          .doc = "The bits that at least one has.",
          .operands = {"a", "b"},
          .type_rule = same_integer,
          .kernels = binary_kernels<BitOr, uint8_t, int32_t, int64_t>(),
          .tensor_kernel = typed_binary<BitOr, uint8_t, int32_t, int64_t>,
          .gradient = Gradient::none(an_integer),
          .is_commutative = true,
          .equations = {idempotent(), neutral(0)},
          .fusion = Fusion::Elementwise,
          .samples = {{{12, 10}, 14}},
      },
      {
          .name = "bitwise_xor",
          .doc = "The bits that just one has.",
          .operands = {"a", "b"},
          .type_rule = same_integer,
          .kernels = binary_kernels<BitXor, uint8_t, int32_t, int64_t>(),
          .tensor_kernel = typed_binary<BitXor, uint8_t, int32_t, int64_t>,
          .gradient = Gradient::none(an_integer),
          .is_commutative = true,
          .equations = {with_itself(0, nullptr), neutral(0)},
          .fusion = Fusion::Elementwise,
          .samples = {{{12, 10}, 6}},
      },
      {
          .name = "bitwise_left_shift",
          .doc = "The bits of a moved up by b places, modulo the width of the type: times 2 to the power b, "
                 "what does not fit cut off. Zeros come in.",
          .operands = {"a", "b"},
          .type_rule = same_integer,
          .kernels = binary_kernels<ShiftLeft, uint8_t, int32_t, int64_t>(),
          .tensor_kernel = typed_binary<ShiftLeft, uint8_t, int32_t, int64_t>,
          .gradient = Gradient::none(an_integer),
          .equations = {neutral(0)},
          .fusion = Fusion::Elementwise,
          .samples = {{{3, 4}, 48}, {{1, 33}, 2}},
      },
      {
          .name = "bitwise_right_shift",
          .doc = "The bits of a moved down by b places, modulo the width of the type: divided by 2 to the "
                 "power b, rounded down. Copies of the sign come in.",
          .operands = {"a", "b"},
          .type_rule = same_integer,
          .kernels = binary_kernels<ShiftRight, uint8_t, int32_t, int64_t>(),
          .tensor_kernel = typed_binary<ShiftRight, uint8_t, int32_t, int64_t>,
          .gradient = Gradient::none(an_integer),
          .equations = {neutral(0)},
          .fusion = Fusion::Elementwise,
          .samples = {{{48, 4}, 3}, {{-3, 1}, -2}},
      },
      {
          .name = "bitwise_logical_right_shift",
          .doc = "The bits of a moved down by b places, modulo the width of the type. Zeros come in.",
          .operands = {"a", "b"},
          .type_rule = same_integer,
          .kernels = binary_kernels<ShiftRightLogical, uint8_t, int32_t, int64_t>(),
          .tensor_kernel = typed_binary<ShiftRightLogical, uint8_t, int32_t, int64_t>,
          .gradient = Gradient::none(an_integer),
          .equations = {neutral(0)},
          .fusion = Fusion::Elementwise,
          .samples = {{{48, 4}, 3}, {{-1, 31}, 1}},
      },
      {
          .name = "bitwise_rotate_left",
          .doc = "The bits of a moved up by b places, modulo the width of the type. Those that leave at the "
                 "top come in at the bottom.",
          .operands = {"a", "b"},
          .type_rule = same_integer,
          .kernels = binary_kernels<RotateLeft, uint8_t, int32_t, int64_t>(),
          .tensor_kernel = typed_binary<RotateLeft, uint8_t, int32_t, int64_t>,
          .gradient = Gradient::none(an_integer),
          .equations = {neutral(0)},
          .fusion = Fusion::Elementwise,
          .samples = {{{3, 4}, 48}, {{-2147483647, 1}, 3}},
      },
      {
          .name = "bitwise_invert",
          .doc = "The bits that a does not have: -a - 1.",
          .operands = {"a"},
          .type_rule = same_integer,
          .kernels = unary_kernels<BitInvert, uint8_t, int32_t, int64_t>(),
          .tensor_kernel = typed_unary<BitInvert, uint8_t, int32_t, int64_t>,
          .gradient = Gradient::none(an_integer),
          .equations = {involution()},
          .fusion = Fusion::Elementwise,
          .samples = {{{5}, -6}},
      },
  };
  return all;
}

}  // namespace hiaton::ops
