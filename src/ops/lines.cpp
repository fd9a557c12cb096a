#include "ops/lines.h"

#include <algorithm>

#include "base/check.h"

namespace hiaton::ops {

Lines::Lines(const KernelCall& call) : operands_(call.operands.size()) {
  HIATON_CHECK(operands_ <= kMostElementwiseOperands);
  const std::span<const int64_t> dims = call.result.dims;
  // Steps along the result's axes, from the last: what an operand has left is what its inner axes span.
  std::array<Axis, kMaxRank> inner;
  std::array<int64_t, kMostElementwiseOperands> span;
  span.fill(1);
  for (std::size_t i = dims.size(); i-- > 0;) {
    inner[i] = {dims[i], {}};
    for (std::size_t k = 0; k < operands_; ++k) {
      const std::span<const int64_t> own = call.operands[k].dims;
      const std::size_t skipped = dims.size() - own.size();
      const int64_t size = i < skipped ? 1 : own[i - skipped];
      inner[i].step[k] = size == 1 ? 0 : span[k];
      span[k] *= size;
    }
  }
  Axis instances{call.batch, {}};
  for (std::size_t k = 0; k < operands_; ++k) instances.step[k] = call.operands[k].stride;
  append(instances);
  for (std::size_t i = 0; i < dims.size(); ++i) append(inner[i]);
  const auto side_by_side = [](const Axis& axis) {
    return std::ranges::all_of(axis.step, [](int64_t step) { return step <= 1; });
  };
  if (rank_ == 0 || !side_by_side(axes_[rank_ - 1])) axes_[rank_++] = {1, {}};  // lines of one element
}

void Lines::append(const Axis& axis) {
  if (axis.size == 0) empty_ = true;
  if (axis.size == 1) return;
  bool even = rank_ > 0;
  for (std::size_t k = 0; k < operands_ && even; ++k) {
    even = axes_[rank_ - 1].step[k] == axis.step[k] * axis.size;
  }
  if (!even) {
    axes_[rank_++] = axis;
    return;
  }
  axes_[rank_ - 1].size *= axis.size;
  axes_[rank_ - 1].step = axis.step;
}

bool Lines::advance(std::array<int64_t, kMostAxes>& index, Line& line) const {
  for (std::size_t i = rank_ - 1; i-- > 0;) {
    const Axis& axis = axes_[i];
    if (++index[i] < axis.size) {
      for (std::size_t k = 0; k < operands_; ++k) line.begin[k] += axis.step[k];
      return true;
    }
    index[i] = 0;
    for (std::size_t k = 0; k < operands_; ++k) line.begin[k] -= (axis.size - 1) * axis.step[k];
  }
  return false;
}

}  // namespace hiaton::ops
