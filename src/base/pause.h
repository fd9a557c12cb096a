// What a thread does between two looks at a word that another thread is about to write.
#pragma once

namespace hiaton {

/// Leaves the processor's units to its other thread for a moment, where the processor has an instruction for
/// that; else nothing, which is as right and costs some time of the other thread.
inline void pause_thread() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace hiaton
