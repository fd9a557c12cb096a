// Convolutions of images in two dimensions, and their gradients: single precision through oneDNN, double
// precision through matrix products. Large ones are cut for threads that idle (launch_helpers.h), and have
// the same bits on any number of threads.
//
// Images are [images, channels, height, width], filters [outputs, channels / groups, filter_height,
// filter_width], results [images, outputs, out_height, out_width], all dense and row-major. T is float or
// double.
#pragma once

#include <array>
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
  std::array<int64_t, 2> stride{1, 1};    ///< from one window to the next, downward and to the right
  std::array<int64_t, 2> padding{0, 0};   ///< zeros on each side
  std::array<int64_t, 2> dilation{1, 1};  ///< from one element of a window to the next
  /// The channels are split into so many groups, and the outputs too: each output sees the channels of its
  /// group alone.
  int64_t groups = 1;

  int64_t out_height() const { return windows(0, height, filter_height); }
  int64_t out_width() const { return windows(1, width, filter_width); }
  friend auto operator<=>(const Convolution&, const Convolution&) = default;

 private:
  int64_t windows(std::size_t axis, int64_t size, int64_t filter) const {
    return (size + 2 * padding[axis] - dilation[axis] * (filter - 1) - 1) / stride[axis] + 1;
  }
};

/// y[i, o, r, c] = the sum over k, u and v of x[i, k, r', c'] w[o, k, u, v], where r' is
/// r * stride + u * dilation - padding, c' the same of c and v, and k goes over the channels of o's group.
template <class T>
void convolve(const Convolution& shape, const T* x, const T* w, T* y);

/// The gradient of x, from that of y.
template <class T>
void convolve_input_gradient(const Convolution& shape, const T* g, const T* w, T* dx);

/// The gradient of w, from that of y.
template <class T>
void convolve_filter_gradient(const Convolution& shape, const T* g, const T* x, T* dw);

}  // namespace hiaton::kernels
