#include "process.h"

namespace hiaton::cli {
namespace {

/// A signal handler reaches nothing but a global.
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not take a lock");

extern "C" void note_interrupt(int) {
  interrupted.store(true, std::memory_order_relaxed);  // a flag by itself: it publishes no other data
}

/// Sets the handler of all signals that ask a process to end.
void on_interrupt(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESETHAND;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(kInterruptOfLaunched, &action, nullptr);
}

}  // namespace

const std::atomic<bool>& cancel_on_interrupt() {
  on_interrupt(note_interrupt);
  return interrupted;
}

std::atomic<bool>& interrupt_flag() {
  return interrupted;
}

void end_on_interrupt() {
  on_interrupt(SIG_DFL);
}

}  // namespace hiaton::cli
