// The inner loops of the optimizers. Included once by each update_loops_<instruction set>.cpp, inside a
// namespace of its own, hence without guard. Compiled with -O3 and without errno, so that each loop runs in
// vector registers, and without fused multiply-add, so that every machine rounds alike (see CMakeLists.txt).

// The functions of <cmath> are inline, and the linker may keep the copy that other machines cannot run.
inline float square_root(float x) {
  return __builtin_sqrtf(x);
}
inline double square_root(double x) {
  return __builtin_sqrt(x);
}
inline float magnitude(float x) {
  return __builtin_fabsf(x);
}
inline double magnitude(double x) {
  return __builtin_fabs(x);
}

template <class T>
void sgd(T* __restrict w, const T* __restrict g, std::size_t count, const UpdateScalars<T>& scalars) {
  const auto [rate, scale, l2] = scalars;
  for (std::size_t i = 0; i < count; ++i) w[i] -= rate * (scale * g[i] + l2 * w[i]);
}

template <class T>
void momentum(T* __restrict w, const T* __restrict g, T* __restrict velocity, std::size_t count,
              const UpdateScalars<T>& scalars, T momentum) {
  const auto [rate, scale, l2] = scalars;
  for (std::size_t i = 0; i < count; ++i) {
    velocity[i] = momentum * velocity[i] + (scale * g[i] + l2 * w[i]);
    w[i] -= rate * velocity[i];
  }
}

template <class T>
void adagrad(T* __restrict w, const T* __restrict g, T* __restrict squares, std::size_t count,
             const UpdateScalars<T>& scalars, T epsilon) {
  const auto [rate, scale, l2] = scalars;
  for (std::size_t i = 0; i < count; ++i) {
    const T gradient = scale * g[i] + l2 * w[i];
    squares[i] += gradient * gradient;
    w[i] -= rate * gradient / (square_root(squares[i]) + epsilon);
  }
}

template <class T>
void rmsprop(T* __restrict w, const T* __restrict g, T* __restrict square, std::size_t count,
             const UpdateScalars<T>& scalars, T rho, T epsilon) {
  const auto [rate, scale, l2] = scalars;
  const T rest = 1 - rho;
  for (std::size_t i = 0; i < count; ++i) {
    const T gradient = scale * g[i] + l2 * w[i];
    square[i] = rho * square[i] + rest * (gradient * gradient);
    w[i] -= rate * gradient / (square_root(square[i]) + epsilon);
  }
}

template <class T>
void rmsprop_momentum(T* __restrict w, const T* __restrict g, T* __restrict square, T* __restrict velocity,
                      std::size_t count, const UpdateScalars<T>& scalars, T rho, T epsilon, T momentum) {
  const auto [rate, scale, l2] = scalars;
  const T rest = 1 - rho;
  for (std::size_t i = 0; i < count; ++i) {
    const T gradient = scale * g[i] + l2 * w[i];
    square[i] = rho * square[i] + rest * (gradient * gradient);
    velocity[i] = momentum * velocity[i] + gradient / (square_root(square[i]) + epsilon);
    w[i] -= rate * velocity[i];
  }
}

template <class T>
void shrink(T* w, std::size_t count, T factor) {
  for (std::size_t i = 0; i < count; ++i) w[i] *= factor;
}

template <class T>
void adam(T* __restrict w, const T* __restrict g, T* __restrict mean, T* __restrict square, std::size_t count,
          const UpdateScalars<T>& scalars, const AdamScalars<T>& adam) {
  const auto [rate, scale, l2] = scalars;
  const auto [beta1, beta2, epsilon, mean_correction, root_square_correction] = adam;
  const T rest1 = 1 - beta1;
  const T rest2 = 1 - beta2;
  const T step = rate * mean_correction;
  for (std::size_t i = 0; i < count; ++i) {
    const T gradient = scale * g[i] + l2 * w[i];
    mean[i] = beta1 * mean[i] + rest1 * gradient;
    square[i] = beta2 * square[i] + rest2 * (gradient * gradient);
    w[i] -= step * mean[i] / (square_root(square[i]) * root_square_correction + epsilon);
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
    for (std::size_t i = begin; i < end; ++i) outside |= static_cast<int>(!(magnitude(values[i]) <= most));
    if (outside != 0) return false;
  }
  return true;
}

template <class T>
UpdateLoops<T> update_loops() {
  return {.sgd = sgd<T>,
          .momentum = momentum<T>,
          .adagrad = adagrad<T>,
          .rmsprop = rmsprop<T>,
          .rmsprop_momentum = rmsprop_momentum<T>,
          .shrink = shrink<T>,
          .adam = adam<T>,
          .sum_of_squares = sum_of_squares<T>,
          .are_within = are_within<T>};
}
template UpdateLoops<float> update_loops();
template UpdateLoops<double> update_loops();
