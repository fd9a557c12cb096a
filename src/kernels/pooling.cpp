#include "kernels/pooling.h"

#include <algorithm>
#include <cmath>

namespace hiaton::kernels {
namespace {

/// What of a window lies in the image: rows of contiguous elements.
struct Window {
  int64_t start;  ///< its first element, among all planes
  int64_t rows, columns;
  int64_t pitch;  ///< elements from one row to the next

  /// Calls f(place) for each of its elements.
  template <class F>
  void for_each(F f) const {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) f(start + r * pitch + c);
    }
  }
};

/// Calls f(window, place of its result) for all windows.
template <class F>
void for_windows(const Pooling& shape, F f) {
  int64_t out = 0;
  for (int64_t plane = 0; plane < shape.planes; ++plane) {
    for (int64_t r = 0; r < shape.out_height(); ++r) {
      const int64_t top = r * shape.stride[0] - shape.padding[0];
      const int64_t first_row = std::max<int64_t>(top, 0);
      const int64_t rows = std::min(top + shape.size[0], shape.height) - first_row;
      for (int64_t c = 0; c < shape.out_width(); ++c) {
        const int64_t left = c * shape.stride[1] - shape.padding[1];
        const int64_t first_column = std::max<int64_t>(left, 0);
        const int64_t columns = std::min(left + shape.size[1], shape.width) - first_column;
        const int64_t start = (plane * shape.height + first_row) * shape.width + first_column;
        f(Window{start, rows, columns, shape.width}, out++);
      }
    }
  }
}

/// The place of the first NaN, else of the first largest element.
template <class T>
int64_t largest(const Window& window, const T* x) {
  int64_t best = window.start;
  window.for_each([&](int64_t at) {
    if (x[at] > x[best] || (std::isnan(x[at]) && !std::isnan(x[best]))) best = at;
  });
  return best;
}

template <class T>
void clear(const Pooling& shape, T* images) {
  std::fill_n(images, shape.planes * shape.height * shape.width, T{0});
}

}  // namespace

template <class T>
void average_pool(const Pooling& shape, const T* x, T* y) {
  const T count = static_cast<T>(shape.size[0] * shape.size[1]);
  for_windows(shape, [&](const Window& window, int64_t out) {
    T sum{};
    window.for_each([&](int64_t at) { sum += x[at]; });
    y[out] = sum / count;
  });
}

template <class T>
void average_pool_gradient(const Pooling& shape, const T* g, T* dx) {
  clear(shape, dx);
  const T count = static_cast<T>(shape.size[0] * shape.size[1]);
  for_windows(shape, [&](const Window& window, int64_t out) {
    const T part = g[out] / count;
    window.for_each([&](int64_t at) { dx[at] += part; });
  });
}

template <class T>
void take_largest(const Pooling& shape, const T* x, const T* v, T* y) {
  for_windows(shape, [&](const Window& window, int64_t out) { y[out] = v[largest(window, x)]; });
}

template <class T>
void take_largest_gradient(const Pooling& shape, const T* x, const T* g, T* dv) {
  clear(shape, dv);
  for_windows(shape, [&](const Window& window, int64_t out) { dv[largest(window, x)] += g[out]; });
}

#define HIATON_INSTANTIATE(T)                                         \
  template void average_pool(const Pooling&, const T*, T*);           \
  template void average_pool_gradient(const Pooling&, const T*, T*);  \
  template void take_largest(const Pooling&, const T*, const T*, T*); \
  template void take_largest_gradient(const Pooling&, const T*, const T*, T*);
HIATON_INSTANTIATE(float)
HIATON_INSTANTIATE(double)
#undef HIATON_INSTANTIATE

}  // namespace hiaton::kernels
