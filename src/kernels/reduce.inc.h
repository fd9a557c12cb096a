// Reductions along an axis. Included once by each reduce_<instruction set>.cpp, inside a namespace of its
// own, hence without guard. That file defines kVectorBytes.
//
// There are four ways to lay lines into vectors. A Row is one line whose elements stand side by side, taken
// kLanes at a time and put together at the end. Columns are kLanes lines that stand side by side, one in each
// lane; Short are kLanes lines one after the other, each shorter than a vector, again one in each lane; and a
// ShortRow is one of them, where there are few. The bits of a result depend on the length of its line alone.
// Each way an algorithm walks over `steps` vectors, and folds what it gathers.

#include "kernels/math.inc.h"

template <class T, int kDistance, int... kLane>
[[gnu::always_inline]] inline typename Vector<T>::Register rotate(typename Vector<T>::Register x,
                                                                  std::integer_sequence<int, kLane...>) {
  return __builtin_shufflevector(x, x, ((kLane + kDistance) % int{sizeof...(kLane)})...);
}

/// f over all lanes, in every lane. f must not depend on the order of its operands.
template <class T, int kDistance = static_cast<int>(Vector<T>::kLanes) / 2, class Function>
[[gnu::always_inline]] inline typename Vector<T>::Register fold_lanes(typename Vector<T>::Register x,
                                                                      Function f) {
  if constexpr (kDistance == 0) {
    return x;
  } else {
    constexpr auto kAll = std::make_integer_sequence<int, static_cast<int>(Vector<T>::kLanes)>{};
    return fold_lanes<T, kDistance / 2>(f(x, rotate<T, kDistance>(x, kAll)), f);
  }
}

/// One line of `length` elements side by side.
template <class T>
struct Row {
  using V = Vector<T>;
  int64_t length;
  int64_t steps() const { return (length + V::kLanes - 1) / V::kLanes; }
  /// Elements of a vector that are there.
  int64_t count(int64_t step) const { return length - step * V::kLanes; }
  [[gnu::always_inline]] auto load(const T* line, int64_t step, T rest) const {
    const T* from = line + step * V::kLanes;
    return count(step) >= V::kLanes ? V::load(from) : V::load_some(from, count(step), rest);
  }
  [[gnu::always_inline]] void store(T* line, int64_t step, typename V::Register x) const {
    T* to = line + step * V::kLanes;
    if (count(step) >= V::kLanes)
      V::store(to, x);
    else
      V::store_some(to, x, count(step));
  }
  template <class Function>
  [[gnu::always_inline]] auto fold(typename V::Register x, Function f) const {
    return fold_lanes<T>(x, f);
  }
  void store_result(T* to, typename V::Register x) const { *to = x[0]; }
  /// A number for each line, in its lane.
  auto load_result(const T* from) const { return Math<T>::fill(*from); }
  int64_t rows() const { return 1; }
};

/// One line that fills its vectors.
template <class T>
struct FullRow : Row<T> {
  using V = Vector<T>;
  int64_t steps() const { return this->length / V::kLanes; }
  [[gnu::always_inline]] auto load(const T* line, int64_t step, T) const {
    return V::load(line + step * V::kLanes);
  }
  [[gnu::always_inline]] void store(T* line, int64_t step, typename V::Register x) const {
    V::store(line + step * V::kLanes, x);
  }
};

/// `lines` <= kLanes lines side by side, whose elements stand `stride` apart.
template <class T>
struct Columns {
  using V = Vector<T>;
  int64_t length;
  int64_t stride;
  int64_t lines;
  int64_t steps() const { return length; }
  [[gnu::always_inline]] auto load(const T* line, int64_t step, T rest) const {
    const T* from = line + step * stride;
    return lines >= V::kLanes ? V::load(from) : V::load_some(from, lines, rest);
  }
  [[gnu::always_inline]] void store(T* line, int64_t step, typename V::Register x) const {
    store_result(line + step * stride, x);
  }
  template <class Function>
  [[gnu::always_inline]] auto fold(typename V::Register x, Function) const {
    return x;
  }
  void store_result(T* to, typename V::Register x) const {
    if (lines >= V::kLanes)
      V::store(to, x);
    else
      V::store_some(to, x, lines);
  }
};

