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
/// looks for what may have come, and sleeps only where it finds too little: what has come later has rung.
class Doorbell {
 public:
  /// By who is going to sleep until it has rung so often. Returns what sleep() takes.
  uint32_t expect(uint32_t rings) {
    const uint32_t wakes = wakes_.load(std::memory_order_relaxed);
    rings_to_come_.store(rings, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);  // before it looks
    return wakes;
  }

  /// After what is to be seen by who sleeps. Only reads, as long as nobody is going to.
  void ring() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    uint32_t to_come = rings_to_come_.load(std::memory_order_relaxed);
    while (to_come > 0 &&
           !rings_to_come_.compare_exchange_weak(to_come, to_come - 1, std::memory_order_relaxed)) {
    }
    if (to_come == 1) wake();
  }

  /// Ends the sleep of whoever sleeps, or is going to, whether something has come or not.
  void wake() {
    wakes_.fetch_add(1, std::memory_order_release);
    call(FUTEX_WAKE, INT_MAX, nullptr);
  }

  /// Returns where it has rung as often as expect(), which returned `wakes`, was told, at the latest after
  /// `most`, and now and then earlier.
  void sleep(uint32_t wakes, std::chrono::nanoseconds most) {
    if (most.count() <= 0) return;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(most);
    const timespec time{seconds.count(), (most - seconds).count()};
    call(FUTEX_WAIT, wakes, &time);
  }

 private:
  static_assert(std::atomic<uint32_t>::is_always_lock_free &&
                sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

  void call(int operation, uint32_t value, const timespec* time) {
    syscall(SYS_futex, &wakes_, operation, value, time, nullptr, 0);
  }

  std::atomic<uint32_t> wakes_{0};
  std::atomic<uint32_t> rings_to_come_{0};
};

}  // namespace hiaton::net
