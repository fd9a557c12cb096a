#include "exec/budget.h"

#include <algorithm>
#include <atomic>
#include <chrono>

namespace hiaton::exec {
namespace {

/// Most of the memory that is left. Reading it takes as long as a small run, so it is read ten times a second
/// at most, by whichever run comes first.
uint64_t available_bytes() {
  using std::chrono::steady_clock;
  static std::atomic<steady_clock::duration::rep> read_at{0};
  static std::atomic<uint64_t> bytes{0};
  const auto now = steady_clock::now().time_since_epoch();
  const bool is_recent =
      bytes.load(std::memory_order_relaxed) != 0 &&
      now - steady_clock::duration(read_at.load(std::memory_order_relaxed)) < std::chrono::milliseconds(100);
  if (!is_recent) {
    bytes.store(free_memory() / 8 * 7, std::memory_order_relaxed);
    read_at.store(now.count(), std::memory_order_relaxed);
  }
  return bytes.load(std::memory_order_relaxed);
}

}  // namespace

bool is_memory_short(uint64_t limit) {
  return available_bytes() < limit / 8;
}

uint64_t byte_limit(const RunOptions& options) {
  return has_byte_budget(options) ? options.max_bytes : available_bytes();
}

void Budget::begin(const RunOptions& options) {
  has_byte_budget_ = exec::has_byte_budget(options);
  max_frames_ = options.max_frames;
  max_bytes_ = byte_limit(options);
  has_refused_bytes_.store(false, std::memory_order_relaxed);
}

void Budget::begin_within(Budget& around) {
  around_ = &around;
  most_bytes_.store(0, std::memory_order_relaxed);
  has_refused_bytes_.store(false, std::memory_order_relaxed);
}

bool Budget::take_frame() {
  if (around_ != nullptr && !around_->take_frame()) return false;
  if (add_frames(1) <= max_frames_) return true;
  add_frames(static_cast<uint64_t>(-1));
  return false;
}

bool Budget::take_bytes(uint64_t wanted) {
  if (around_ == nullptr || around_->take_bytes(wanted)) {
    if (add_bytes(wanted) <= max_bytes()) return true;
    add_bytes(-wanted);
    if (around_ != nullptr) around_->give_bytes(wanted);
  }
  has_refused_bytes_.store(true, std::memory_order_relaxed);
  return false;
}

void Budget::give_bytes(uint64_t given) {
  const uint64_t held = bytes_.fetch_sub(given, std::memory_order_relaxed);
  uint64_t most = most_bytes_.load(std::memory_order_relaxed);
  while (most < held && !most_bytes_.compare_exchange_weak(most, held, std::memory_order_relaxed)) {
  }
  if (around_ != nullptr) around_->give_bytes(given);
}

uint64_t Budget::free_bytes() const {
  const uint64_t held = bytes();
  const uint64_t own = max_bytes() - std::min(held, max_bytes());
  return around_ != nullptr ? std::min(own, around_->free_bytes()) : own;
}

}  // namespace hiaton::exec
