// Matrix products for machines with AVX-512: 10 x 2, 3 x 8 or 4 x 4 panels of sums and their factors fill the
// 32 registers.
#if defined(__AVX512F__)
#include "kernels/gemm_kernels.h"

namespace hiaton::kernels::avx512 {
namespace {
constexpr int kVectorBytes = 64;
constexpr int kBlockRows = 10;
constexpr int kBlockPanels = 2;
constexpr int kWideRows = 3;
constexpr int kWidePanels = 8;
constexpr int kOuterRows = 4;
constexpr int kOuterPanels = 4;
}  // namespace
#include "kernels/gemm.inc.h"
}  // namespace hiaton::kernels::avx512
#endif
