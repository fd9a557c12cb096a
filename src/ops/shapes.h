// Shapes of results.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "hiaton/type.h"

namespace hiaton::ops {

bool is_fixed(const Dim& dim);
/// Whether the two may be one size at run time.
bool may_equal(const Dim& a, const Dim& b);
/// The more precise of two dimensions that must be of one size.
Dim unify(const Dim& a, const Dim& b);
/// Whether all dimensions of the two are known, or called by the same name.
bool surely_equal(std::span<const Dim> a, std::span<const Dim> b);
/// The same dimensions, as far as they are known.
bool may_equal(std::span<const Dim> a, std::span<const Dim> b);
bool is_fixed(std::span<const Dim> shape);
/// The product of fixed dimensions. Throws ProgramError where it is too large for an i64.
int64_t size_of(std::span<const Dim> shape);
/// The sum of two sizes. Throws ProgramError where it is too large for an i64.
int64_t sum_of_sizes(int64_t a, int64_t b);
/// The sizes of fixed dimensions: as the attribute `shape`.
std::vector<int64_t> sizes_of(std::span<const Dim> shape);
/// Dimensions from an attribute `shape`. Throws ProgramError where one is negative.
std::vector<Dim> shape_of(std::span<const int64_t> sizes);

/// Throws ProgramError: "expected ..., found f32[2] and f32[3]".
[[noreturn]] void refuse(std::string_view expected, std::span<const Type> found);
/// Throws ProgramError where one of them is of a data type.
void refuse_data(std::span<const Type> operands);
/// The axis, where negative ones count from the end. Throws ProgramError where there is none such.
std::size_t axis_of(int64_t axis, std::size_t rank);
/// Which axes an attribute `axes` names; all, where it is empty. Throws ProgramError where there is none such
/// or one comes twice.
std::vector<bool> axes_of(std::span<const int64_t> axes, std::size_t rank);

/// The shape of an elementwise result: aligned at the last dimension, sizes of 1 stretch. Throws ProgramError
/// where two dimensions do not go together.
std::vector<Dim> broadcast(std::span<const Type> operands);

}  // namespace hiaton::ops
