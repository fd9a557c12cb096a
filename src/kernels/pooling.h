// Windows of images in two dimensions reduced to one number, for one thread.
//
// Planes are [height, width], `planes` of them contiguous; results [out_height, out_width]. Each window has
// an element of the plane: padding is less than the size of a window. T is float or double.
#pragma once

#include <array>
#include <cstdint>

namespace hiaton::kernels {

struct Pooling {
  int64_t planes = 1;
  int64_t height = 1;
  int64_t width = 1;
  std::array<int64_t, 2> size{1, 1};     ///< rows and columns of a window
  std::array<int64_t, 2> stride{1, 1};   ///< from one window to the next, downward and to the right
  std::array<int64_t, 2> padding{0, 0};  ///< rows above and below, columns on the left and on the right

  int64_t out_height() const { return (height + 2 * padding[0] - size[0]) / stride[0] + 1; }
  int64_t out_width() const { return (width + 2 * padding[1] - size[1]) / stride[1] + 1; }
};

/// The mean of each window, in which padding counts as zeros.
template <class T>
void average_pool(const Pooling& shape, const T* x, T* y);
/// The gradient of x, from that of y.
template <class T>
void average_pool_gradient(const Pooling& shape, const T* g, T* dx);

/// What stands in v where x has the first NaN, else the first largest element, of each window. Padding is
/// never taken.
template <class T>
void take_largest(const Pooling& shape, const T* x, const T* v, T* y);
/// The gradient of v, from that of y.
template <class T>
void take_largest_gradient(const Pooling& shape, const T* x, const T* g, T* dv);

}  // namespace hiaton::kernels
