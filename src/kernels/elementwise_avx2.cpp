// Elementwise functions for machines with AVX2 and FMA.
#if defined(__AVX2__)
#include "kernels/elementwise_kernels.h"

namespace hiaton::kernels::avx2 {
namespace {
constexpr int kVectorBytes = 32;
}
#include "kernels/elementwise.inc.h"
}  // namespace hiaton::kernels::avx2
#endif
