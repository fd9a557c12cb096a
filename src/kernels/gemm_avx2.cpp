// Matrix products for machines with AVX2 and FMA: 6 x 2 sums and two factors fill the 16 registers.
#if defined(__AVX2__)
#include "kernels/gemm_kernels.h"

namespace hiaton::kernels::avx2 {
namespace {
constexpr int kVectorBytes = 32;
constexpr int kBlockRows = 6;
constexpr int kBlockPanels = 1;
constexpr int kWideRows = 2;
constexpr int kWidePanels = 2;
constexpr int kOuterRows = 6;
constexpr int kOuterPanels = 1;
}  // namespace
#include "kernels/gemm.inc.h"
}  // namespace hiaton::kernels::avx2
#endif
