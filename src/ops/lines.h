// How elementwise kernels walk over their operands: line by line, after broadcasting, the batch being one
// more axis. Large launches are cut for threads that idle (kernels/launch_helpers.h).
#pragma once

#include <array>
#include <functional>

#include "hiaton/op.h"
#include "hiaton/tensor.h"
#include "kernels/launch_helpers.h"

namespace hiaton::ops {

constexpr std::size_t kMostElementwiseOperands = 8;

/// A line of the result: `length` elements side by side from element `out` on. Operand k begins at its
/// element begin[k], counted from that of its first instance, and moves on by step[k] for each of them: 1, or
/// 0 where all need the same one.
struct Line {
  int64_t length = 1;
  int64_t out = 0;
  std::array<int64_t, kMostElementwiseOperands> begin{};
  std::array<int64_t, kMostElementwiseOperands> step{};
};

/// The lines of a call, the longest that there are: axes along which every operand moves evenly are one.
class Lines {
 public:
  explicit Lines(const KernelCall& call);

  /// Calls f(line) for each, until one gives a fault. Threads that idle make some of the calls where there
  /// are many elements, and long lines come in parts; the fault is that of the first element that has one.
  template <class F>
  Fault for_each(const F& f) const {
    if (empty_) return Fault::None;
    if (size_ >= kernels::kLeastElements) [[unlikely]]
      return for_each_of_many([&f](const Line& line) { return f(line); });
    Line line;
    line.length = axes_[rank_ - 1].size;
    line.step = axes_[rank_ - 1].step;
    std::array<int64_t, kMostAxes> index{};
    return for_each_from(line, index, INT64_MAX, f);
  }

 private:
  static constexpr std::size_t kMostAxes = kMaxRank + 1;
  struct Axis {
    int64_t size;
    std::array<int64_t, kMostElementwiseOperands> step;
  };

  /// Calls f for so many lines from this one on, or as many as there are, until one gives a fault.
  template <class F>
  Fault for_each_from(Line& line, std::array<int64_t, kMostAxes>& index, int64_t count, const F& f) const {
    while (true) {
      if (const Fault fault = f(line); fault != Fault::None) return fault;
      line.out += line.length;
      if (--count == 0 || !advance(index, line)) return Fault::None;
    }
  }
  Fault for_each_between(int64_t begin, int64_t end, const std::function<Fault(const Line&)>& f) const;
  Fault for_each_of_many(const std::function<Fault(const Line&)>& f) const;
  Line line_at(int64_t number, std::array<int64_t, kMostAxes>& index) const;
  void append(const Axis& axis);
  /// The beginning of the next line; false at the end.
  bool advance(std::array<int64_t, kMostAxes>& index, Line& line) const;

  std::array<Axis, kMostAxes> axes_;  // only the first rank_ are set: most calls have one line
  std::size_t rank_ = 0;
  std::size_t operands_;
  int64_t size_ = 1;  ///< elements of all lines
  bool is_any_order_ = true;
  bool empty_ = false;
};

/// Whether the elements of the result may be computed in any order: each operand stands apart from the
/// result, or exactly where that is to stand.
bool is_any_order(const KernelCall& call);

}  // namespace hiaton::ops
