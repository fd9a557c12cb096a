// The inner loops of the optimizers for machines with AVX-512.
#if defined(__AVX512F__)
#include "train/update_loops.h"

namespace hiaton::train::avx512 {
#include "train/update_loops.inc.h"
}  // namespace hiaton::train::avx512
#endif
