#include "kernels/reduce.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/elementwise.h"
#include "kernels/reduce_kernels.h"

namespace hiaton::kernels {

template <class T>
const ReduceKernels<T>& reduce_kernels(InstructionSet set) {
#if defined(__x86_64__)
  if (set == InstructionSet::Avx512) return made_once<avx512::reduce_kernels<T>>();
  if (set == InstructionSet::Avx2) return made_once<avx2::reduce_kernels<T>>();
#endif
  return made_once<portable::reduce_kernels<T>>();
}
template const ReduceKernels<float>& reduce_kernels(InstructionSet);
template const ReduceKernels<double>& reduce_kernels(InstructionSet);

namespace {

template <class T>
const ReduceKernels<T>& best_kernels() {
  static const ReduceKernels<T>& best = reduce_kernels<T>(instruction_set());
  return best;
}

template <class T>
bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(x);
  else
    return false;
}

/// Folds lines of integers, for which order and rounding are no matter.
template <class T, class Function>
void fold_integers(const AxisLayout& layout, const T* x, T* out, T start, Function f) {
  for (int64_t o = 0; o < layout.outer; ++o) {
    T* const result = out + o * layout.inner;
    for (int64_t i = 0; i < layout.inner; ++i) result[i] = start;
    for (int64_t a = 0; a < layout.axis; ++a)
      for (int64_t i = 0; i < layout.inner; ++i)
        result[i] = f(result[i], x[(o * layout.axis + a) * layout.inner + i]);
  }
}

}  // namespace

template <class T>
void sum(const AxisLayout& layout, const T* x, T* out) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    fold_integers(layout, x, out, T{0}, [](T a, T b) { return static_cast<T>(U(a) + U(b)); });
  } else {
    best_kernels<T>().sum(layout, x, out);
  }
}

template <class T>
void max(const AxisLayout& layout, const T* x, T* out) {
  if constexpr (std::is_integral_v<T>)
    fold_integers(layout, x, out, std::numeric_limits<T>::min(), [](T a, T b) { return a < b ? b : a; });
  else
    best_kernels<T>().max(layout, x, out);
}

template <class T>
void mean(const AxisLayout& layout, const T* x, T* out) {
  sum(layout, x, out);
  binary_scalar_kernel<T>(BinaryFunction::Divide)(layout.outer * layout.inner, out,
                                                  static_cast<T>(layout.axis), out);
}

template <class T>
void argmax(const AxisLayout& layout, const T* x, int64_t* out) {
  for (int64_t o = 0; o < layout.outer; ++o) {
    for (int64_t i = 0; i < layout.inner; ++i) {
      const T* const line = x + o * layout.axis * layout.inner + i;
      int64_t best = 0;
      for (int64_t a = 1; a < layout.axis; ++a) {
        const T candidate = line[a * layout.inner], holder = line[best * layout.inner];
        if (candidate > holder || (is_nan(candidate) && !is_nan(holder))) best = a;
      }
      out[o * layout.inner + i] = best;
    }
  }
}

template <class T>
void logsumexp(const AxisLayout& layout, const T* x, T* out) {
  best_kernels<T>().logsumexp(layout, x, out);
}

template <class T>
void softmax(const AxisLayout& layout, const T* x, T* out) {
  best_kernels<T>().softmax(layout, x, out);
}

template <class T>
void log_softmax(const AxisLayout& layout, const T* x, T* out) {
  best_kernels<T>().log_softmax(layout, x, out);
}

template <class T>
void softmax_gradient(const AxisLayout& layout, const T* y, const T* g, T* out) {
  best_kernels<T>().softmax_gradient(layout, y, g, out);
}

template <class T>
void log_softmax_gradient(const AxisLayout& layout, const T* y, const T* g, T* out) {
  best_kernels<T>().log_softmax_gradient(layout, y, g, out);
}

template <class T>
void cross_entropy(int64_t rows, int64_t classes, const T* logits, const int64_t* labels, T* loss) {
  best_kernels<T>().cross_entropy(rows, classes, logits, labels, loss);
}

template <class T>
void cross_entropy_gradient(int64_t rows, int64_t classes, const T* logits, const int64_t* labels, const T* g,
                            T* out) {
  best_kernels<T>().cross_entropy_gradient(rows, classes, logits, labels, g, out);
}

template <class T>
void add_rows(int64_t rows, int64_t columns, const T* x, int64_t stride, T* out) {
  best_kernels<T>().add_rows(rows, columns, x, stride, out);
}

template <class T>
void normalize(const AxisLayout& layout, const T* x, T epsilon, T* out) {
  best_kernels<T>().normalize(layout, x, epsilon, out);
}

template <class T>
void normalize_rows(int64_t rows, int64_t length, const T* x, T epsilon, const T* gain, const T* bias,
                    T* out) {
  best_kernels<T>().normalize_rows(rows, length, x, epsilon, gain, bias, out);
}

template <class T>
void normalize_channels(int64_t images, int64_t channels, int64_t size, const T* x, T epsilon, const T* gain,
                        const T* bias, T* out) {
  best_kernels<T>().normalize_channels(images, channels, size, x, epsilon, gain, bias, out);
}

template <class T>
void add_bias(int64_t rows, int64_t columns, const T* x, const T* bias, T* out) {
  const BinaryKernel<T> add = binary_kernel<T>(BinaryFunction::Add);
  for (int64_t r = 0; r < rows; ++r) add(columns, x + r * columns, bias, out + r * columns);
}

#define HIATON_INSTANTIATE(T)                         \
  template void sum(const AxisLayout&, const T*, T*); \
  template void max(const AxisLayout&, const T*, T*); \
  template void argmax(const AxisLayout&, const T*, int64_t*);
HIATON_INSTANTIATE(float)
HIATON_INSTANTIATE(double)
HIATON_INSTANTIATE(uint8_t)
HIATON_INSTANTIATE(int32_t)
HIATON_INSTANTIATE(int64_t)
#undef HIATON_INSTANTIATE

#define HIATON_INSTANTIATE(T)                                                                       \
  template void mean(const AxisLayout&, const T*, T*);                                              \
  template void logsumexp(const AxisLayout&, const T*, T*);                                         \
  template void softmax(const AxisLayout&, const T*, T*);                                           \
  template void log_softmax(const AxisLayout&, const T*, T*);                                       \
  template void softmax_gradient(const AxisLayout&, const T*, const T*, T*);                        \
  template void log_softmax_gradient(const AxisLayout&, const T*, const T*, T*);                    \
  template void cross_entropy(int64_t, int64_t, const T*, const int64_t*, T*);                      \
  template void cross_entropy_gradient(int64_t, int64_t, const T*, const int64_t*, const T*, T*);   \
  template void add_rows(int64_t, int64_t, const T*, int64_t, T*);                                  \
  template void normalize(const AxisLayout&, const T*, T, T*);                                      \
  template void normalize_rows(int64_t, int64_t, const T*, T, const T*, const T*, T*);              \
  template void normalize_channels(int64_t, int64_t, int64_t, const T*, T, const T*, const T*, T*); \
  template void add_bias(int64_t, int64_t, const T*, const T*, T*);
HIATON_INSTANTIATE(float)
HIATON_INSTANTIATE(double)
#undef HIATON_INSTANTIATE

}  // namespace hiaton::kernels
