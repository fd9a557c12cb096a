// The lines of a tensor along one of its axes, for kernels that go along it element by element.
#pragma once

#include "ops/instances.h"

namespace hiaton::ops {

/// A line of a tensor along an axis: its elements stand `step` apart.
template <class T>
struct AxisLine {
  T* begin;
  int64_t step;
  T& operator[](int64_t i) const { return begin[i * step]; }
};

/// The lines of one instance of an argument along an axis.
class AxisLines {
 public:
  AxisLines(std::span<const int64_t> dims, std::size_t axis)
      : outer_(product(dims.first(axis))), length_(dims[axis]), inner_(product(dims.subspan(axis + 1))) {}

  int64_t count() const { return outer_ * inner_; }
  int64_t length() const { return length_; }
  int64_t outer() const { return outer_; }
  int64_t inner() const { return inner_; }
  template <class T>
  AxisLine<T> of(const TensorArgument& argument, int64_t instance, int64_t line) const {
    return {argument.at<T>(instance) + line / inner_ * length_ * inner_ + line % inner_, inner_};
  }

 private:
  int64_t outer_;
  int64_t length_;
  int64_t inner_;
};

}  // namespace hiaton::ops
