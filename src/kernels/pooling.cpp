#include "kernels/pooling.h"

#include <algorithm>
#include <cmath>

#include "kernels/pooling_kernels.h"

namespace hiaton::kernels {

template <class T>
const PoolingKernels<T>& pooling_kernels(InstructionSet set) {
#if defined(__x86_64__)
  if (set == InstructionSet::Avx512) return made_once<avx512::pooling_kernels<T>>();
  if (set == InstructionSet::Avx2) return made_once<avx2::pooling_kernels<T>>();
#endif
  return made_once<portable::pooling_kernels<T>>();
}
template const PoolingKernels<float>& pooling_kernels(InstructionSet);
template const PoolingKernels<double>& pooling_kernels(InstructionSet);

namespace {

template <class T>
const PoolingKernels<T>& best_kernels() {
  static const PoolingKernels<T>& best = pooling_kernels<T>(instruction_set());
  return best;
}

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

/// The window of a result, as far as it lies in the image.
Window window_at(const Pooling& shape, int64_t plane, int64_t out_row, int64_t out_column) {
  const int64_t top = out_row * shape.stride[0] - shape.padding[0];
  const int64_t left = out_column * shape.stride[1] - shape.padding[1];
  const int64_t first_row = std::max<int64_t>(top, 0);
  const int64_t first_column = std::max<int64_t>(left, 0);
  return {.start = (plane * shape.height + first_row) * shape.width + first_column,
          .rows = std::min(top + shape.size[0], shape.height) - first_row,
          .columns = std::min(left + shape.size[1], shape.width) - first_column,
          .pitch = shape.width};
}

/// Calls f(window, place of its result) for all windows.
template <class F>
void for_windows(const Pooling& shape, F f) {
  int64_t out = 0;
  for (int64_t plane = 0; plane < shape.planes; ++plane) {
    for (int64_t r = 0; r < shape.out_height(); ++r) {
      for (int64_t c = 0; c < shape.out_width(); ++c) f(window_at(shape, plane, r, c), out++);
    }
  }
}

/// Calls `together`(windows side by side, where the first begins, place of its result) for those that lie
/// between the left and the right end of the image, and f(window, place of its result) for all others.
template <class Together, class F>
void for_rows_of_windows(const Pooling& shape, const Together& together, const F& f) {
  const int64_t columns = shape.out_width();
  const int64_t behind =
      (shape.padding[1] + shape.stride[1] - 1) / shape.stride[1];  // first that lies inside
  const int64_t room = shape.width + shape.padding[1] - shape.size[1];
  const int64_t end = room < 0 ? 0 : std::min(columns, room / shape.stride[1] + 1);
  const int64_t begin = std::min(behind, end);
  int64_t out = 0;
  for (int64_t plane = 0; plane < shape.planes; ++plane) {
    for (int64_t r = 0; r < shape.out_height(); ++r, out += columns) {
      for (int64_t c = 0; c < begin; ++c) f(window_at(shape, plane, r, c), out + c);
      if (begin < end) {
        const Window first = window_at(shape, plane, r, begin);
        together({end - begin, shape.stride[1], first.rows, first.columns, first.pitch}, first.start,
                 out + begin);
      }
      for (int64_t c = end; c < columns; ++c) f(window_at(shape, plane, r, c), out + c);
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

/// The same where no element is NaN. Without branches: which element is the largest is as good as random, and
/// to guess wrong takes longer than to look at all of them.
template <class T>
int64_t largest_number(const Window& window, const T* x) {
  int64_t best = window.start;
  T most = x[best];
  window.for_each([&](int64_t at) {
    const auto when_larger = -static_cast<int64_t>(x[at] > most);  // all bits, or none
    best ^= (best ^ at) & when_larger;
    most = x[at] > most ? x[at] : most;
  });
  return best;
}

/// Whether planes of images have a NaN, asked for one place after the other.
template <class T>
class PlanesWithNan {
 public:
  PlanesWithNan(const Pooling& shape, const T* x) : elements_(shape.height * shape.width), x_(x) {}

  /// Whether the plane of this element has one.
  bool at(int64_t place) {
    if (place >= end_) {
      const int64_t plane = place / elements_ * elements_;
      has_nan_ = best_kernels<T>().has_nan(elements_, x_ + plane);
      end_ = plane + elements_;
    }
    return has_nan_;
  }

 private:
  const int64_t elements_;
  const T* const x_;
  int64_t end_ = 0;  ///< of the plane that was looked at
  bool has_nan_ = false;
};

template <class T>
void clear(const Pooling& shape, T* images) {
  std::fill_n(images, shape.planes * shape.height * shape.width, T{0});
}

}  // namespace

template <class T>
void average_pool(const Pooling& shape, const T* x, T* y) {
  const T count = static_cast<T>(shape.size[0] * shape.size[1]);
  for_rows_of_windows(
      shape,
      [&](const WindowRow& windows, int64_t at, int64_t out) {
        best_kernels<T>().mean(windows, count, x + at, y + out);
      },
      [&](const Window& window, int64_t out) {
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
  const PoolingKernels<T>& kernels = best_kernels<T>();
  PlanesWithNan<T> with_nan(shape, x);
  for_rows_of_windows(
      shape,
      [&](const WindowRow& windows, int64_t at, int64_t out) {
        if (v != x || with_nan.at(at)) return kernels.take_largest(windows, x + at, v + at, y + out);
        kernels.largest(windows, x + at, y + out);
      },
      [&](const Window& window, int64_t out) { y[out] = v[largest(window, x)]; });
}

template <class T>
void take_largest_gradient(const Pooling& shape, const T* x, const T* g, T* dv) {
  clear(shape, dv);
  PlanesWithNan<T> with_nan(shape, x);
  for_windows(shape, [&](const Window& window, int64_t out) {
    dv[with_nan.at(window.start) ? largest(window, x) : largest_number(window, x)] += g[out];
  });
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
