#include "base/shared_loop.h"

#include <chrono>
#include <thread>

#include "base/spinning.h"

namespace hiaton {
namespace {

/// So long a thread looks for work, or for the end of it, before it sleeps. To wake takes some 50 us; less
/// than this passes between two steps of training, and between the ends of their parts.
constexpr std::chrono::microseconds kLooking{300};

/// The thread does not yield while it looks: where another program wants its core, too, it would get no other
/// turn for milliseconds, and who waits for it would wait as long. Whether it looks is found out for the
/// whole process, since a short run has threads of its own.
bool is_changed_soon(const std::atomic<uint64_t>& value, uint64_t old) {
  static Spinning spinning(kLooking);
  return spinning.look([&] { return value.load() != old; });
}

unsigned cores() {
  static const unsigned count = std::thread::hardware_concurrency();
  return count;
}

}  // namespace

SharedLoop::SharedLoop(std::size_t threads) : has_core_for_each_(threads <= cores()) {}

/// A thread that looks takes the time of one that works where there are more threads than cores.
void SharedLoop::wait_for_change(const std::atomic<uint64_t>& value, uint64_t old) const {
  if (!has_core_for_each_ || !is_changed_soon(value, old)) value.wait(old);
}

bool SharedLoop::begin(std::size_t count, const std::function<void(std::size_t)>& work) {
  if (is_running_.exchange(true)) return false;
  work_ = &work;
  count_ = count;
  to_end_.store(count);
  began_on_.store(current_core(), std::memory_order_relaxed);
  uint64_t before = to_take_.load();
  while (!to_take_.compare_exchange_weak(before, (before / kOneRound + 1) * kOneRound + count)) {
  }
  to_take_.notify_all();
  return true;
}

void SharedLoop::end() {
  while (take_call()) {
  }
  wait_for_end();
  is_running_.store(false);
}

bool SharedLoop::help() {
  if (calls_in(to_take_.load()) == 0) return false;
  if (has_core_for_each_) leave_core(began_on_);
  return take_call();
}

bool SharedLoop::take_call() {
  uint64_t round = to_take_.load();
  while (calls_in(round) > 0) {
    if (!to_take_.compare_exchange_weak(round, round - 1)) continue;
    (*work_)(count_ - calls_in(round));
    if (to_end_.fetch_sub(1) == 1) to_end_.notify_all();
    return true;
  }
  return false;
}

void SharedLoop::wait_for_end() {
  while (const uint64_t left = to_end_.load()) wait_for_change(to_end_, left);
}

void SharedLoop::wait_for_other_than(uint64_t old) {
  wait_for_change(to_take_, old);
}

void SharedLoop::wake() {
  to_take_.fetch_add(kOneRound);
  to_take_.notify_all();
}

}  // namespace hiaton