/// `lines` <= kLanes lines one after the other.
template <class T>
struct Short {
  using V = Vector<T>;
  int64_t length;
  int64_t lines;
  int64_t steps() const { return length; }
  [[gnu::always_inline]] auto load(const T* line, int64_t step, T rest) const {
    T lanes[V::kLanes];
    if (lines >= V::kLanes)
      for (int64_t l = 0; l < V::kLanes; ++l) lanes[l] = line[l * length + step];
    else
      for (int64_t l = 0; l < V::kLanes; ++l) lanes[l] = l < lines ? line[l * length + step] : rest;
    return V::load(lanes);
  }
  [[gnu::always_inline]] void store(T* line, int64_t step, typename V::Register x) const {
    T lanes[V::kLanes];
    V::store(lanes, x);
    const int64_t count = rows();
    for (int64_t l = 0; l < count; ++l) line[l * length + step] = lanes[l];
  }
  template <class Function>
  [[gnu::always_inline]] auto fold(typename V::Register x, Function) const {
    return x;
  }
  void store_result(T* to, typename V::Register x) const { V::store_some(to, x, rows()); }
  auto load_result(const T* from) const { return V::load_some(from, rows(), T{0}); }
  int64_t rows() const { return lines < V::kLanes ? lines : V::kLanes; }
};

/// One of few lines that are shorter than a vector. It is folded in the order in which Short folds.
template <class T>
struct ShortRow : Row<T> {
  using V = Vector<T>;
  template <class Function>
  [[gnu::always_inline]] auto fold(typename V::Register x, Function f) const {
    T lanes[V::kLanes];
    V::store(lanes, x);
    auto folded = Math<T>::fill(lanes[0]);
    for (int64_t l = 1; l < this->length; ++l) folded = f(folded, Math<T>::fill(lanes[l]));
    return folded;
  }
};

/// So many short lines are few.
template <class T>
constexpr int64_t kFewRows = Vector<T>::kLanes / 4;

/// Calls f(lines, place of their first element, place of their result) for all lines of a dense matrix.
template <class T, class Function>
[[gnu::always_inline]] inline void for_rows(int64_t rows, int64_t length, Function f,
                                            int64_t few = kFewRows<T>) {
  constexpr int64_t kLanes = Vector<T>::kLanes;
  int64_t r = 0;
  if (length < kLanes)
    for (; rows - r > few; r += kLanes) f(Short<T>{length, rows - r}, r * length, r);
  for (; r < rows; ++r) {
    if (length < kLanes)
      f(ShortRow<T>{{length}}, r * length, r);
    else
      f(Row<T>{length}, r * length, r);
  }
}

/// The same for all lines of a layout. Lines without elements are all at place 0.
template <class T, class Function>
[[gnu::always_inline]] inline void for_lines(const AxisLayout& layout, Function f,
                                             int64_t few = kFewRows<T>) {
  if (layout.inner == 1) {
    for_rows<T>(layout.outer, layout.axis, f, few);
    return;
  }
  for (int64_t o = 0; o < layout.outer; ++o)
    for (int64_t i = 0; i < layout.inner; i += Vector<T>::kLanes)
      f(Columns<T>{layout.axis, layout.inner, layout.inner - i},
        layout.axis > 0 ? o * layout.axis * layout.inner + i : 0, o * layout.inner + i);
}

template <class T>
constexpr T kInfinity = T(__builtin_inf());

/// What the algorithms below have in common, on the lines beginning at x.
template <class T>
struct LineReductions {
  using V = typename Vector<T>::Register;
  static constexpr auto add = [](V a, V b) { return a + b; };

