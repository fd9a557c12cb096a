// The inner loops of the optimizers: each goes once over `count` elements of a parameter, its gradient and
// its state, of f32 or f64. Element i of the result depends on element i alone, so rows give the same bits as
// whole tensors.
#pragma once

#include <cstddef>

namespace hiaton::train {

/// What all rules share: the gradient is `gradient_scale * g + l2 * w`.
template <class T>
struct UpdateScalars {
  T learning_rate = 0;
  T gradient_scale = 1;
  T l2 = 0;
};

template <class T>
void update_sgd(T* w, const T* g, std::size_t count, const UpdateScalars<T>& scalars);

/// velocity = momentum * velocity + gradient; w -= learning_rate * velocity.
template <class T>
void update_momentum(T* w, const T* g, T* velocity, std::size_t count, const UpdateScalars<T>& scalars,
                     T momentum);

/// squares += gradient^2; w -= learning_rate * gradient / (sqrt(squares) + epsilon).
template <class T>
void update_adagrad(T* w, const T* g, T* squares, std::size_t count, const UpdateScalars<T>& scalars,
                    T epsilon);

/// square = rho * square + (1 - rho) * gradient^2; w -= learning_rate * gradient / (sqrt(square) + epsilon).
template <class T>
void update_rmsprop(T* w, const T* g, T* square, std::size_t count, const UpdateScalars<T>& scalars, T rho,
                    T epsilon);

/// The same with the quotient added to a velocity: velocity = momentum * velocity + quotient; w -=
/// learning_rate * velocity.
template <class T>
void update_rmsprop_momentum(T* w, const T* g, T* square, T* velocity, std::size_t count,
                             const UpdateScalars<T>& scalars, T rho, T epsilon, T momentum);

/// w *= factor: the weight decay of AdamW, before its step as of Adam.
template <class T>
void shrink(T* w, std::size_t count, T factor);

template <class T>
struct AdamScalars {
  T beta1 = 0;
  T beta2 = 0;
  T epsilon = 0;
  T mean_correction = 1;         ///< 1 / (1 - beta1^t)
  T root_square_correction = 1;  ///< 1 / sqrt(1 - beta2^t)
};

/// mean and square are running averages; w -= learning_rate * corrected mean / (sqrt(corrected square) +
/// epsilon).
template <class T>
void update_adam(T* w, const T* g, T* mean, T* square, std::size_t count, const UpdateScalars<T>& scalars,
                 const AdamScalars<T>& adam);

/// The sum of the squares, in double precision; not finite exactly where an element is not.
template <class T>
double sum_of_squares(const T* values, std::size_t count);

/// Whether no element's magnitude is above `most`, and none is NaN.
template <class T>
bool are_within(const T* values, std::size_t count, T most);

}  // namespace hiaton::train
