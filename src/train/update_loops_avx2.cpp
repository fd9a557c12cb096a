// The inner loops of the optimizers for machines with AVX2.
#if defined(__AVX2__)
#include "train/update_loops.h"

namespace hiaton::train::avx2 {
#include "train/update_loops.inc.h"
}  // namespace hiaton::train::avx2
#endif
