// The inner loops of the optimizers: each goes once over `count` elements of a parameter, its gradient and
// its state, of f32 or f64. Element i of the result depends on element i alone, so rows give the same bits as
// whole tensors. update_loops_<instruction set>.cpp compile them; each set gives the same bits.
#pragma once

#include <cstddef>

#include "kernels/cpu.h"

namespace hiaton::train {

/// What all rules share: the gradient is `gradient_scale * g + l2 * w`.
template <class T>
struct UpdateScalars {
  T learning_rate = 0;
  T gradient_scale = 1;
  T l2 = 0;
};

template <class T>
struct AdamScalars {
  T beta1 = 0;
  T beta2 = 0;
  T epsilon = 0;
  T mean_correction = 1;         ///< 1 / (1 - beta1^t)
  T root_square_correction = 1;  ///< 1 / sqrt(1 - beta2^t)
};

/// The loops, compiled for one instruction set.
template <class T>
struct UpdateLoops {
  void (*sgd)(T* w, const T* g, std::size_t count, const UpdateScalars<T>& scalars);

  /// velocity = momentum * velocity + gradient; w -= learning_rate * velocity.
  void (*momentum)(T* w, const T* g, T* velocity, std::size_t count, const UpdateScalars<T>& scalars,
                   T momentum);

  /// squares += gradient^2; w -= learning_rate * gradient / (sqrt(squares) + epsilon).
  void (*adagrad)(T* w, const T* g, T* squares, std::size_t count, const UpdateScalars<T>& scalars,
                  T epsilon);

  /// square = rho * square + (1 - rho) * gradient^2; w -= learning_rate * gradient / (sqrt(square) +
  /// epsilon).
  void (*rmsprop)(T* w, const T* g, T* square, std::size_t count, const UpdateScalars<T>& scalars, T rho,
                  T epsilon);

  /// The same with the quotient added to a velocity: velocity = momentum * velocity + quotient; w -=
  /// learning_rate * velocity.
  void (*rmsprop_momentum)(T* w, const T* g, T* square, T* velocity, std::size_t count,
                           const UpdateScalars<T>& scalars, T rho, T epsilon, T momentum);

  /// w *= factor: the weight decay of AdamW, before its step as of Adam.
  void (*shrink)(T* w, std::size_t count, T factor);

  /// mean and square are running averages; w -= learning_rate * corrected mean / (sqrt(corrected square) +
  /// epsilon).
  void (*adam)(T* w, const T* g, T* mean, T* square, std::size_t count, const UpdateScalars<T>& scalars,
               const AdamScalars<T>& adam);

  /// The sum of the squares, in double precision; not finite exactly where an element is not.
  double (*sum_of_squares)(const T* values, std::size_t count);

  /// Whether no element's magnitude is above `most`, and none is NaN.
  bool (*are_within)(const T* values, std::size_t count, T most);
};

/// The loops for one instruction set, which this machine must have: the best that it has, where none is
/// given.
template <class T>
const UpdateLoops<T>& update_loops(kernels::InstructionSet set = kernels::instruction_set());

namespace portable {
template <class T>
UpdateLoops<T> update_loops();
}
namespace avx2 {
template <class T>
UpdateLoops<T> update_loops();
}
namespace avx512 {
template <class T>
UpdateLoops<T> update_loops();
}

}  // namespace hiaton::train
