// The inner loops of the optimizers: each goes once over `count` elements of a parameter, its gradient and
// its state. Element i of the result depends on element i alone, so rows give the same bits as whole tensors.
#pragma once

#include <cstddef>

namespace hiaton::train {

/// What all rules share: the gradient is `gradient_scale * g + l2 * w`.
struct UpdateScalars {
  float learning_rate = 0;
  float gradient_scale = 1;
  float l2 = 0;
};

void update_sgd(float* w, const float* g, std::size_t count, const UpdateScalars& scalars);

/// velocity = momentum * velocity + gradient; w -= learning_rate * velocity.
void update_momentum(float* w, const float* g, float* velocity, std::size_t count,
                     const UpdateScalars& scalars, float momentum);

/// squares += gradient^2; w -= learning_rate * gradient / (sqrt(squares) + epsilon).
void update_adagrad(float* w, const float* g, float* squares, std::size_t count, const UpdateScalars& scalars,
                    float epsilon);

struct AdamScalars {
  float beta1 = 0;
  float beta2 = 0;
  float epsilon = 0;
  float mean_correction = 1;         ///< 1 / (1 - beta1^t)
  float root_square_correction = 1;  ///< 1 / sqrt(1 - beta2^t)
};

/// mean and square are running averages; w -= learning_rate * corrected mean / (sqrt(corrected square) +
/// epsilon).
void update_adam(float* w, const float* g, float* mean, float* square, std::size_t count,
                 const UpdateScalars& scalars, const AdamScalars& adam);

/// The sum of the squares, in double precision; not finite exactly where an element is not.
double sum_of_squares(const float* values, std::size_t count);

}  // namespace hiaton::train
