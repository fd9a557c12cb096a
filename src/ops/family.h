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

/// Kernels for types whose results may not fit: `Wrap` gives the low bits, `Trap` a Fault.
template <class Wrap, class Trap, class... In>
std::vector<KernelVariant> trapping_unary_kernels() {
  return {with_trap(unary_variant<Wrap, In, In>(), unary_variant<Trap, In, In>())...};
}
template <class Wrap, class Trap, class... In>
std::vector<KernelVariant> trapping_binary_kernels() {
  return {with_trap(binary_variant<Wrap, In, In>(), binary_variant<Trap, In, In>())...};
}

inline std::vector<KernelVariant> operator+(std::vector<KernelVariant> a,
                                            const std::vector<KernelVariant>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// A tensor from its elements, for samples.
template <class T>
Value tensor(std::initializer_list<int64_t> dims, std::initializer_list<T> elements) {
  Tensor made(ScalarTraits<T>::dtype, dims);
  std::copy(elements.begin(), elements.end(), made.mutable_data<T>());
  return made;
}

/// Why no gradient passes.
inline constexpr std::string_view a_truth_value = "the result is a truth value";
inline constexpr std::string_view an_integer = "the result is an integer";
inline constexpr std::string_view a_step = "the result does not change with the operand, but in steps";

// Equations of a scalar x, for OpDef::equations; `holds_for` are the element types of x, null: all.

constexpr bool is_bool(DType dtype) {
  return dtype == DType::Bool;
}
constexpr bool is_no_float(DType dtype) {
  return !is_float(dtype);
}

/// op(x) = x.
constexpr Equation changes_nothing(bool (*holds_for)(DType) = nullptr) {
  return {.form = Equation::Form::Alone, .holds_for = holds_for};
}
/// op(op(x)) = x.
constexpr Equation involution() {
  return {.form = Equation::Form::Twice};
}
/// op(x, x) = x.
constexpr Equation idempotent() {
  return {.form = Equation::Form::WithItself};
}
/// op(x, x) = result.
constexpr Equation with_itself(int result, bool (*holds_for)(DType)) {
  return {.form = Equation::Form::WithItself,
          .result = Equation::Result::Number,
          .result_number = result,
          .holds_for = holds_for};
}
/// op(x, number) = x.
constexpr Equation neutral(int number, bool (*holds_for)(DType) = nullptr) {
  return {.form = Equation::Form::WithNumber, .number = number, .holds_for = holds_for};
}
/// op(x, number) = not x.
constexpr Equation negating(int number) {
  return {.form = Equation::Form::WithNumber,
          .result = Equation::Result::NotX,
          .number = number,
          .holds_for = is_bool};
}
/// op(x, number) = result.
constexpr Equation constant_with(int number, int result, bool (*holds_for)(DType)) {
  return {.form = Equation::Form::WithNumber,
          .result = Equation::Result::Number,
          .number = number,
          .result_number = result,
          .holds_for = holds_for};
}

/// The tensor kernel of an operation that has scalar kernels: one element after the other, after
/// broadcasting.
Fault pointwise(const KernelCall& call);

// The usual type rules. Operands may be tensors: they broadcast as in NumPy, and the result has the shape
// that comes of it.

/// All operands of one number type; the result has it too.
Type same_number(const TypeQuestion& question);
Type same_float(const TypeQuestion& question);
Type same_integer(const TypeQuestion& question);
Type same_bool(const TypeQuestion& question);
/// Any one type, which the result has too.
Type any_type(const TypeQuestion& question);
/// All operands of one type, bool included; the result is bool.
Type compare_any(const TypeQuestion& question);
/// All operands of one number type; the result is bool.
Type compare_numbers(const TypeQuestion& question);

}  // namespace hiaton::ops
