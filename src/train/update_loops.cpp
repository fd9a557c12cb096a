// Compiled with -O3 and without errno, so that each loop runs in vector registers (see CMakeLists.txt).
#include "train/update_loops.h"

#include <cmath>

namespace hiaton::train {

void update_sgd(float* __restrict w, const float* __restrict g, std::size_t count,
                const UpdateScalars& scalars) {
  const auto [rate, scale, l2] = scalars;
  for (std::size_t i = 0; i < count; ++i) w[i] -= rate * (scale * g[i] + l2 * w[i]);
}

void update_momentum(float* __restrict w, const float* __restrict g, float* __restrict velocity,
                     std::size_t count, const UpdateScalars& scalars, float momentum) {
  const auto [rate, scale, l2] = scalars;
  for (std::size_t i = 0; i < count; ++i) {
    velocity[i] = momentum * velocity[i] + (scale * g[i] + l2 * w[i]);
    w[i] -= rate * velocity[i];
  }
}

void update_adagrad(float* __restrict w, const float* __restrict g, float* __restrict squares,
                    std::size_t count, const UpdateScalars& scalars, float epsilon) {
  const auto [rate, scale, l2] = scalars;
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient = scale * g[i] + l2 * w[i];
    squares[i] += gradient * gradient;
    w[i] -= rate * gradient / (std::sqrt(squares[i]) + epsilon);
  }
}

void update_adam(float* __restrict w, const float* __restrict g, float* __restrict mean,
                 float* __restrict square, std::size_t count, const UpdateScalars& scalars,
                 const AdamScalars& adam) {
  const auto [rate, scale, l2] = scalars;
  const auto [beta1, beta2, epsilon, mean_correction, root_square_correction] = adam;
  const float rest1 = 1 - beta1;
  const float rest2 = 1 - beta2;
  const float step = rate * mean_correction;
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient = scale * g[i] + l2 * w[i];
    mean[i] = beta1 * mean[i] + rest1 * gradient;
    square[i] = beta2 * square[i] + rest2 * (gradient * gradient);
    w[i] -= step * mean[i] / (std::sqrt(square[i]) * root_square_correction + epsilon);
  }
}

double sum_of_squares(const float* values, std::size_t count) {
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

}  // namespace hiaton::train
