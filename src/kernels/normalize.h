// Lines brought to mean 0 and variance 1, for one thread. A line gets the same bits wherever it stands among
// others.
#pragma once

#include "kernels/reduce.h"

namespace hiaton::kernels {

/// out = (x - mean) / sqrt(variance + epsilon), with the mean and the variance (the mean of squared
/// differences) of each line along the axis. Arrays are dense; `out` must not overlap x. T: float, double.
template <class T>
void normalize(const AxisLayout& layout, const T* x, T epsilon, T* out);

/// out = x gain + bias for the elements (o, a, i) of x, with the numbers of `a`. `out` may be x.
template <class T>
void scale_and_shift(const AxisLayout& layout, const T* x, const T* gain, const T* bias, T* out);

}  // namespace hiaton::kernels
