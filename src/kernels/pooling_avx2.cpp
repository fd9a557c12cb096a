// Pooling for machines with AVX2 and FMA.
#if defined(__AVX2__)
#include <utility>

#include "kernels/pooling_kernels.h"

namespace hiaton::kernels::avx2 {
namespace {
constexpr int kVectorBytes = 32;
}
#include "kernels/pooling.inc.h"
}  // namespace hiaton::kernels::avx2
#endif
