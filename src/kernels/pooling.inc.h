// Rows of windows. Included once by each pooling_<instruction set>.cpp, inside a namespace of its own, hence
// without guard. That file defines kVectorBytes.
//
// A vector has one number for each of kLanes windows side by side. The last windows of a row that do not fill
// a vector are computed together with some of those before them again.

#include "kernels/vector.inc.h"

/// Every second of 2 kLanes - 1 elements, which are two vectors that share one.
template <class V, class T, int... kLane>
[[gnu::always_inline]] inline typename V::Register every_second(const T* from,
                                                                std::integer_sequence<int, kLane...>) {
  constexpr int kLanes = int{sizeof...(kLane)};
  return __builtin_shufflevector(V::load(from), V::load(from + kLanes - 1),
                                 (2 * kLane < kLanes ? 2 * kLane : 2 * kLane + 1)...);
}

/// Elements of kLanes windows. kStride: the distance of the windows, 1 or 2.
template <class V, int64_t kStride, class T>
[[gnu::always_inline]] inline typename V::Register load_windows(const T* from) {
  if constexpr (kStride == 1) {
    return V::load(from);
  } else {
    return every_second<V>(from, std::make_integer_sequence<int, static_cast<int>(V::kLanes)>{});
  }
}

/// Calls f(first window) for groups of kLanes windows until all are done; there are at least so many.
template <class V, class F>
[[gnu::always_inline]] inline void in_vectors(int64_t windows, F f) {
  int64_t begin = 0;
  for (; begin + V::kLanes <= windows; begin += V::kLanes) f(begin);
  if (begin < windows) f(windows - V::kLanes);
}

/// The columns of a window, known where kColumns is not 0.
template <int64_t kColumns>
[[gnu::always_inline]] inline int64_t columns_of(const WindowRow& row) {
  return kColumns > 0 ? kColumns : row.columns;
}

/// f(kColumns) for the columns of the windows where they are few, else f(0): loops over them are unrolled.
template <class Function>
[[gnu::always_inline]] inline void with_columns(const WindowRow& row, Function f) {
  if (row.columns == 2) return f(std::integral_constant<int64_t, 2>{});
  if (row.columns == 3) return f(std::integral_constant<int64_t, 3>{});
  f(std::integral_constant<int64_t, 0>{});
}

template <class V, int64_t kStride, int64_t kColumns, class T>
void mean_in_vectors(const WindowRow& row, T count, const T* x, T* y) {
  in_vectors<V>(row.windows, [&](int64_t begin) {
    typename V::Register sum{};
    for (int64_t r = 0; r < row.rows; ++r) {
      const T* from = x + begin * kStride + r * row.pitch;
      for (int64_t c = 0; c < columns_of<kColumns>(row); ++c) sum += load_windows<V, kStride>(from + c);
    }
    V::store(y + begin, sum / count);
  });
}

/// kTakesOther: v is not x.
template <class V, int64_t kStride, bool kTakesOther, class T>
void take_largest_in_vectors(const WindowRow& row, const T* x, const T* v, T* y) {
  in_vectors<V>(row.windows, [&](int64_t begin) {
    typename V::Register best = load_windows<V, kStride>(x + begin * kStride);
    typename V::Register taken = best;
    if (kTakesOther) taken = load_windows<V, kStride>(v + begin * kStride);
    for (int64_t r = 0; r < row.rows; ++r) {
      for (int64_t c = 0; c < row.columns; ++c) {
        const int64_t at = begin * kStride + r * row.pitch + c;
        const typename V::Register next = load_windows<V, kStride>(x + at);
        // Also where `next` is the first NaN.
        const auto is_better = ~(next <= best) & (best == best);  // NOLINT(misc-redundant-expression)
        best = is_better ? next : best;
        if (kTakesOther) taken = is_better ? load_windows<V, kStride>(v + at) : taken;
      }
    }
    V::store(y + begin, kTakesOther ? taken : best);
  });
}

template <class V, int64_t kStride, int64_t kColumns, class T>
void largest_in_vectors(const WindowRow& row, const T* x, T* y) {
  in_vectors<V>(row.windows, [&](int64_t begin) {
    typename V::Register best = load_windows<V, kStride>(x + begin * kStride);
    for (int64_t r = 0; r < row.rows; ++r) {
      const T* from = x + begin * kStride + r * row.pitch;
      for (int64_t c = 0; c < columns_of<kColumns>(row); ++c)
        best = V::at_least(load_windows<V, kStride>(from + c), best);  // of equal ones `best`, the first
    }
    V::store(y + begin, best);
  });
}

