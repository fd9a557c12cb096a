// Matrix products for any machine.
#include "kernels/gemm_kernels.h"

namespace hiaton::kernels::portable {
namespace {
constexpr int kVectorBytes = 16;
constexpr int kBlockRows = 2;
constexpr int kBlockPanels = 1;
constexpr int kWideRows = 1;
constexpr int kWidePanels = 1;
constexpr int kOuterRows = 2;
constexpr int kOuterPanels = 1;
}  // namespace
#include "kernels/gemm.inc.h"
}  // namespace hiaton::kernels::portable
