#include "hiaton/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace hiaton {
namespace {

/// So long a thread looks for work, or for the end of it, before it sleeps. To wake takes some 50 us; less
/// than this passes between two steps of training, and between the ends of their parts.
constexpr std::chrono::microseconds kLooking{300};

void pause_thread() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

void wait_for_change(const std::atomic<uint64_t>& value, uint64_t old) {
  const auto end = std::chrono::steady_clock::now() + kLooking;
  do {
    for (int i = 0; i < 32; ++i) {
      if (value.load() != old) return;
      pause_thread();
    }
  } while (std::chrono::steady_clock::now() < end);
  value.wait(old);
}

}  // namespace

/// A round is one `run`. Its number and how many of its calls are still to be taken are one word: who takes a
/// call knows that it belongs to the round of which `work` and `count` are, and that this round does not end
/// before the call.
struct ThreadPool::Parts {
  static constexpr uint64_t kOneRound = uint64_t{1} << 32;
  static uint64_t calls_in(uint64_t round) { return round % kOneRound; }

  std::atomic<uint64_t> to_take{0};
  std::atomic<uint64_t> to_end{0};  ///< calls that have not returned
  const std::function<void(std::size_t)>* work = nullptr;
  std::size_t count = 0;
  std::atomic<bool> over{false};
  std::mutex busy;
  std::vector<std::jthread> threads;

  /// Whether there was a call to be made.
  bool make_one() {
    uint64_t round = to_take.load();
    while (calls_in(round) > 0) {
      if (!to_take.compare_exchange_weak(round, round - 1)) continue;
      (*work)(count - calls_in(round));
      if (to_end.fetch_sub(1) == 1) to_end.notify_all();
      return true;
    }
    return false;
  }

  void help() {
    while (true) {
      const uint64_t round = to_take.load();
      if (over.load()) return;
      if (!make_one()) wait_for_change(to_take, round);
    }
  }

  void end() {
    over.store(true);
    to_take.fetch_add(kOneRound);
    to_take.notify_all();
    threads.clear();
  }
};

ThreadPool::ThreadPool(int threads) : parts_(std::make_unique<Parts>()) {
  try {
    for (int i = 1; i < threads; ++i) parts_->threads.emplace_back([parts = parts_.get()] { parts->help(); });
  } catch (...) {
    parts_->end();
    throw;
  }
}

ThreadPool::~ThreadPool() {
  parts_->end();
}

int ThreadPool::threads() const {
  return static_cast<int>(parts_->threads.size()) + 1;
}

void ThreadPool::run(std::size_t count, const std::function<void(std::size_t)>& work) {
  const std::unique_lock own(parts_->busy, std::try_to_lock);
  if (!own || count < 2 || parts_->threads.empty()) {
    for (std::size_t i = 0; i < count; ++i) work(i);
    return;
  }
  parts_->work = &work;
  parts_->count = count;
  parts_->to_end.store(count);
  parts_->to_take.store((parts_->to_take.load() / Parts::kOneRound + 1) * Parts::kOneRound + count);
  parts_->to_take.notify_all();
  while (parts_->make_one()) {
  }
  while (const uint64_t left = parts_->to_end.load()) wait_for_change(parts_->to_end, left);
}

void run_in_pieces(ThreadPool* pool, std::size_t size, std::size_t piece,
                   const std::function<void(std::size_t, std::size_t)>& work) {
  if (pool == nullptr || size <= piece) return work(0, size);
  pool->run((size + piece - 1) / piece,
            [&](std::size_t i) { work(i * piece, std::min(size, (i + 1) * piece)); });
}

}  // namespace hiaton
