#include "kernels/convolution.h"

#include <algorithm>

#include "base/per_thread.h"
#include "kernels/aligned.h"
#include "kernels/gemm.h"
#include "kernels/launch_helpers.h"

namespace hiaton::kernels {
namespace {

int64_t out_pixels(const Convolution& s) {
  return s.out_height() * s.out_width();
}

/// One group of one image, which is a convolution like any other; where its operands and its result begin.
struct Group {
  Convolution shape;
  int64_t image, filters, result;

  /// Rows of the unrolled image: the elements of a filter.
  int64_t filter_size() const { return shape.channels * shape.filter_height * shape.filter_width; }
  int64_t image_size() const { return shape.channels * shape.height * shape.width; }
};

Group group_of(const Convolution& s, int64_t image, int64_t number) {
  Group group{.shape = s, .image = 0, .filters = 0, .result = 0};
  group.shape.images = group.shape.groups = 1;
  group.shape.channels = s.channels / s.groups;
  group.shape.outputs = s.outputs / s.groups;
  const int64_t at = image * s.groups + number;
  group.image = at * group.image_size();
  group.filters = number * group.shape.outputs * group.filter_size();
  group.result = at * group.shape.outputs * out_pixels(s);
  return group;
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
          const int64_t row = r * s.stride[0] + u * s.dilation[0] - s.padding[0];
          for (int64_t c = 0; c < s.out_width(); ++c) {
            const int64_t column = c * s.stride[1] + v * s.dilation[1] - s.padding[1];
            const bool inside = row >= 0 && row < s.height && column >= 0 && column < s.width;
            f(inside ? (k * s.height + row) * s.width + column : -1, at++);
          }
        }
      }
    }
  }
}

double* unrolled_memory(const Group& group) {
  static PerThread<AlignedBuffer<double>> memories;
  AlignedBuffer<double>& memory = memories.get();
  memory.reserve(group.filter_size() * out_pixels(group.shape));
  return memory.data();
}

/// The image with a column for each place of the filter.
const double* unrolled(const Group& group, const double* images) {
  double* columns = unrolled_memory(group);
  const double* image = images + group.image;
  for_unrolled(group.shape, [&](int64_t from, int64_t to) { columns[to] = from < 0 ? 0.0 : image[from]; });
  return columns;
}

/// Calls f(group) for each group of each image, on this thread and on those that idle.
template <class F>
void for_groups(const Convolution& s, F f) {
  const int64_t filter = s.channels / s.groups * s.filter_height * s.filter_width;
  in_ranges(s.images, 1, s.images * s.outputs * filter * out_pixels(s), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t number = 0; number < s.groups; ++number) f(group_of(s, i, number));
    }
  });
}

}  // namespace

template <>
void convolve(const Convolution& s, const double* x, const double* w, double* y) {
  const int64_t pixels = out_pixels(s);
  for_groups(s, [&](const Group& group) {
    gemm<double>(Transpose::No, Transpose::No, group.shape.outputs, pixels, group.filter_size(), 1.0,
                 w + group.filters, group.filter_size(), unrolled(group, x), pixels, 0.0, y + group.result,
                 pixels);
  });
}

template <>
void convolve_input_gradient(const Convolution& s, const double* g, const double* w, double* dx) {
  const int64_t pixels = out_pixels(s);
  for_groups(s, [&](const Group& group) {
    double* columns = unrolled_memory(group);
    gemm<double>(Transpose::Yes, Transpose::No, group.filter_size(), pixels, group.shape.outputs, 1.0,
                 w + group.filters, group.filter_size(), g + group.result, pixels, 0.0, columns, pixels);
    double* image = dx + group.image;
    std::fill_n(image, group.image_size(), 0.0);
    for_unrolled(group.shape, [&](int64_t to, int64_t from) {
      if (to >= 0) image[to] += columns[from];
    });
  });
}

template <>
void convolve_filter_gradient(const Convolution& s, const double* g, const double* x, double* dw) {
  const int64_t pixels = out_pixels(s);
  for (int64_t i = 0; i < s.images; ++i) {
    for (int64_t number = 0; number < s.groups; ++number) {
      const Group group = group_of(s, i, number);
      gemm<double>(Transpose::No, Transpose::Yes, group.shape.outputs, group.filter_size(), pixels, 1.0,
                   g + group.result, pixels, unrolled(group, x), pixels, i == 0 ? 0.0 : 1.0,
                   dw + group.filters, group.filter_size());
    }
  }
  if (s.images == 0)
    std::fill_n(dw, s.outputs * (s.channels / s.groups) * s.filter_height * s.filter_width, 0.0);
}

}  // namespace hiaton::kernels