  template <class Lines>
  [[gnu::always_inline]] static V max(Lines lines, const T* x) {
    V most = Math<T>::fill(-kInfinity<T>);
    for (int64_t s = 0; s < lines.steps(); ++s) most = Math<T>::max(most, lines.load(x, s, -kInfinity<T>));
    return lines.fold(most, [](V a, V b) { return Math<T>::max(a, b); });
  }

  /// The sum of exp(x - shift).
  template <class Lines>
  [[gnu::always_inline]] static V sum_of_exp(Lines lines, const T* x, V shift) {
    V total = V{};
    for (int64_t s = 0; s < lines.steps(); ++s)
      total += Math<T>::exp(lines.load(x, s, -kInfinity<T>) - shift);
    return lines.fold(total, add);
  }

  /// Subtracted before exp: the largest element, or 0 where that is infinite.
  template <class Lines>
  [[gnu::always_inline]] static V shift(Lines lines, const T* x) {
    const V most = max(lines, x);
    return Math<T>::absolute(most) == kInfinity<T> ? V{} : most;
  }

  template <class Lines>
  [[gnu::always_inline]] static V logsumexp(Lines lines, const T* x) {
    const V by = shift(lines, x);
    return Math<T>::log(sum_of_exp(lines, x, by)) + by;
  }

  template <class Lines>
  [[gnu::always_inline]] static void softmax(Lines lines, const T* x, T* out) {
    const V most = max(lines, x);
    V total = V{};
    for (int64_t s = 0; s < lines.steps(); ++s) {
      const V e = Math<T>::exp(lines.load(x, s, -kInfinity<T>) - most);
      lines.store(out, s, e);
      total += e;
    }
    total = lines.fold(total, add);
    for (int64_t s = 0; s < lines.steps(); ++s) lines.store(out, s, lines.load(out, s, T{0}) / total);
  }
};

template <class T>
void sum(const AxisLayout& layout, const T* x, T* out) {
  for_lines<T>(layout, [=](auto lines, int64_t first, int64_t result) {
    typename Vector<T>::Register total{};
    for (int64_t s = 0; s < lines.steps(); ++s) total += lines.load(x + first, s, T{0});
    lines.store_result(out + result, lines.fold(total, LineReductions<T>::add));
  });
}

template <class T>
void max(const AxisLayout& layout, const T* x, T* out) {
  for_lines<T>(layout, [=](auto lines, int64_t first, int64_t result) {
    lines.store_result(out + result, LineReductions<T>::max(lines, x + first));
  });
}

template <class T>
void logsumexp(const AxisLayout& layout, const T* x, T* out) {
  for_lines<T>(layout, [=](auto lines, int64_t first, int64_t result) {
    lines.store_result(out + result, LineReductions<T>::logsumexp(lines, x + first));
  });
}

template <class T>
void softmax(const AxisLayout& layout, const T* x, T* out) {
  for_lines<T>(layout, [=](auto lines, int64_t first, int64_t) {
    LineReductions<T>::softmax(lines, x + first, out + first);
  });
}

template <class T>
void log_softmax(const AxisLayout& layout, const T* x, T* out) {
  for_lines<T>(layout, [=](auto lines, int64_t first, int64_t) {
    const auto most = LineReductions<T>::max(lines, x + first);
    const auto rest = Math<T>::log(LineReductions<T>::sum_of_exp(lines, x + first, most));
    for (int64_t s = 0; s < lines.steps(); ++s)
      lines.store(out + first, s, (lines.load(x + first, s, T{0}) - most) - rest);
  });
}

