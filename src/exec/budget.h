// Watching the budgets of a run.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>

#include "hiaton/run.h"

namespace hiaton::exec {

inline bool has_byte_budget(const RunOptions& options) {
  return options.max_bytes != std::numeric_limits<uint64_t>::max();
}

/// The bytes that the frames of a run may hold: its budget, or else most of what the machine has left, so
/// that an endless recursion ends with a message and not with the machine.
uint64_t byte_limit(const RunOptions& options);

/// Whether of what was left when `limit` was set an eighth is left: not all that a run holds is in its
/// frames, and there are other runs and programs.
bool is_memory_short(uint64_t limit);

/// The budgets of one run, and the most that was used of them.
class BudgetWatch {
 public:
  explicit BudgetWatch(const RunOptions& options)
      : options_(options), byte_limit_(byte_limit(options)), start_(Clock::now()) {}

  /// Tells what is in use now.
  Fault use(uint64_t frames, uint64_t bytes) {
    most_frames_ = std::max(most_frames_, frames);
    most_bytes_ = std::max(most_bytes_, bytes);
    if (frames > options_.max_frames) return Fault::MaxFrames;
    if (bytes > byte_limit_) return Fault::MaxBytes;
    return Fault::None;
  }

  /// True at the first step and every thousand or so: looking at the clock costs more than a step.
  bool is_time_to_poll() { return (steps_++ & 1023) == 0; }

  Fault poll() const {
    if (options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed)) {
      return Fault::Interrupted;  // relaxed: the flag alone is read, nothing it might guard
    }
    if (!has_byte_budget(options_) && is_memory_short(byte_limit_)) return Fault::OutOfMemory;
    return Clock::now() - start_ > options_.timeout ? Fault::Timeout : Fault::None;
  }

  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  uint64_t most_frames() const { return most_frames_; }
  uint64_t most_bytes() const { return most_bytes_; }

 private:
  using Clock = std::chrono::steady_clock;

  const RunOptions& options_;
  const uint64_t byte_limit_;
  Clock::time_point start_;
  uint64_t steps_ = 0;
  uint64_t most_frames_ = 0;
  uint64_t most_bytes_ = 0;
};

}  // namespace hiaton::exec
