#include "ops/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/product_of_sizes.h"
#include "hiaton/error.h"

namespace hiaton::ops {
namespace {

Dim join(const Dim& a, const Dim& b, std::span<const Type> operands) {
  if (a.size == 1) return b;
  if (b.size == 1 || a == b) return a;
  if (is_fixed(a) && is_fixed(b)) {
    refuse("shapes that go together (equal dimensions, or 1)", operands);
  }
  if (is_fixed(a)) return a;
  return is_fixed(b) ? b : unknown_dim();
}

}  // namespace

bool is_fixed(const Dim& dim) {
  return dim.size >= 0;
}

bool may_equal(const Dim& a, const Dim& b) {
  return !is_fixed(a) || !is_fixed(b) || a.size == b.size;
}

Dim unify(const Dim& a, const Dim& b) {
  if (is_fixed(a) || b == unknown_dim()) return a;
  return is_fixed(b) || a == unknown_dim() ? b : a;
}

bool surely_equal(std::span<const Dim> a, std::span<const Dim> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Dim& x, const Dim& y) { return x == y && x != unknown_dim(); });
}

bool may_equal(std::span<const Dim> a, std::span<const Dim> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Dim& x, const Dim& y) { return may_equal(x, y); });
}

bool is_fixed(std::span<const Dim> shape) {
  return std::all_of(shape.begin(), shape.end(), [](const Dim& dim) { return is_fixed(dim); });
}

int64_t size_of(std::span<const Dim> shape) {
  if (std::ranges::find(shape, 0, &Dim::size) != shape.end()) return 0;
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  const std::optional<uint64_t> size = product_of_sizes(1, shape, kMost, &Dim::size);
  if (!size) {
    throw ProgramError(fmt::format("expected fewer elements than 2^63, found the sizes {}",
                                   fmt::join(sizes_of(shape), ", ")));
  }
  return static_cast<int64_t>(*size);
}

int64_t sum_of_sizes(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum))
    throw ProgramError(fmt::format("expected sizes whose sum is below 2^63, found {} and {}", a, b));
  return sum;
}

std::vector<int64_t> sizes_of(std::span<const Dim> shape) {
  std::vector<int64_t> sizes;
  for (const Dim& dim : shape) sizes.push_back(dim.size);
  return sizes;
}

std::vector<Dim> shape_of(std::span<const int64_t> sizes) {
  std::vector<Dim> shape;
  for (int64_t size : sizes) {
    if (size < 0) throw ProgramError(fmt::format("expected sizes of 0 or more, found {}", size));
    shape.push_back({.size = size, .symbol = ""});
  }
  return shape;
}

void refuse(std::string_view expected, std::span<const Type> found) {
  std::string types;
  for (const Type& type : found) types += (types.empty() ? "" : " and ") + to_string(type);
  throw ProgramError(fmt::format("expected {}, found {}", expected, types));
}

void refuse_data(std::span<const Type> operands) {
  for (const Type& type : operands) {
    if (type.is_data()) refuse("numbers or tensors", operands);
  }
}

std::size_t axis_of(int64_t axis, std::size_t rank) {
  const auto count = static_cast<int64_t>(rank);
  if (axis >= -count && axis < count) return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
  throw ProgramError(fmt::format("expected an axis from {} to {}, found {}", -count, count - 1, axis));
}

std::vector<bool> axes_of(std::span<const int64_t> axes, std::size_t rank) {
  std::vector<bool> chosen(rank, axes.empty());
  for (int64_t axis : axes) {
    const std::size_t at = axis_of(axis, rank);
    if (chosen[at]) throw ProgramError(fmt::format("expected each axis once, found {} twice", axis));
    chosen[at] = true;
  }
  return chosen;
}

std::vector<Dim> broadcast(std::span<const Type> operands) {
  std::size_t rank = 0;
  for (const Type& type : operands) rank = std::max(rank, type.shape.size());
  std::vector<Dim> shape(rank, Dim{.size = 1, .symbol = ""});
  for (const Type& type : operands) {
    const std::size_t skipped = rank - type.shape.size();
    for (std::size_t i = 0; i < type.shape.size(); ++i) {
      shape[skipped + i] = join(shape[skipped + i], type.shape[i], operands);
    }
  }
  return shape;
}

}  // namespace hiaton::ops
