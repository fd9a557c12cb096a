// The gradient of a matrix: products x^T g, a row of each for every node that read it.
#pragma once

#include <cstdint>
#include <vector>

#include "hiaton/op.h"

namespace hiaton::exec::flow {

/// Adds x^T g to the gradient of a parameter. Few rows wait until there are more: a product goes through all
/// of the gradient.
class OuterProducts {
 public:
  /// From now on to `sum`, the gradient, of rank 2, f32 or f64, which lives until the last flush. Its shape
  /// is the same each time.
  void begin(Tensor& sum);
  bool has_begun() const { return sum_ != nullptr; }
  /// To none; what waits is gone.
  void end();
  void add(const TensorArgument& x, const TensorArgument& g, int64_t batch);
  /// Adds what still waits.
  void flush();

 private:
  /// Rows of both operands that wait to be multiplied, `rows` of each.
  template <class T>
  struct Waiting {
    std::vector<T> x, g;
    int64_t rows = 0;
    void clear() {
      x.clear();
      g.clear();
      rows = 0;
    }
  };

  template <class T>
  void add(const TensorArgument& x, const TensorArgument& g, int64_t batch, Waiting<T>& waiting);
  template <class T>
  void multiply(const T* x, const T* g, int64_t rows);
  template <class T>
  void flush(Waiting<T>& waiting);

  static constexpr int64_t kEnoughRows = 64;
  Tensor* sum_ = nullptr;
  int64_t depth_ = 0;
  int64_t columns_ = 0;
  Waiting<float> floats_;
  Waiting<double> doubles_;
};

}  // namespace hiaton::exec::flow
