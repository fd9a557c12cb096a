// Watches the time of a run, and whether it was cancelled, for code that does not look itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "hiaton/run.h"

namespace hiaton::exec {

/// While it lives, a thread of the process looks at its run every two milliseconds. All runs share that
/// thread, which starts with the first watch, and anew after a fork: a watch costs two turns of a mutex.
class RunWatch {
 public:
  using Clock = std::chrono::steady_clock;

  static bool is_needed(const RunOptions& options) {
    return options.cancel != nullptr || options.timeout != std::chrono::nanoseconds::max();
  }

  /// `stop` is called once at most, on that thread: with Fault::Interrupted or Fault::Timeout. It must not
  /// block, nor make or end a watch. `start` is when the time began. Throws std::system_error where there is
  /// no thread.
  RunWatch(const RunOptions& options, Clock::time_point start, std::function<void(Fault)> stop);
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;
  /// `stop` does not run any more when it returns.
  ~RunWatch();

 private:
  friend class Watcher;

  /// Calls `stop` where the run is to end. True: there is nothing more to watch.
  bool look(Clock::time_point now) const;

  const RunOptions& options_;
  const Clock::time_point start_;
  const std::function<void(Fault)> stop_;
  bool stopped_ = false;
  uint64_t process_ = 0;  ///< how many forks lie between the first process and the one that it was made in
  RunWatch* before_ = nullptr;
  RunWatch* behind_ = nullptr;
};

}  // namespace hiaton::exec
