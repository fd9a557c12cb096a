#include <cmath>

#include "base/per_thread.h"
#include "kernels/aligned.h"
#include "kernels/reduce.h"

namespace hiaton::kernels {
namespace {

/// Calls f(element, element of a line's number) for all elements.
template <class F>
void for_lines(const AxisLayout& layout, F f) {
  int64_t at = 0;
  for (int64_t o = 0; o < layout.outer; ++o) {
    for (int64_t a = 0; a < layout.axis; ++a) {
      for (int64_t i = 0; i < layout.inner; ++i) f(at++, o * layout.inner + i);
    }
  }
}

template <class T>
T* memory_for(int64_t size) {
  static PerThread<AlignedBuffer<T>> memories;
  AlignedBuffer<T>& memory = memories.get();
  memory.reserve(size);
  return memory.data();
}

}  // namespace

template <class T>
void normalize(const AxisLayout& layout, const T* x, T epsilon, T* out) {
  const int64_t lines = layout.outer * layout.inner;
  const int64_t size = lines * layout.axis;
  T* of_lines = memory_for<T>(lines + size);
  T* squares = of_lines + lines;
  mean(layout, x, of_lines);
  for_lines(layout, [&](int64_t at, int64_t line) { out[at] = x[at] - of_lines[line]; });
  for (int64_t i = 0; i < size; ++i) squares[i] = out[i] * out[i];
  mean(layout, squares, of_lines);
  for (int64_t i = 0; i < lines; ++i) of_lines[i] = 1 / std::sqrt(of_lines[i] + epsilon);
  for_lines(layout, [&](int64_t at, int64_t line) { out[at] *= of_lines[line]; });
}

template <class T>
void scale_and_shift(const AxisLayout& layout, const T* x, const T* gain, const T* bias, T* out) {
  for (int64_t o = 0; o < layout.outer; ++o) {
    for (int64_t a = 0; a < layout.axis; ++a) {
      for (int64_t i = 0; i < layout.inner; ++i, ++x, ++out) *out = *x * gain[a] + bias[a];
    }
  }
}

#define HIATON_INSTANTIATE(T)                                  \
  template void normalize(const AxisLayout&, const T*, T, T*); \
  template void scale_and_shift(const AxisLayout&, const T*, const T*, const T*, T*);
HIATON_INSTANTIATE(float)
HIATON_INSTANTIATE(double)
#undef HIATON_INSTANTIATE

}  // namespace hiaton::kernels
