#include "kernels/convolution.h"

#include <algorithm>

#include "base/per_thread.h"
#include "kernels/aligned.h"
#include "kernels/gemm.h"
#include "kernels/launch.h"

namespace hiaton::kernels {
namespace {

/// Rows of the unrolled image: the elements of a filter.
int64_t filter_size(const Convolution& s) {
  return s.channels * s.filter_height * s.filter_width;
}
int64_t image_size(const Convolution& s) {
  return s.channels * s.height * s.width;
}
int64_t out_pixels(const Convolution& s) {
  return s.out_height() * s.out_width();
}

/// Calls f(place in the image, place in the unrolled image [filter_size, out_pixels]) for all pairs, and with
/// -1 for places in the padding.
template <class F>
void for_unrolled(const Convolution& s, F f) {
  int64_t at = 0;
  for (int64_t k = 0; k < s.channels; ++k) {
    for (int64_t u = 0; u < s.filter_height; ++u) {
      for (int64_t v = 0; v < s.filter_width; ++v) {
        for (int64_t r = 0; r < s.out_height(); ++r) {
          const int64_t row = r * s.stride + u - s.padding;
          for (int64_t c = 0; c < s.out_width(); ++c) {
            const int64_t column = c * s.stride + v - s.padding;
            const bool inside = row >= 0 && row < s.height && column >= 0 && column < s.width;
            f(inside ? (k * s.height + row) * s.width + column : -1, at++);
          }
        }
      }
    }
  }
}

double* unrolled_memory(const Convolution& s) {
  static PerThread<AlignedBuffer<double>> memories;
  AlignedBuffer<double>& memory = memories.get();
  memory.reserve(filter_size(s) * out_pixels(s));
  return memory.data();
}

/// The image with a column for each place of the filter.
const double* unrolled(const Convolution& s, const double* image) {
  double* columns = unrolled_memory(s);
  for_unrolled(s, [&](int64_t from, int64_t to) { columns[to] = from < 0 ? 0.0 : image[from]; });
  return columns;
}

/// Calls f(i) for each image, on this thread and on those that idle.
template <class F>
void for_images(const Convolution& s, F f) {
  in_ranges(s.images, 1, s.images * s.outputs * filter_size(s) * out_pixels(s),
            [&](int64_t begin, int64_t end) {
              for (int64_t i = begin; i < end; ++i) f(i);
            });
}

}  // namespace

template <>
void convolve(const Convolution& s, const double* x, const double* w, double* y) {
  const int64_t pixels = out_pixels(s);
  for_images(s, [&](int64_t i) {
    gemm<double>(Transpose::No, Transpose::No, s.outputs, pixels, filter_size(s), 1.0, w, filter_size(s),
                 unrolled(s, x + i * image_size(s)), pixels, 0.0, y + i * s.outputs * pixels, pixels);
  });
}

template <>
void convolve_input_gradient(const Convolution& s, const double* g, const double* w, double* dx) {
  const int64_t pixels = out_pixels(s);
  std::fill_n(dx, s.images * image_size(s), 0.0);
  for_images(s, [&](int64_t i) {
    double* columns = unrolled_memory(s);
    gemm<double>(Transpose::Yes, Transpose::No, filter_size(s), pixels, s.outputs, 1.0, w, filter_size(s),
                 g + i * s.outputs * pixels, pixels, 0.0, columns, pixels);
    double* image = dx + i * image_size(s);
    for_unrolled(s, [&](int64_t to, int64_t from) {
      if (to >= 0) image[to] += columns[from];
    });
  });
}

template <>
void convolve_filter_gradient(const Convolution& s, const double* g, const double* x, double* dw) {
  const int64_t pixels = out_pixels(s);
  std::fill_n(dw, s.outputs * filter_size(s), 0.0);
  for (int64_t i = 0; i < s.images; ++i) {
    gemm<double>(Transpose::No, Transpose::Yes, s.outputs, filter_size(s), pixels, 1.0,
                 g + i * s.outputs * pixels, pixels, unrolled(s, x + i * image_size(s)), pixels, 1.0, dw,
                 filter_size(s));
  }
}

}  // namespace hiaton::kernels
