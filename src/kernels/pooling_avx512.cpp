// Pooling for machines with AVX-512.
#if defined(__AVX512F__)
#include <utility>

#include "kernels/pooling_kernels.h"

namespace hiaton::kernels::avx512 {
namespace {
constexpr int kVectorBytes = 64;
}
#include "kernels/pooling.inc.h"
}  // namespace hiaton::kernels::avx512
#endif
