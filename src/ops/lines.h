// How elementwise kernels walk over their operands: line by line, after broadcasting, the batch being one
// more axis.
#pragma once

#include <array>

#include "hiaton/op.h"
#include "hiaton/tensor.h"

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

  /// Calls f(line) for each, until one gives a fault.
  template <class F>
  Fault for_each(F f) const {
    if (empty_) return Fault::None;
    Line line;
    line.length = axes_[rank_ - 1].size;
    line.step = axes_[rank_ - 1].step;
    std::array<int64_t, kMostAxes> index{};
    while (true) {
      if (const Fault fault = f(line); fault != Fault::None) return fault;
      line.out += line.length;
      if (!advance(index, line)) return Fault::None;
    }
  }

 private:
  static constexpr std::size_t kMostAxes = kMaxRank + 1;
  struct Axis {
    int64_t size;
    std::array<int64_t, kMostElementwiseOperands> step;
  };

  void append(const Axis& axis);
  /// The beginning of the next line; false at the end.
  bool advance(std::array<int64_t, kMostAxes>& index, Line& line) const;

  std::array<Axis, kMostAxes> axes_;  // only the first rank_ are set: most calls have one line
  std::size_t rank_ = 0;
  std::size_t operands_;
  bool empty_ = false;
};

}  // namespace hiaton::ops
