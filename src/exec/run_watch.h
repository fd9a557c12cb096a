// Watches the time of a run, and whether it was cancelled, for code that does not look itself.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "hiaton/run.h"

namespace hiaton::exec {

/// While it lives, a thread looks every two milliseconds.
class RunWatch {
 public:
  using Clock = std::chrono::steady_clock;

  static bool is_needed(const RunOptions& options) {
    return options.cancel != nullptr || options.timeout != std::chrono::nanoseconds::max();
  }

  /// `stop` is called once at most, on that thread: with Fault::Interrupted or Fault::Timeout. `start` is
  /// when the time began.
  RunWatch(const RunOptions& options, Clock::time_point start, std::function<void(Fault)> stop)
      : options_(options), start_(start), stop_(std::move(stop)), thread_([this] { watch(); }) {}
  RunWatch(const RunWatch&) = delete;
  ~RunWatch() {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    wakes_.notify_all();
  }

 private:
  void watch() {
    constexpr std::chrono::milliseconds kLook{2};
    std::unique_lock lock(mutex_);
    while (!is_over_) {
      wakes_.wait_for(lock, kLook);
      const bool cancelled = options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed);
      const bool late = Clock::now() - start_ > options_.timeout;
      if (!is_over_ && (cancelled || late)) return stop_(cancelled ? Fault::Interrupted : Fault::Timeout);
    }
  }

  const RunOptions& options_;
  const Clock::time_point start_;
  const std::function<void(Fault)> stop_;
  std::mutex mutex_;
  std::condition_variable wakes_;
  bool is_over_ = false;
  std::jthread thread_;  ///< last: it is joined before the rest goes
};

/// The watch of a run of several workers that come and go. Its thread starts with the first one that comes.
class SharedWatch {
 public:
  SharedWatch(const RunOptions& options, RunWatch::Clock::time_point start)
      : options_(options), start_(start) {}

  /// While it lives, `stop` is called where the run is to end, also where that was before.
  class Entry {
   public:
    Entry(SharedWatch& all, std::function<void(Fault)> stop) : all_(all), stop_(std::move(stop)) {
      if (RunWatch::is_needed(all_.options_)) all_.add(stop_);
    }
    Entry(const Entry&) = delete;
    ~Entry() {
      const std::lock_guard lock(all_.mutex_);
      std::erase(all_.stops_, &stop_);
    }

   private:
    SharedWatch& all_;
    const std::function<void(Fault)> stop_;
  };

 private:
  void add(const std::function<void(Fault)>& stop) {
    const std::lock_guard lock(mutex_);
    stops_.push_back(&stop);
    if (fault_ != Fault::None) return stop(fault_);
    if (!watch_) watch_.emplace(options_, start_, [this](Fault fault) { end(fault); });
  }
  void end(Fault fault) {
    const std::lock_guard lock(mutex_);
    fault_ = fault;
    for (const std::function<void(Fault)>* stop : stops_) (*stop)(fault);
  }

  const RunOptions& options_;
  const RunWatch::Clock::time_point start_;
  std::mutex mutex_;
  std::vector<const std::function<void(Fault)>*> stops_;
  Fault fault_ = Fault::None;
  std::optional<RunWatch> watch_;  ///< last: its thread ends before the rest goes
};

}  // namespace hiaton::exec
