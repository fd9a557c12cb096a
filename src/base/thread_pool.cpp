#include "hiaton/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "base/shared_loop.h"

namespace hiaton {

struct ThreadPool::Parts {
  explicit Parts(int count)
      : loop(static_cast<std::size_t>(count)), cores(static_cast<std::size_t>(std::max(0, count - 1))) {
    for (std::atomic<int>& core : cores) core.store(kNoCore, std::memory_order_relaxed);
  }

  SharedLoop loop;
  std::atomic<bool> over{false};
  std::atomic<bool> are_placed{false};  ///< the threads are made, and nobody else moves them any more
  std::vector<std::jthread> threads;
  /// By thread, where it waits or was waiting last: there the system wakes it if it can.
  std::vector<std::atomic<int>> cores;

  void place() {
    for (std::jthread& thread : threads) {
      if (loop.has_core_for_each()) move_to_other_core(thread);
    }
    let_begin();
  }

  void let_begin() {
    are_placed.store(true);
    are_placed.notify_all();
  }

  void help(std::atomic<int>& core) {
    are_placed.wait(false);
    while (true) {
      const uint64_t round = loop.round();
      if (over.load()) return;
      if (loop.help()) continue;
      core.store(current_core(), std::memory_order_relaxed);
      loop.wait_for_other_than(round);
    }
  }

  /// For the thread that is about to begin a round.
  void make_room() const {
    if (loop.has_core_for_each()) leave_cores(cores);
  }

  void end() {
    over.store(true);
    let_begin();
    loop.wake();
    threads.clear();
  }
};

ThreadPool::ThreadPool(int threads) : parts_(std::make_unique<Parts>(std::max(threads, 1))) {
  try {
    for (std::atomic<int>& core : parts_->cores)
      parts_->threads.emplace_back([parts = parts_.get(), &core] { parts->help(core); });
  } catch (...) {
    parts_->end();
    throw;
  }
  parts_->place();
}

ThreadPool::~ThreadPool() {
  parts_->end();
}

int ThreadPool::threads() const {
  return static_cast<int>(parts_->threads.size()) + 1;
}

void ThreadPool::run(std::size_t count, const std::function<void(std::size_t)>& work) {
  if (parts_->threads.empty()) {
    for (std::size_t i = 0; i < count; ++i) work(i);
    return;
  }
  if (count > 1) parts_->make_room();
  parts_->loop.run(count, work, [] {});
}

bool ThreadPool::begin_help(std::size_t count, const std::function<void(std::size_t)>& work) {
  if (parts_->threads.empty() || count == 0) return false;
  parts_->make_room();
  return parts_->loop.begin(count, work);
}

void ThreadPool::end_help() {
  parts_->loop.end();
}

void run_in_ranges(ThreadPool* pool, std::size_t size, std::size_t range,
                   const std::function<void(std::size_t, std::size_t)>& work) {
  if (pool == nullptr || size <= range) return work(0, size);
  pool->run((size + range - 1) / range,
            [&](std::size_t i) { work(i * range, std::min(size, (i + 1) * range)); });
}

}  // namespace hiaton
