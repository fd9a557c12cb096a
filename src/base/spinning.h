// How a thread looks for what another one is about to do, before it sleeps.
#pragma once

#include <algorithm>
#include <chrono>

#include "base/shared_loop.h"

namespace hiaton {

/// A thread that answers at once does so sooner than a sleeping one wakes, so who waits looks again and again
/// for a while first. Where that has brought nothing several times in a row, as where both threads share a
/// processor or the machine is busy, the next waits do without it: else each would take that time from the
/// thread that it waits for. After these it is tried again.
class Spinning {
 public:
  /// Calls `is_there` once at least, until it returns true or the time is over. Returns what it has returned.
  template <class IsThere>
  bool look(const IsThere& is_there) {
    if (waits_without_ > 0) {
      --waits_without_;
      return is_there();
    }
    const Clock::time_point end = Clock::now() + kLongest;
    do {
      for (int i = 0; i < kLooksBetweenClocks; ++i) {
        if (is_there()) {
          in_vain_ = 0;
          return true;
        }
        pause_thread();
      }
    } while (Clock::now() < end);
    in_vain_ = std::min(in_vain_ + 1, kMostInVain);
    if (in_vain_ >= kTries) waits_without_ = 1 << in_vain_;
    return false;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::microseconds kLongest{60};
  static constexpr int kLooksBetweenClocks = 16;
  static constexpr int kTries = 3;
  static constexpr int kMostInVain = 6;

  int in_vain_ = 0;        ///< how often in a row it has looked for nothing
  int waits_without_ = 0;  ///< so many waits still do without it
};

}  // namespace hiaton