template <class T>
void softmax_gradient(const AxisLayout& layout, const T* y, const T* g, T* out) {
  const auto one = [=](auto lines, int64_t first, int64_t) {
    typename Vector<T>::Register total{};
    for (int64_t s = 0; s < lines.steps(); ++s)
      total += lines.load(y + first, s, T{0}) * lines.load(g + first, s, T{0});
    total = lines.fold(total, LineReductions<T>::add);
    for (int64_t s = 0; s < lines.steps(); ++s)
      lines.store(out + first, s, lines.load(y + first, s, T{0}) * (lines.load(g + first, s, T{0}) - total));
  };
  // Products that are added in turn are not rounded one by one, as those of a ShortRow are.
  for_lines<T>(layout, one, 0);
}

template <class T>
void log_softmax_gradient(const AxisLayout& layout, const T* y, const T* g, T* out) {
  for_lines<T>(layout, [=](auto lines, int64_t first, int64_t) {
    typename Vector<T>::Register total{};
    for (int64_t s = 0; s < lines.steps(); ++s) total += lines.load(g + first, s, T{0});
    total = lines.fold(total, LineReductions<T>::add);
    for (int64_t s = 0; s < lines.steps(); ++s)
      lines.store(out + first, s,
                  lines.load(g + first, s, T{0}) - Math<T>::exp(lines.load(y + first, s, T{0})) * total);
  });
}

template <class T>
void cross_entropy(int64_t rows, int64_t classes, const T* logits, const int64_t* labels, T* loss) {
  for_rows<T>(rows, classes, [=](auto lines, int64_t first, int64_t result) {
    for (int64_t r = 0; r < lines.rows(); ++r)
      loss[result + r] = logits[first + r * classes + labels[result + r]];
    const auto by = LineReductions<T>::shift(lines, logits + first);
    // Both differences are small, so that a certain loss does not drown in the size of the logits.
    const auto rest = Math<T>::log(LineReductions<T>::sum_of_exp(lines, logits + first, by));
    lines.store_result(loss + result, rest - (lines.load_result(loss + result) - by));
  });
}

template <class T>
void cross_entropy_gradient(int64_t rows, int64_t classes, const T* logits, const int64_t* labels, const T* g,
                            T* out) {
  for_rows<T>(rows, classes, [=](auto lines, int64_t first, int64_t result) {
    T* const to = out + first;
    LineReductions<T>::softmax(lines, logits + first, to);
    for (int64_t r = 0; r < lines.rows(); ++r) to[r * classes + labels[result + r]] -= T{1};
    const auto factor = lines.load_result(g + result);
    for (int64_t s = 0; s < lines.steps(); ++s) lines.store(to, s, lines.load(to, s, T{0}) * factor);
  });
}

/// The sum of f(step) over the steps, from four sums that do not wait for each other.
template <class T, class Function>
[[gnu::always_inline]] inline typename Vector<T>::Register sum_of_steps(int64_t steps, Function f) {
  typename Vector<T>::Register total[4] = {};
  int64_t s = 0;
  for (; s + 4 <= steps; s += 4) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) total[i] += f(s + i);
  }
  for (; s < steps; ++s) total[0] += f(s);
  return (total[0] + total[1]) + (total[2] + total[3]);
}

/// Brings lines, of which `pieces` pieces stand `pitch` elements apart, to mean 0 and variance 1, and calls
/// scaled(step, vector) for what is stored: `count` is how many elements each line has.
template <class T, class Lines, class Function>
[[gnu::always_inline]] inline void normalize_lines(Lines lines, int64_t pieces, int64_t pitch, T count,
                                                   const T* x, T epsilon, T* out, Function scaled) {
  using V = typename Vector<T>::Register;
  V total{};
  for (int64_t p = 0; p < pieces; ++p)
    total += sum_of_steps<T>(lines.steps(), [&](int64_t s) { return lines.load(x + p * pitch, s, T{0}); });
  const V mean = lines.fold(total, LineReductions<T>::add) / count;
  V squares{};
  for (int64_t p = 0; p < pieces; ++p) {
    squares += sum_of_steps<T>(lines.steps(), [&](int64_t s) {
      const V difference = lines.load(x + p * pitch, s, mean[0]) - mean;  // 0 behind the end of a line
      return difference * difference;
    });
  }
  V deviation = lines.fold(squares, LineReductions<T>::add) / count + epsilon;
  for (int64_t i = 0; i < Vector<T>::kLanes; ++i) deviation[i] = __builtin_sqrt(deviation[i]);
  const V scale = T{1} / deviation;
  for (int64_t p = 0; p < pieces; ++p)
    for (int64_t s = 0; s < lines.steps(); ++s)
      lines.store(out + p * pitch, s, scaled(s, (lines.load(x + p * pitch, s, T{0}) - mean) * scale));
}

