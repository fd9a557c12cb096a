// How a thread waits for what another thread is about to do, where nobody wakes it.
#pragma once

#include <chrono>
#include <thread>

namespace hiaton {

/// One wait, with a look at what it is for between two calls of `pause`. A thread that only yields takes the
/// processor and most of the time of the system from those that it waits for, where these have to be started
/// first: after the first yields it sleeps between its looks.
class ShortWait {
 public:
  void pause() {
    if (yields_ < kMostYields) {
      ++yields_;
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(kSleep);
    }
  }

 private:
  static constexpr int kMostYields = 20;
  static constexpr std::chrono::microseconds kSleep{20};

  int yields_ = 0;
};

}  // namespace hiaton
