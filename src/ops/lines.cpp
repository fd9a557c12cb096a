#include "ops/lines.h"

#include <algorithm>
#include <mutex>

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
  if (size_ >= kernels::kLeastElements) is_any_order_ = ops::is_any_order(call);
}

bool is_any_order(const KernelCall& call) {
  const auto bytes = [&](const TensorArgument& of) {
    return ((call.batch - 1) * of.stride + of.size()) * static_cast<int64_t>(size_of(of.dtype));
  };
  TensorArgument out = call.result;
  out.stride = out.size();
  return std::ranges::all_of(call.operands, [&](const TensorArgument& operand) {
    if (operand.elements + bytes(operand) <= out.elements || out.elements + bytes(out) <= operand.elements)
      return true;
    return operand.elements == out.elements && size_of(operand.dtype) == size_of(out.dtype) &&
           operand.size() == out.size() && (call.batch == 1 || operand.stride == out.stride);
  });
}

void Lines::append(const Axis& axis) {
  if (axis.size == 0) empty_ = true;
  if (axis.size == 1) return;
  size_ *= axis.size;
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

Line Lines::line_at(int64_t number, std::array<int64_t, kMostAxes>& index) const {
  const Axis& inner = axes_[rank_ - 1];
  Line line{.length = inner.size, .out = number * inner.size, .begin = {}, .step = inner.step};
  for (std::size_t i = rank_ - 1; i-- > 0 && number > 0;) {
    const Axis& axis = axes_[i];
    index[i] = number % axis.size;
    number /= axis.size;
    for (std::size_t k = 0; k < operands_; ++k) line.begin[k] += index[i] * axis.step[k];
  }
  return line;
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

/// By number.
Fault Lines::for_each_between(int64_t begin, int64_t end, const std::function<Fault(const Line&)>& f) const {
  std::array<int64_t, kMostAxes> index{};
  Line line = line_at(begin, index);
  return for_each_from(line, index, end - begin, f);
}

Fault Lines::for_each_of_many(const std::function<Fault(const Line&)>& f) const {
  constexpr int64_t kManyLines = 32;
  const int64_t length = axes_[rank_ - 1].size;
  const int64_t lines = size_ / length;
  if (!is_any_order_) return for_each_between(0, lines, f);
  std::mutex mutex;
  Fault first = Fault::None;
  int64_t first_at = INT64_MAX;
  const auto note = [&](Fault fault, int64_t range) {
    if (fault == Fault::None) return;
    const std::lock_guard lock(mutex);
    if (range < first_at) first = fault;
    first_at = std::min(first_at, range);
  };
  const int64_t work = kernels::kWorkOfElement * size_;
  if (lines >= kManyLines) {
    kernels::in_ranges(lines, 1, work,
                       [&](int64_t begin, int64_t end) { note(for_each_between(begin, end, f), begin); });
    return first;
  }
  return for_each_between(0, lines, [&](const Line& whole) {
    kernels::in_element_ranges(length, [&](int64_t begin, int64_t end) {
      Line part = whole;
      part.length = end - begin;
      part.out += begin;
      for (std::size_t k = 0; k < operands_; ++k) part.begin[k] += begin * whole.step[k];
      note(f(part), part.out);
    });
    return first;
  });
}

}  // namespace hiaton::ops
