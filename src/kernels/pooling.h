// Windows of images in two dimensions reduced to one number, for one thread.
//
// Planes are [height, width], `planes` of them one behind the other; results [out_height, out_width]. Windows
// lie inside of the plane. T is float or double.
#pragma once

#include <cstdint>

namespace hiaton::kernels {

struct Pooling {
  int64_t planes = 1;
  int64_t height = 1;
  int64_t width = 1;
  int64_t size = 1;    ///< of a window, in both directions
  int64_t stride = 1;  ///< from one window to the next

  int64_t out_height() const { return (height - size) / stride + 1; }
  int64_t out_width() const { return (width - size) / stride + 1; }
};

/// The mean of each window.
template <class T>
void average_pool(const Pooling& shape, const T* x, T* y);
/// The gradient of x, from that of y.
template <class T>
void average_pool_gradient(const Pooling& shape, const T* g, T* dx);

/// What stands in v where x has the first NaN, else the first largest element, of each window.
template <class T>
void take_largest(const Pooling& shape, const T* x, const T* v, T* y);
/// The gradient of v, from that of y.
template <class T>
void take_largest_gradient(const Pooling& shape, const T* x, const T* g, T* dv);

}  // namespace hiaton::kernels
