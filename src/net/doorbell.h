// What a process sleeps at until another one of the same machine has sent it something.
//
// A plug-in is compiled from this header and links nothing else of Hiaton, so all of it is inline.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <cstdint>
#include <ctime>

namespace hiaton::net {

/// Lies in memory that all who ring and sleep have mapped. Who sleeps says first that it is going to, then
/// looks for what may have come, and sleeps only where it finds nothing: what has come later has rung.
class Doorbell {
 public:
  /// By who is going to sleep. Returns what sleep() takes.
  uint32_t expect() {
    const uint32_t rings = rings_.load(std::memory_order_relaxed);
    is_expected_.store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);  // before it looks
    return rings;
  }

  /// After what is to be seen by who sleeps. Only reads, as long as nobody is going to.
  void ring() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (is_expected_.load(std::memory_order_relaxed) != 0) wake();
  }

  /// Ends the sleep of whoever sleeps, or is going to, whether something has come or not.
  void wake() {
    is_expected_.store(0, std::memory_order_relaxed);
    rings_.fetch_add(1, std::memory_order_release);
    call(FUTEX_WAKE, INT_MAX, nullptr);
  }

  /// Returns where it has rung since expect() returned `rings`, at the latest after `most`, and now and then
  /// earlier.
  void sleep(uint32_t rings, std::chrono::nanoseconds most) {
    if (most.count() <= 0) return;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(most);
    const timespec time{seconds.count(), (most - seconds).count()};
    call(FUTEX_WAIT, rings, &time);
  }

 private:
  static_assert(std::atomic<uint32_t>::is_always_lock_free &&
                sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

  void call(int operation, uint32_t value, const timespec* time) {
    syscall(SYS_futex, &rings_, operation, value, time, nullptr, 0);
  }

  std::atomic<uint32_t> rings_{0};
  std::atomic<uint32_t> is_expected_{0};
};

}  // namespace hiaton::net
