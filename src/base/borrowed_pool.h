// Threads of runs that are given no pool: the process keeps them for the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "hiaton/thread_pool.h"

namespace hiaton {

/// A pool that nobody else has as long as this lives: one that an earlier run has left, since starting
/// threads takes longer than a small run, or a new one. Several threads may make these at the same time. A
/// process that was forked has none of the threads of the other one, and begins with new ones.
class BorrowedPool {
 public:
  /// Of so many threads, counting the one that calls. Throws std::system_error where a thread cannot be
  /// started.
  explicit BorrowedPool(int threads);
  BorrowedPool(const BorrowedPool&) = delete;
  BorrowedPool& operator=(const BorrowedPool&) = delete;
  ~BorrowedPool();

  ThreadPool* get() const { return pool_.get(); }

 private:
  uint64_t process_ = 0;  ///< that has the threads
  std::unique_ptr<ThreadPool> pool_;
};

/// Threads that make calls while this one does something else.
class Helpers {
 public:
  Helpers() = default;
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;
  ~Helpers() { end(); }

  /// Each makes the call work(i) for one i below `count`, as soon as its thread is there; none does where the
  /// pool is busy. Without a pool one is borrowed, which throws std::system_error where a thread cannot be
  /// started. The calls must not throw.
  void begin(ThreadPool* pool, std::size_t count, std::function<void(std::size_t)> work);
  /// Returns when they have all returned.
  void end();

 private:
  std::optional<BorrowedPool> own_;
  std::function<void(std::size_t)> work_;
  ThreadPool* busy_ = nullptr;
};

/// Ends the threads of pools that are not borrowed now, and with them the memory that these threads keep.
void end_idle_pools();

}  // namespace hiaton
