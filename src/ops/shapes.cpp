#include "ops/shapes.h"

#include <fmt/format.h>

#include <algorithm>

#include "hiaton/error.h"

namespace hiaton::ops {
namespace {

Dim join(const Dim& a, const Dim& b, std::span<const Type> operands) {
  if (a.size == 1) return b;
  if (b.size == 1 || a == b) return a;
  if (is_fixed(a) && is_fixed(b)) {
    std::string found;
    for (const Type& type : operands) found += (found.empty() ? "" : " and ") + to_string(type);
    throw ProgramError(
        fmt::format("expected shapes that go together (equal dimensions, or 1), found {}", found));
  }
  return is_fixed(a) ? a : b;
}

}  // namespace

bool is_fixed(const Dim& dim) {
  return dim.size >= 0;
}

bool may_equal(const Dim& a, const Dim& b) {
  return !is_fixed(a) || !is_fixed(b) || a.size == b.size;
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
