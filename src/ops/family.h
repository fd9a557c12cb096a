// What the op families share: how to list kernels by element type, and the usual type rules.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "hiaton/op.h"
#include "kernels/scalar.h"

namespace hiaton::ops {

template <class F, class Out, class In>
KernelVariant unary_variant() {
  constexpr bool fails = kernels::can_fail<F, Out, In>;
  const Kernel kernel = kernels::unary<F, In, Out>;
  return {ScalarTraits<In>::dtype, kernel, fails, kernel, fails};
}

template <class F, class Out, class In>
KernelVariant binary_variant() {
  constexpr bool fails = kernels::can_fail<F, Out, In, In>;
  const Kernel kernel = kernels::binary<F, In, Out>;
  return {ScalarTraits<In>::dtype, kernel, fails, kernel, fails};
}

/// The result has the type of the operand.
template <class F, class... In>
std::vector<KernelVariant> unary_kernels() {
  return {unary_variant<F, In, In>()...};
}

/// The result has the type of the operands.
template <class F, class... In>
std::vector<KernelVariant> binary_kernels() {
  return {binary_variant<F, In, In>()...};
}

template <class F, class... In>
std::vector<KernelVariant> predicate_kernels() {
  return {binary_variant<F, bool, In>()...};
}

/// A kernel that wraps and one that traps on overflow.
inline KernelVariant with_trap(KernelVariant wrap, KernelVariant trap) {
  return {wrap.operand, wrap.wrap, wrap.wrap_can_fail, trap.trap, trap.trap_can_fail};
}

inline std::vector<KernelVariant> operator+(std::vector<KernelVariant> a,
                                            const std::vector<KernelVariant>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline const std::vector<AttributeDef> no_attributes{};

/// A tensor from its elements, for samples.
template <class T>
Value tensor(std::initializer_list<int64_t> dims, std::initializer_list<T> elements) {
  Tensor made(ScalarTraits<T>::dtype, dims);
  std::copy(elements.begin(), elements.end(), made.mutable_data<T>());
  return made;
}

/// Why no gradient passes.
inline constexpr std::string_view a_truth_value = "the result is a truth value";
inline constexpr std::string_view a_step = "the result does not change with the operand, but in steps";

/// The tensor kernel of an operation that has scalar kernels: one element after the other, after
/// broadcasting.
Fault pointwise(const KernelCall& call);

// The usual type rules. Operands may be tensors: they broadcast as in NumPy, and the result has the shape
// that comes of it.

/// All operands of one number type; the result has it too.
Type same_number(const TypeQuestion& question);
Type same_float(const TypeQuestion& question);
Type same_bool(const TypeQuestion& question);
/// Any one type, which the result has too.
Type any_type(const TypeQuestion& question);
/// All operands of one type, bool included; the result is bool.
Type compare_any(const TypeQuestion& question);
/// All operands of one number type; the result is bool.
Type compare_numbers(const TypeQuestion& question);

}  // namespace hiaton::ops
