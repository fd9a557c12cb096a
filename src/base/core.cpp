#include "base/core.h"

#if defined(__linux__)
#include <sched.h>
#endif

namespace hiaton {

#if defined(__linux__)

int current_core() {
  return sched_getcpu();
}

void leave_core(int core) {
  if (core < 0 || current_core() != core) return;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  cpu_set_t others = allowed;
  CPU_CLR(static_cast<unsigned>(core), &others);
  // The first call returns when the thread has moved, the second one lets the system move it again.
  if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof others, &others) == 0)
    sched_setaffinity(0, sizeof allowed, &allowed);
}

#else

int current_core() {
  return -1;
}

void leave_core(int) {}

#endif

}  // namespace hiaton
