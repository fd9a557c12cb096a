// Compiled with -O3 and without errno, so that each loop runs in vector registers (see CMakeLists.txt).
#include "train/update_loops.h"

#include <cmath>

namespace hiaton::train {

template <class T>
void update_sgd(T* __restrict w, const T* __restrict g, std::size_t count, const UpdateScalars<T>& scalars) {
  const auto [rate, scale, l2] = scalars;
  for (std::size_t i = 0; i < count; ++i) w[i] -= rate * (scale * g[i] + l2 * w[i]);
}

template <class T>
void update_momentum(T* __restrict w, const T* __restrict g, T* __restrict velocity, std::size_t count,
                     const UpdateScalars<T>& scalars, T momentum) {
  const auto [rate, scale, l2] = scalars;
  for (std::size_t i = 0; i < count; ++i) {
    velocity[i] = momentum * velocity[i] + (scale * g[i] + l2 * w[i]);
    w[i] -= rate * velocity[i];
  }
}

template <class T>
void update_adagrad(T* __restrict w, const T* __restrict g, T* __restrict squares, std::size_t count,
                    const UpdateScalars<T>& scalars, T epsilon) {
  const auto [rate, scale, l2] = scalars;
  for (std::size_t i = 0; i < count; ++i) {
    const T gradient = scale * g[i] + l2 * w[i];
    squares[i] += gradient * gradient;
    w[i] -= rate * gradient / (std::sqrt(squares[i]) + epsilon);
  }
}

template <class T>
void update_rmsprop(T* __restrict w, const T* __restrict g, T* __restrict square, std::size_t count,
                    const UpdateScalars<T>& scalars, T rho, T epsilon) {
  const auto [rate, scale, l2] = scalars;
  const T rest = 1 - rho;
  for (std::size_t i = 0; i < count; ++i) {
    const T gradient = scale * g[i] + l2 * w[i];
    square[i] = rho * square[i] + rest * (gradient * gradient);
    w[i] -= rate * gradient / (std::sqrt(square[i]) + epsilon);
  }
}

template <class T>
void update_rmsprop_momentum(T* __restrict w, const T* __restrict g, T* __restrict square,
                             T* __restrict velocity, std::size_t count, const UpdateScalars<T>& scalars,
                             T rho, T epsilon, T momentum) {
  const auto [rate, scale, l2] = scalars;
  const T rest = 1 - rho;
  for (std::size_t i = 0; i < count; ++i) {
    const T gradient = scale * g[i] + l2 * w[i];
    square[i] = rho * square[i] + rest * (gradient * gradient);
    velocity[i] = momentum * velocity[i] + gradient / (std::sqrt(square[i]) + epsilon);
    w[i] -= rate * velocity[i];
  }
}

template <class T>
void shrink(T* w, std::size_t count, T factor) {
  for (std::size_t i = 0; i < count; ++i) w[i] *= factor;
}

template <class T>
void update_adam(T* __restrict w, const T* __restrict g, T* __restrict mean, T* __restrict square,
                 std::size_t count, const UpdateScalars<T>& scalars, const AdamScalars<T>& adam) {
  const auto [rate, scale, l2] = scalars;
  const auto [beta1, beta2, epsilon, mean_correction, root_square_correction] = adam;
  const T rest1 = 1 - beta1;
  const T rest2 = 1 - beta2;
  const T step = rate * mean_correction;
  for (std::size_t i = 0; i < count; ++i) {
    const T gradient = scale * g[i] + l2 * w[i];
    mean[i] = beta1 * mean[i] + rest1 * gradient;
    square[i] = beta2 * square[i] + rest2 * (gradient * gradient);
    w[i] -= step * mean[i] / (std::sqrt(square[i]) * root_square_correction + epsilon);
  }
}

template <class T>
double sum_of_squares(const T* values, std::size_t count) {
  constexpr std::size_t kLanes = 8;  // sums that do not wait for each other; their number fixes the rounding
  double sums[kLanes] = {};
  const std::size_t whole = count - count % kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double value = values[i + lane];
      sums[lane] += value * value;
    }
  }
  double sum = 0;
  for (const double lane : sums) sum += lane;
  for (std::size_t i = whole; i < count; ++i) sum += static_cast<double>(values[i]) * values[i];
  return sum;
}

template <class T>
bool are_within(const T* values, std::size_t count, T most) {
  constexpr std::size_t kPiece = 4096;
  for (std::size_t begin = 0; begin < count; begin += kPiece) {
    const std::size_t end = begin + kPiece < count ? begin + kPiece : count;
    int outside = 0;
    for (std::size_t i = begin; i < end; ++i) outside |= static_cast<int>(!(std::abs(values[i]) <= most));
    if (outside != 0) return false;
  }
  return true;
}

#define HIATON_UPDATE_LOOPS_OF(T)                                                                         \
  template void update_sgd(T*, const T*, std::size_t, const UpdateScalars<T>&);                           \
  template void update_momentum(T*, const T*, T*, std::size_t, const UpdateScalars<T>&, T);               \
  template void update_adagrad(T*, const T*, T*, std::size_t, const UpdateScalars<T>&, T);                \
  template void update_rmsprop(T*, const T*, T*, std::size_t, const UpdateScalars<T>&, T, T);             \
  template void update_rmsprop_momentum(T*, const T*, T*, T*, std::size_t, const UpdateScalars<T>&, T, T, \
                                        T);                                                               \
  template void shrink(T*, std::size_t, T);                                                               \
  template void update_adam(T*, const T*, T*, T*, std::size_t, const UpdateScalars<T>&,                   \
                            const AdamScalars<T>&);                                                       \
  template double sum_of_squares(const T*, std::size_t);                                                  \
  template bool are_within(const T*, std::size_t, T);

HIATON_UPDATE_LOOPS_OF(float)
HIATON_UPDATE_LOOPS_OF(double)
#undef HIATON_UPDATE_LOOPS_OF

}  // namespace hiaton::train
