// Pooling for any machine.
#include <utility>

#include "kernels/pooling_kernels.h"

namespace hiaton::kernels::portable {
namespace {
constexpr int kVectorBytes = 16;
}
#include "kernels/pooling.inc.h"
}  // namespace hiaton::kernels::portable
