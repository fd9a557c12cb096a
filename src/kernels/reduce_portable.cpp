// Reductions for any machine.
#include <utility>

#include "kernels/reduce_kernels.h"

namespace hiaton::kernels::portable {
namespace {
constexpr int kVectorBytes = 16;
}
#include "kernels/reduce.inc.h"
}  // namespace hiaton::kernels::portable
