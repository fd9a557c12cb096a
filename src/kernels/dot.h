// Inner products of vectors, in single and double precision, for one thread.
#pragma once

#include <cstdint>

namespace hiaton::kernels {

/// The sum of a[i] * b[i] for i in [0, n). Its bits depend on the elements and on n alone. T: float, double.
template <class T>
T dot(int64_t n, const T* a, const T* b);

}  // namespace hiaton::kernels
