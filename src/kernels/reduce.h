// Reductions along one axis, softmax and cross entropy, for one thread.
//
// What a reduction gives for one line along the axis has the same bits wherever the line stands among others.
// Arrays are dense, and results must not overlap operands except where said.
#pragma once

#include <cstdint>

namespace hiaton::kernels {

/// Where an axis stands in a tensor: element (o, a, i) of x is x[(o * axis + a) * inner + i]; a line runs
/// along a. Reducing gives [outer, inner].
struct AxisLayout {
  int64_t outer = 1;
  int64_t axis = 1;
  int64_t inner = 1;
};

/// The sum along the axis; integers wrap around. T: float, double, uint8_t, int32_t, int64_t.
template <class T>
void sum(const AxisLayout& layout, const T* x, T* out);
/// The sum over the number of elements. T: float, double.
template <class T>
void mean(const AxisLayout& layout, const T* x, T* out);
/// The largest element; NaN if there is one; the lowest value of T, -infinity for floats, on an empty axis.
/// T: float, double, uint8_t, int32_t, int64_t.
template <class T>
void max(const AxisLayout& layout, const T* x, T* out);
/// The place along the axis, which must not be empty, of the first NaN, else of the first largest element. T
/// as for max.
template <class T>
void argmax(const AxisLayout& layout, const T* x, int64_t* out);

// From here on T is float or double.

/// log(exp(x_1) + exp(x_2) + ...), without overflow.
template <class T>
void logsumexp(const AxisLayout& layout, const T* x, T* out);
/// exp(x_a) over the sum of all exp along the axis. `out` may be x.
template <class T>
void softmax(const AxisLayout& layout, const T* x, T* out);
/// The logarithm of softmax. `out` may be x.
template <class T>
void log_softmax(const AxisLayout& layout, const T* x, T* out);
/// The gradient of x, from y = softmax(x) and the gradient g of y: y (g - sum of g y). `out` may be g.
template <class T>
void softmax_gradient(const AxisLayout& layout, const T* y, const T* g, T* out);
/// The gradient of x, from y = log_softmax(x) and the gradient g of y: g - exp(y) (sum of g). `out` may be g.
template <class T>
void log_softmax_gradient(const AxisLayout& layout, const T* y, const T* g, T* out);

/// loss[r] = -log softmax(logits[r])[labels[r]]. All labels must be in [0, classes).
template <class T>
void cross_entropy(int64_t rows, int64_t classes, const T* logits, const int64_t* labels, T* loss);
/// The gradient of the logits, from the gradient g[rows] of the loss: g (softmax(logits) - [class = label]).
/// `out` may be `logits`.
template <class T>
void cross_entropy_gradient(int64_t rows, int64_t classes, const T* logits, const int64_t* labels, const T* g,
                            T* out);

/// out[columns] += every row of x, in their order, so that cutting the rows into several calls changes no
/// bit. The stride is the distance between the beginnings of two rows.
template <class T>
void add_rows(int64_t rows, int64_t columns, const T* x, int64_t stride, T* out);

/// out[r] = x[r] + bias for rows of `columns` elements. `out` may be x.
template <class T>
void add_bias(int64_t rows, int64_t columns, const T* x, const T* bias, T* out);

/// out = (x - mean) / sqrt(variance + epsilon), with the mean and the variance (the mean of squared
/// differences) of each line along the axis. `out` must not overlap x.
template <class T>
void normalize(const AxisLayout& layout, const T* x, T epsilon, T* out);
/// The same for each of `rows` rows of `length` elements; then times gain, plus bias, both [length].
template <class T>
void normalize_rows(int64_t rows, int64_t length, const T* x, T epsilon, const T* gain, const T* bias,
                    T* out);
/// The same for each channel of x [images, channels, size], over all images; then times the gain, plus the
/// bias, of the channel.
template <class T>
void normalize_channels(int64_t images, int64_t channels, int64_t size, const T* x, T epsilon, const T* gain,
                        const T* bias, T* out);

}  // namespace hiaton::kernels
