// What pooling needs of each instruction set; pooling_<instruction set>.cpp fill it in.
#pragma once

#include "kernels/cpu.h"
#include "kernels/pooling.h"

namespace hiaton::kernels {

/// Windows side by side that lie in the image as a whole: each begins `stride` elements behind the one
/// before, and has so many rows, `pitch` elements apart, of so many columns.
struct WindowRow {
  int64_t windows, stride;
  int64_t rows, columns;
  int64_t pitch;
};

/// Kernels on a row of windows of which the first begins at x; y gets a number for each.
template <class T>
struct PoolingKernels {
  /// The sums of the windows, each added up from its first element to its last one, over the count.
  void (*mean)(const WindowRow& windows, T count, const T* x, T* y);
  /// What stands in v, the first window of which begins there, where x has the first NaN, else the first
  /// largest element.
  void (*take_largest)(const WindowRow& windows, const T* x, const T* v, T* y);
  /// The first largest elements of windows that have no NaN.
  void (*largest)(const WindowRow& windows, const T* x, T* y);
  bool (*has_nan)(int64_t count, const T* x);
};

/// The kernels for one instruction set, which this machine must have.
template <class T>
const PoolingKernels<T>& pooling_kernels(InstructionSet set);

namespace portable {
template <class T>
PoolingKernels<T> pooling_kernels();
}
namespace avx2 {
template <class T>
PoolingKernels<T> pooling_kernels();
}
namespace avx512 {
template <class T>
PoolingKernels<T> pooling_kernels();
}

}  // namespace hiaton::kernels
