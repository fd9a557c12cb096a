#include "kernels/gemm.h"

namespace hiaton::kernels {

template <class T>
T dot(int64_t n, const T* a, const T* b) {
  constexpr int64_t kLanes = 16;  // sums side by side, which the compiler keeps in vector registers
  T sums[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  T sum{};
  for (; i < n; ++i) sum += a[i] * b[i];
  for (T part : sums) sum += part;
  return sum;
}

template float dot(int64_t, const float*, const float*);
template double dot(int64_t, const double*, const double*);

}  // namespace hiaton::kernels
