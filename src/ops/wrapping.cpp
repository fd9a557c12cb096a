// Arithmetic on integers that does the same under either overflow mode: it wraps around, as that of tensors
// in other languages does, or it fails where a result does not fit.
#include "ops/family.h"
#include "ops/typed.h"

namespace hiaton::ops {

using namespace kernels;

namespace {

template <DType to>
Type low_bits_type(const TypeQuestion& question) {
  return Type(to, same_integer(question).shape);
}

template <class To>
std::vector<KernelVariant> low_bits_kernels() {
  return {unary_variant<Cast<To>, To, uint8_t>(), unary_variant<Cast<To>, To, int32_t>(),
          unary_variant<Cast<To>, To, int64_t>()};
}

}  // namespace

std::span<const OpDef> wrapping() {
  static const OpDef all[] = {
      {
          .name = "wrapping_add",
          .doc = "The sum of integers; it wraps around, also under trapping overflow.",
          .operands = {"a", "b"},
          .type_rule = same_integer,
          .kernels = binary_kernels<Add, uint8_t, int32_t, int64_t>(),
          .tensor_kernel = typed_binary<Add, uint8_t, int32_t, int64_t>,
          .gradient = Gradient::none(an_integer),
          .is_commutative = true,
          .equations = {neutral(0)},
          .fusion = Fusion::Elementwise,
          .samples = {{{2, 3}, 5}, {{uint8_t{250}, uint8_t{10}}, uint8_t{4}}},
      },
      {
          .name = "wrapping_sub",
          .doc = "The difference of integers; it wraps around, also under trapping overflow.",
          .operands = {"a", "b"},
          .type_rule = same_integer,
          .kernels = binary_kernels<Sub, uint8_t, int32_t, int64_t>(),
          .tensor_kernel = typed_binary<Sub, uint8_t, int32_t, int64_t>,
          .gradient = Gradient::none(an_integer),
          .equations = {neutral(0), with_itself(0, nullptr)},
          .fusion = Fusion::Elementwise,
          .samples = {{{2, 3}, -1}, {{uint8_t{2}, uint8_t{3}}, uint8_t{255}}},
      },
      {
          .name = "wrapping_mul",
          .doc = "The product of integers; it wraps around, also under trapping overflow.",
          .operands = {"a", "b"},
          .type_rule = same_integer,
          .kernels = binary_kernels<Mul, uint8_t, int32_t, int64_t>(),
          .tensor_kernel = typed_binary<Mul, uint8_t, int32_t, int64_t>,
          .gradient = Gradient::none(an_integer),
          .is_commutative = true,
          .equations = {neutral(1), constant_with(0, 0, nullptr)},
          .fusion = Fusion::Elementwise,
          .samples = {{{2, 3}, 6}, {{uint8_t{16}, uint8_t{17}}, uint8_t{16}}},
      },
      {
          .name = "wrapping_neg",
          .doc = "The integer with the other sign; it wraps around, also under trapping overflow.",
          .operands = {"a"},
          .type_rule = same_integer,
          .kernels = unary_kernels<Neg, uint8_t, int32_t, int64_t>(),
          .tensor_kernel = typed_unary<Neg, uint8_t, int32_t, int64_t>,
          .gradient = Gradient::none(an_integer),
          .equations = {involution()},
          .fusion = Fusion::Elementwise,
          .samples = {{{3}, -3}, {{uint8_t{1}}, uint8_t{255}}},
      },
      {
          .name = "wrapping_u8",
          .doc = "The low eight bits of an integer as u8, also under trapping overflow.",
          .operands = {"a"},
          .type_rule = low_bits_type<DType::U8>,
          .kernels = low_bits_kernels<uint8_t>(),
          .tensor_kernel = typed_cast<Cast<uint8_t>, uint8_t, uint8_t, int32_t, int64_t>,
          .gradient = Gradient::none(an_integer),
          .fusion = Fusion::Elementwise,
          .samples = {{{257}, uint8_t{1}}, {{int64_t{-1}}, uint8_t{255}}},
      },
      {
          .name = "wrapping_i32",
          .doc = "The low 32 bits of an integer as i32, also under trapping overflow.",
          .operands = {"a"},
          .type_rule = low_bits_type<DType::I32>,
          .kernels = low_bits_kernels<int32_t>(),
          .tensor_kernel = typed_cast<Cast<int32_t>, int32_t, uint8_t, int32_t, int64_t>,
          .gradient = Gradient::none(an_integer),
          .fusion = Fusion::Elementwise,
          .samples = {{{int64_t{4294967297}}, 1}, {{uint8_t{255}}, 255}},
      },
      {
          .name = "checked_add",
          .doc = "The sum of integers; where it does not fit the run fails, also under wrapping overflow.",
          .operands = {"a", "b"},
          .type_rule = same_integer,
          .kernels = binary_kernels<TrapAdd, uint8_t, int32_t, int64_t>(),
          .tensor_kernel = pointwise,
          .gradient = Gradient::none(an_integer),
          .is_commutative = true,
          .equations = {neutral(0)},
          .fusion = Fusion::Elementwise,
          .samples = {{{2, 3}, 5}, {{uint8_t{250}, uint8_t{5}}, uint8_t{255}}},
      },
      {
          .name = "checked_sub",
          .doc = "The difference of integers; where it does not fit the run fails, also under wrapping "
                 "overflow.",
          .operands = {"a", "b"},
          .type_rule = same_integer,
          .kernels = binary_kernels<TrapSub, uint8_t, int32_t, int64_t>(),
          .tensor_kernel = pointwise,
          .gradient = Gradient::none(an_integer),
          .equations = {neutral(0), with_itself(0, nullptr)},
          .fusion = Fusion::Elementwise,
          .samples = {{{2, 3}, -1}, {{uint8_t{3}, uint8_t{3}}, uint8_t{0}}},
      },
      {
          .name = "checked_mul",
          .doc =
              "The product of integers; where it does not fit the run fails, also under wrapping overflow.",
          .operands = {"a", "b"},
          .type_rule = same_integer,
          .kernels = binary_kernels<TrapMul, uint8_t, int32_t, int64_t>(),
          .tensor_kernel = pointwise,
          .gradient = Gradient::none(an_integer),
          .is_commutative = true,
          .equations = {neutral(1), constant_with(0, 0, nullptr)},
          .fusion = Fusion::Elementwise,
          .samples = {{{2, 3}, 6}, {{uint8_t{15}, uint8_t{17}}, uint8_t{255}}},
      },
  };
  return all;
}

}  // namespace hiaton::ops
