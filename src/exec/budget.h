// Watching the budgets of a run.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "hiaton/run.h"
#include "tensor/memory.h"

namespace hiaton::exec {

inline bool has_byte_budget(const RunOptions& options) {
  return options.max_bytes != std::numeric_limits<uint64_t>::max();
}

/// The bytes that a run may hold: its budget, or else most of what the machine has left, so that an endless
/// recursion ends with a message and not with the machine.
uint64_t byte_limit(const RunOptions& options);

/// Bytes that this process may still take, within the limits of its control groups. Kernel memory that holds
/// copies of files counts as left.
uint64_t free_memory();

/// The same within the limits of control groups alone; the largest number where there is none. `groups` is
/// the text of /proc/PID/cgroup, and `mount` the folder where control groups are mounted, version 2 itself
/// and the controllers of version 1 below it. A limit of a group holds for all groups inside of it.
uint64_t free_in_groups(const std::string& groups, const std::string& mount);

/// Whether of what was left when `limit` was set an eighth is left: there are other runs and programs.
bool is_memory_short(uint64_t limit);

/// The budget of a run, and what all its workers hold of it. Relaxed: each number is read alone.
class Budget {
 public:
  /// Without limits.
  Budget() = default;
  explicit Budget(const RunOptions& options) { begin(options); }
  Budget(const Budget&) = delete;

  /// Before a run. What is held already is kept from earlier ones, and stays counted. Not while others use
  /// it.
  void begin(const RunOptions& options);
  /// Likewise, for a part of a run: what it takes from now on is of `around` as well, whose limits hold.
  void begin_within(Budget& around);
  /// After that run; `around` may go then.
  void leave() { around_ = nullptr; }

  bool limits_frames() const {
    return max_frames_ != kUnlimited || (around_ != nullptr && around_->limits_frames());
  }
  /// False, and nothing taken, where the budget has no frame left.
  bool take_frame();
  /// Takes so many bytes of the budget; false, and nothing taken, where there are not so many.
  bool take_bytes(uint64_t wanted);
  void give_bytes(uint64_t given);
  /// How many bytes can be taken.
  uint64_t free_bytes() const;
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  /// What was held at once at most.
  uint64_t most_bytes() const { return std::max(most_bytes_.load(std::memory_order_relaxed), bytes()); }
  /// Whether bytes were wanted that the budget did not have.
  bool has_refused_bytes() const { return has_refused_bytes_.load(std::memory_order_relaxed); }

  // For who counts by itself, and tells from time to time: BudgetWatch.
  uint64_t max_frames() const { return max_frames_; }
  uint64_t max_bytes() const { return max_bytes_ + held_before_.load(std::memory_order_relaxed); }
  bool is_memory_short() const { return !has_byte_budget_ && exec::is_memory_short(max_bytes_); }
  /// Memory that workers keep from earlier runs belongs to a budget, not to what the machine has left.
  void begin_with(uint64_t held) {
    if (!has_byte_budget_) held_before_.fetch_add(held, std::memory_order_relaxed);
  }
  /// Adds a difference, which may be below 0, and returns the sum.
  uint64_t add_frames(uint64_t frames) {
    return frames_.fetch_add(frames, std::memory_order_relaxed) + frames;
  }
  uint64_t add_bytes(uint64_t bytes) { return bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes; }

 private:
  static constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

  bool has_byte_budget_ = false;
  uint64_t max_frames_ = kUnlimited;
  uint64_t max_bytes_ = kUnlimited;
  Budget* around_ = nullptr;
  std::atomic<uint64_t> held_before_{0};
  std::atomic<uint64_t> frames_{0};
  std::atomic<uint64_t> bytes_{0};
  std::atomic<uint64_t> most_bytes_{0};
  std::atomic<bool> has_refused_bytes_{false};
};

/// The budgets of a run, as one of its workers watches them, and the most that this one used of them.
class BudgetWatch {
 public:
  using Clock = std::chrono::steady_clock;

  /// `held`: bytes that the worker holds already. `start`: when the time of the run began.
  BudgetWatch(const RunOptions& options, Budget& shared, uint64_t held = 0,
              Clock::time_point start = Clock::now())
      : options_(options), shared_(shared), meter_(held), start_(start) {
    meter_.set_limit(shared_.max_bytes());
  }
  BudgetWatch(const BudgetWatch&) = delete;
  ~BudgetWatch() {
    shared_.add_frames(-told_frames_);
    shared_.add_bytes(-told_bytes_);
  }

  /// Tells what is in use now; `bytes` are those that the meter does not count.
  Fault use(uint64_t frames, uint64_t bytes) {
    bytes += meter_.bytes();
    most_frames_ = std::max(most_frames_, frames);
    most_bytes_ = std::max(most_bytes_, bytes);
    const uint64_t all_frames = shared_.add_frames(frames - std::exchange(told_frames_, frames));
    const uint64_t all_bytes = shared_.add_bytes(bytes - std::exchange(told_bytes_, bytes));
    if (all_frames > options_.max_frames) return Fault::MaxFrames;
    most_frames_to_use_ =
        frames + (options_.max_frames - all_frames) / static_cast<uint64_t>(options_.workers);
    if (all_bytes > shared_.max_bytes()) return Fault::MaxBytes;
    meter_.set_limit(shared_.max_bytes() - (all_bytes - meter_.bytes()));
    next_look_ = bytes + kBytesALook;
    return Fault::None;
  }

  /// A worker with more frames than this calls use(): each may take its share of what is left.
  uint64_t most_frames_to_use() const { return most_frames_to_use_; }

  /// For the message that says why the run ends.
  void allow_all() { meter_.set_limit(std::numeric_limits<uint64_t>::max()); }

  /// True at the first step and every thousand or so, and where much was taken: looking costs more than a
  /// step.
  bool is_time_to_poll() { return (steps_++ & 1023) == 0 || meter_.bytes() > next_look_; }

  Fault poll() const {
    if (options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed)) {
      return Fault::Interrupted;  // relaxed: the flag alone is read, nothing it might guard
    }
    if (shared_.is_memory_short()) return Fault::OutOfMemory;
    return Clock::now() - start_ > options_.timeout ? Fault::Timeout : Fault::None;
  }

  /// The bytes that the meter counts.
  uint64_t bytes() const { return meter_.bytes(); }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  uint64_t most_frames() const { return most_frames_; }
  uint64_t most_bytes() const { return most_bytes_; }

 private:
  static constexpr uint64_t kBytesALook = uint64_t{1} << 20;

  const RunOptions& options_;
  Budget& shared_;
  MemoryMeter meter_;
  Clock::time_point start_;
  uint64_t told_frames_ = 0;
  uint64_t told_bytes_ = 0;
  uint64_t most_frames_to_use_ = 0;
  uint64_t next_look_ = 0;
  uint64_t steps_ = 0;
  uint64_t most_frames_ = 0;
  uint64_t most_bytes_ = 0;
};

}  // namespace hiaton::exec
