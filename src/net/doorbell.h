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

/// Lies in memory that all who ring and sleep have mapped. Who sleeps asks for rings() first, then looks for
/// what may have come, and sleeps only where it finds nothing: what comes in between has rung.
class Doorbell {
 public:
  uint32_t rings() const { return rings_.load(std::memory_order_acquire); }

  /// After what is to be seen by who wakes.
  void ring() {
    rings_.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) != 0) call(FUTEX_WAKE, INT_MAX, nullptr);
  }

  /// Returns where it has rung since rings() was `heard`, at the latest after `most`, and now and then
  /// earlier.
  void sleep(uint32_t heard, std::chrono::nanoseconds most) {
    if (most.count() <= 0) return;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(most);
    const timespec time{seconds.count(), (most - seconds).count()};
    sleepers_.fetch_add(1, std::memory_order_seq_cst);  // before the system reads rings_
    call(FUTEX_WAIT, heard, &time);
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
  }

 private:
  static_assert(std::atomic<uint32_t>::is_always_lock_free &&
                sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

  void call(int operation, uint32_t value, const timespec* time) {
    syscall(SYS_futex, &rings_, operation, value, time, nullptr, 0);
  }

  std::atomic<uint32_t> rings_{0};
  std::atomic<uint32_t> sleepers_{0};
};

}  // namespace hiaton::net
