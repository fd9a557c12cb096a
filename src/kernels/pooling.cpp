#include "kernels/pooling.h"

#include <algorithm>
#include <cmath>

namespace hiaton::kernels {
namespace {

/// Calls f(place of the window's first element in the images, place of its result) for all windows.
template <class F>
void for_windows(const Pooling& shape, F f) {
  int64_t out = 0;
  for (int64_t plane = 0; plane < shape.planes; ++plane) {
    for (int64_t r = 0; r < shape.out_height(); ++r) {
      for (int64_t c = 0; c < shape.out_width(); ++c) {
        f((plane * shape.height + r * shape.stride) * shape.width + c * shape.stride, out++);
      }
    }
  }
}

/// The place of the first NaN, else of the first largest element.
template <class T>
int64_t largest(const Pooling& shape, const T* x, int64_t start) {
  int64_t best = start;
  for (int64_t r = 0; r < shape.size; ++r) {
    for (int64_t c = 0; c < shape.size; ++c) {
      const int64_t at = start + r * shape.width + c;
      if (x[at] > x[best] || (std::isnan(x[at]) && !std::isnan(x[best]))) best = at;
    }
  }
  return best;
}

template <class T>
void clear(const Pooling& shape, T* images) {
  std::fill_n(images, shape.planes * shape.height * shape.width, T{0});
}

}  // namespace

template <class T>
void average_pool(const Pooling& shape, const T* x, T* y) {
  const T count = static_cast<T>(shape.size * shape.size);
  for_windows(shape, [&](int64_t start, int64_t out) {
    T sum{};
    for (int64_t r = 0; r < shape.size; ++r) {
      for (int64_t c = 0; c < shape.size; ++c) sum += x[start + r * shape.width + c];
    }
    y[out] = sum / count;
  });
}

template <class T>
void average_pool_gradient(const Pooling& shape, const T* g, T* dx) {
  clear(shape, dx);
  const T count = static_cast<T>(shape.size * shape.size);
  for_windows(shape, [&](int64_t start, int64_t out) {
    const T part = g[out] / count;
    for (int64_t r = 0; r < shape.size; ++r) {
      for (int64_t c = 0; c < shape.size; ++c) dx[start + r * shape.width + c] += part;
    }
  });
}

template <class T>
void take_largest(const Pooling& shape, const T* x, const T* v, T* y) {
  for_windows(shape, [&](int64_t start, int64_t out) { y[out] = v[largest(shape, x, start)]; });
}

template <class T>
void take_largest_gradient(const Pooling& shape, const T* x, const T* g, T* dv) {
  clear(shape, dv);
  for_windows(shape, [&](int64_t start, int64_t out) { dv[largest(shape, x, start)] += g[out]; });
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
