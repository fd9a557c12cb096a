#include "base/core.h"

#include <algorithm>

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

namespace hiaton {

#if defined(__linux__)

namespace {

/// The first call returns when the thread has moved, the second one lets the system move it again.
void move_thread(pthread_t thread, const cpu_set_t& others, const cpu_set_t& allowed) {
  if (CPU_COUNT(&others) > 0 && pthread_setaffinity_np(thread, sizeof others, &others) == 0)
    pthread_setaffinity_np(thread, sizeof allowed, &allowed);
}

}  // namespace

int current_core() {
  return sched_getcpu();
}

void leave_cores(std::span<const std::atomic<int>> cores) {
  const auto number = [](const std::atomic<int>& core) { return core.load(std::memory_order_relaxed); };
  const int own = current_core();
  if (own < 0 || std::ranges::find(cores, own, number) == cores.end()) return;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  cpu_set_t others = allowed;
  for (const std::atomic<int>& core : cores) {
    if (number(core) >= 0) CPU_CLR(static_cast<unsigned>(number(core)), &others);
  }
  move_thread(pthread_self(), others, allowed);
}

void move_to_other_core(std::jthread& thread) {
  cpu_set_t allowed;
  const int own = current_core();
  if (own < 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  cpu_set_t others = allowed;
  CPU_CLR(static_cast<unsigned>(own), &others);
  move_thread(thread.native_handle(), others, allowed);
}

#else

int current_core() {
  return kNoCore;
}

void leave_cores(std::span<const std::atomic<int>>) {}

void move_to_other_core(std::jthread&) {}

#endif

}  // namespace hiaton
