// How a thread looks for what another one is about to do, before it sleeps.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

#include "base/shared_loop.h"

namespace hiaton {

/// A thread that answers at once does so sooner than a sleeping one wakes, so who waits looks again and again
/// for a while first. Where that has brought nothing several times in a row, as where both threads share a
/// processor or the machine is busy, the next waits do without it: else each would take that time from the
/// thread that it waits for, or from another program. After these it is tried again. Several threads may look
/// at the same time, and each goes by what the others have found: all loads and stores are relaxed.
class Spinning {
 public:
  /// `longest`: so long one wait looks.
  explicit Spinning(std::chrono::microseconds longest = std::chrono::microseconds(60)) : longest_(longest) {}

  /// Calls `is_there` once at least, until it returns true or the time is over. Returns what it has returned.
  template <class IsThere>
  bool look(const IsThere& is_there) {
    if (waits_without_.load(std::memory_order_relaxed) > 0) {
      waits_without_.fetch_sub(1, std::memory_order_relaxed);
      return is_there();
    }
    const Clock::time_point end = Clock::now() + longest_;
    do {
      for (int i = 0; i < kLooksBetweenClocks; ++i) {
        if (is_there()) {
          if (in_vain_.load(std::memory_order_relaxed) > 0) in_vain_.store(0, std::memory_order_relaxed);
          return true;
        }
        pause_thread();
      }
    } while (Clock::now() < end);
    const int in_vain = std::min(in_vain_.load(std::memory_order_relaxed) + 1, kMostInVain);
    in_vain_.store(in_vain, std::memory_order_relaxed);
    if (in_vain >= kTries) waits_without_.store(1 << in_vain, std::memory_order_relaxed);
    return false;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int kLooksBetweenClocks = 16;
  static constexpr int kTries = 3;
  static constexpr int kMostInVain = 6;

  const std::chrono::microseconds longest_;
  std::atomic<int> in_vain_{0};        ///< how often in a row it has looked for nothing
  std::atomic<int> waits_without_{0};  ///< so many waits still do without it
};

}  // namespace hiaton
