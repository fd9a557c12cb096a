// Parameters as products read them.
#pragma once

#include <array>
#include <span>
#include <type_traits>
#include <vector>

#include "exec/flow/flow_plan.h"
#include "hiaton/thread_pool.h"
#include "kernels/gemm.h"

namespace hiaton::exec::flow {

/// The matrices with which the products of a plan multiply, packed for the kernel; for all workers of a run.
class PackedParameters {
 public:
  explicit PackedParameters(const Plan& plan);

  /// Packs those that are other tensors than in the last update. The threads of the pool share the work;
  /// null: this one does it. Throws std::bad_alloc.
  void update(std::span<const Value> parameters, ThreadPool* pool);

  /// One of rank 2 and of elements T, as it is or transposed.
  template <class T>
  const kernels::PackedMatrix<T>& get(std::size_t parameter, bool transposed) const {
    const Matrix& matrix = matrices_[places_[transposed ? 1 : 0][parameter]];
    if constexpr (std::is_same_v<T, float>) {
      return matrix.f32;
    } else {
      return matrix.f64;
    }
  }

 private:
  struct Matrix {
    std::size_t parameter;
    bool transposed;
    Tensor of{};  ///< held, so that no other tensor can be taken for it
    kernels::PackedMatrix<float> f32{};
    kernels::PackedMatrix<double> f64{};
  };

  static void pack(Matrix& matrix, const Tensor& parameter);

  std::vector<Matrix> matrices_;
  std::array<std::vector<std::size_t>, 2> places_;  ///< in matrices_, by parameter; as it is, and transposed
};

}  // namespace hiaton::exec::flow
