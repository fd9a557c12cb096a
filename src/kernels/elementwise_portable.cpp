// Elementwise functions for any machine.
#include "kernels/elementwise_kernels.h"

namespace hiaton::kernels::portable {
namespace {
constexpr int kVectorBytes = 16;
}
#include "kernels/elementwise.inc.h"
}  // namespace hiaton::kernels::portable
