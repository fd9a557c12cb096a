#include "hiaton/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "base/shared_loop.h"

namespace hiaton {

struct ThreadPool::Parts {
  explicit Parts(int count) : loop(static_cast<std::size_t>(count)) {}

  SharedLoop loop;
  std::atomic<bool> over{false};
  std::vector<std::jthread> threads;

  void help() {
    while (true) {
      const uint64_t round = loop.round();
      if (over.load()) return;
      if (!loop.help()) loop.wait_for_other_than(round);
    }
  }

  void end() {
    over.store(true);
    loop.wake();
    threads.clear();
  }
};

ThreadPool::ThreadPool(int threads) : parts_(std::make_unique<Parts>(threads)) {
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
  if (parts_->threads.empty()) {
    for (std::size_t i = 0; i < count; ++i) work(i);
    return;
  }
  parts_->loop.run(count, work, [] {});
}

bool ThreadPool::begin_help(std::size_t count, const std::function<void(std::size_t)>& work) {
  return !parts_->threads.empty() && count > 0 && parts_->loop.begin(count, work);
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
