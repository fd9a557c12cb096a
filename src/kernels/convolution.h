// Convolutions of images in two dimensions, and their gradients: single precision through oneDNN, double
// precision through matrix products. Large ones are cut for threads that idle (launch.h), and have the same
// bits on any number of threads.
//
// Images are [images, channels, height, width], filters [outputs, channels, filter_height, filter_width],
// results [images, outputs, out_height, out_width], all dense and row-major. T is float or double.
#pragma once

#include <compare>
#include <cstdint>

namespace hiaton::kernels {

struct Convolution {
  int64_t images = 1;
  int64_t channels = 1;
  int64_t height = 1;
  int64_t width = 1;
  int64_t outputs = 1;
  int64_t filter_height = 1;
  int64_t filter_width = 1;
  int64_t stride = 1;   ///< in both directions
  int64_t padding = 0;  ///< zeros on each side

  int64_t out_height() const { return (height + 2 * padding - filter_height) / stride + 1; }
  int64_t out_width() const { return (width + 2 * padding - filter_width) / stride + 1; }
  friend auto operator<=>(const Convolution&, const Convolution&) = default;
};

/// y[i, o, r, c] = the sum of x[i, k, r * stride + u - padding, c * stride + v - padding] w[o, k, u, v].
template <class T>
void convolve(const Convolution& shape, const T* x, const T* w, T* y);

/// The gradient of x, from that of y.
template <class T>
void convolve_input_gradient(const Convolution& shape, const T* g, const T* w, T* dx);

/// The gradient of w, from that of y.
template <class T>
void convolve_filter_gradient(const Convolution& shape, const T* g, const T* x, T* dw);

}  // namespace hiaton::kernels