template <class T>
void normalize(const AxisLayout& layout, const T* x, T epsilon, T* out) {
  const auto one = [=](auto lines, int64_t first, int64_t) {
    normalize_lines<T>(lines, 1, 0, static_cast<T>(layout.axis), x + first, epsilon, out + first,
                       [](int64_t, auto y) { return y; });
  };
  for_lines<T>(layout, one, 0);  // see softmax_gradient
}

/// Calls f(line) for what a line of this length is.
template <class T, class Function>
[[gnu::always_inline]] inline void with_row(int64_t length, Function f) {
  if (length % Vector<T>::kLanes == 0) return f(FullRow<T>{{length}});
  f(Row<T>{length});
}

template <class T>
void normalize_rows(int64_t rows, int64_t length, const T* x, T epsilon, const T* gain, const T* bias,
                    T* out) {
  with_row<T>(length, [=](auto row) {
    for (int64_t r = 0; r < rows; ++r)
      normalize_lines<T>(
          row, 1, 0, static_cast<T>(length), x + r * length, epsilon, out + r * length,
          [=](int64_t s, auto y) { return y * row.load(gain, s, T{0}) + row.load(bias, s, T{0}); });
  });
}

template <class T>
void normalize_channels(int64_t images, int64_t channels, int64_t size, const T* x, T epsilon, const T* gain,
                        const T* bias, T* out) {
  with_row<T>(size, [=](auto row) {
    for (int64_t c = 0; c < channels; ++c)
      normalize_lines<T>(row, images, channels * size, static_cast<T>(images * size), x + c * size, epsilon,
                         out + c * size, [=](int64_t, auto y) { return y * gain[c] + bias[c]; });
  });
}

template <class T, int kVectors>
[[gnu::always_inline]] inline void add_rows_to(int64_t rows, const T* x, int64_t stride, T* out) {
  using V = Vector<T>;
  typename V::Register total[kVectors];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) total[v] = V::load(out + v * V::kLanes);
  for (int64_t r = 0; r < rows; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) total[v] += V::load(x + r * stride + v * V::kLanes);
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) V::store(out + v * V::kLanes, total[v]);
}

template <class T>
void add_rows(int64_t rows, int64_t columns, const T* x, int64_t stride, T* out) {
  using V = Vector<T>;
  int64_t c = 0;
  for (; c + 8 * V::kLanes <= columns; c += 8 * V::kLanes) add_rows_to<T, 8>(rows, x + c, stride, out + c);
  for (; c + V::kLanes <= columns; c += V::kLanes) add_rows_to<T, 1>(rows, x + c, stride, out + c);
  for (; c < columns; ++c)
    for (int64_t r = 0; r < rows; ++r) out[c] += x[r * stride + c];
}

template <class T>
ReduceKernels<T> reduce_kernels() {
  return {sum<T>,
          max<T>,
          logsumexp<T>,
          softmax<T>,
          log_softmax<T>,
          softmax_gradient<T>,
          log_softmax_gradient<T>,
          cross_entropy<T>,
          cross_entropy_gradient<T>,
          add_rows<T>,
          normalize<T>,
          normalize_rows<T>,
          normalize_channels<T>};
}
template ReduceKernels<float> reduce_kernels();
template ReduceKernels<double> reduce_kernels();