/// Windows one after the other.
template <class T>
void mean_one_by_one(const WindowRow& row, T count, const T* x, T* y) {
  for (int64_t w = 0; w < row.windows; ++w) {
    T sum{};
    for (int64_t r = 0; r < row.rows; ++r) {
      for (int64_t c = 0; c < row.columns; ++c) sum += x[w * row.stride + r * row.pitch + c];
    }
    y[w] = sum / count;
  }
}

template <class T>
void take_largest_one_by_one(const WindowRow& row, const T* x, const T* v, T* y) {
  for (int64_t w = 0; w < row.windows; ++w) {
    int64_t best = w * row.stride;
    for (int64_t r = 0; r < row.rows; ++r) {
      for (int64_t c = 0; c < row.columns; ++c) {
        const int64_t at = w * row.stride + r * row.pitch + c;
        if (!(x[at] <= x[best]) && x[best] == x[best]) best = at;  // NOLINT(misc-redundant-expression)
      }
    }
    y[w] = v[best];
  }
}

/// In vectors of kBytes, or of less where the windows do not fill one.
template <class T, int kBytes = kVectorBytes>
void mean(const WindowRow& row, T count, const T* x, T* y) {
  using V = Vector<T, kBytes>;
  if (row.windows >= V::kLanes && row.stride <= 2) {
    return with_columns(row, [&](auto columns) {
      if (row.stride == 1) return mean_in_vectors<V, 1, columns.value>(row, count, x, y);
      mean_in_vectors<V, 2, columns.value>(row, count, x, y);
    });
  }
  if constexpr (kBytes > 16) return mean<T, kBytes / 2>(row, count, x, y);
  mean_one_by_one(row, count, x, y);
}

template <class T, int kBytes = kVectorBytes>
void take_largest(const WindowRow& row, const T* x, const T* v, T* y) {
  using V = Vector<T, kBytes>;
  if (row.windows >= V::kLanes && row.stride <= 2) {
    const auto take =
        row.stride == 1
            ? (v == x ? take_largest_in_vectors<V, 1, false, T> : take_largest_in_vectors<V, 1, true, T>)
            : (v == x ? take_largest_in_vectors<V, 2, false, T> : take_largest_in_vectors<V, 2, true, T>);
    return take(row, x, v, y);
  }
  if constexpr (kBytes > 16) return take_largest<T, kBytes / 2>(row, x, v, y);
  take_largest_one_by_one(row, x, v, y);
}

template <class T, int kBytes = kVectorBytes>
void largest(const WindowRow& row, const T* x, T* y) {
  using V = Vector<T, kBytes>;
  if (row.windows >= V::kLanes && row.stride <= 2) {
    return with_columns(row, [&](auto columns) {
      if (row.stride == 1) return largest_in_vectors<V, 1, columns.value>(row, x, y);
      largest_in_vectors<V, 2, columns.value>(row, x, y);
    });
  }
  if constexpr (kBytes > 16) return largest<T, kBytes / 2>(row, x, y);
  take_largest_one_by_one(row, x, x, y);
}

template <class T>
bool has_nan(int64_t count, const T* x) {
  using V = Vector<T>;
  decltype(typename V::Register{} != typename V::Register{}) found{};
  int64_t i = 0;
  for (; i + 2 * V::kLanes <= count; i += 2 * V::kLanes) {  // a number beside NaN is unordered, too
    const typename V::Register one = V::load(x + i), other = V::load(x + i + V::kLanes);
    found |= ~((one <= other) | (other <= one));
  }
  bool any = false;
  for (int64_t lane = 0; lane < V::kLanes; ++lane) any = any || found[lane] != 0;
  for (; i < count; ++i) any = any || x[i] != x[i];  // NOLINT(misc-redundant-expression)
  return any;
}

template <class T>
PoolingKernels<T> pooling_kernels() {
  return {mean<T>, take_largest<T>, largest<T>, has_nan<T>};
}
template PoolingKernels<float> pooling_kernels();
template PoolingKernels<double> pooling_kernels();
