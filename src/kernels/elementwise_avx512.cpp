// Elementwise functions for machines with AVX-512.
#if defined(__AVX512F__)
#include "kernels/elementwise_kernels.h"

namespace hiaton::kernels::avx512 {
namespace {
constexpr int kVectorBytes = 64;
}
#include "kernels/elementwise.inc.h"
}  // namespace hiaton::kernels::avx512
#endif
