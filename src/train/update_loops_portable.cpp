// The inner loops of the optimizers for any machine.
#include "train/update_loops.h"

namespace hiaton::train::portable {
#include "train/update_loops.inc.h"
}  // namespace hiaton::train::portable
