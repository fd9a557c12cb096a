// Threads that stay between runs.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#pragma GCC visibility push(default)
namespace hiaton {

/// Threads that wait for work. Runs that are given none (RunOptions::pool) take threads that the process
/// keeps. May be used by several threads.
class ThreadPool {
 public:
  /// Starts a pool of `threads` threads, counting the one that calls `run`: 1 starts none. Throws
  /// std::system_error where a thread cannot be started.
  explicit ThreadPool(int threads);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  int threads() const;

  /// Calls work(0), work(1), ... work(count - 1), each once, in any order and by any thread of the pool, and
  /// returns when all have returned. They must not throw. While the pool is busy for another caller, or for a
  /// call of `work`, this caller makes all calls itself.
  void run(std::size_t count, const std::function<void(std::size_t)>& work);

  /// Lets the other threads of the pool make such calls, while this one goes on. False: there are no others,
  /// or the pool is busy, and nothing has begun. Otherwise end_help() must follow, and `work` live until
  /// then.
  bool begin_help(std::size_t count, const std::function<void(std::size_t)>& work);
  /// Makes the calls that nobody has begun, and returns when all have returned.
  void end_help();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// Calls work(begin, end) for ranges that make up [0, size): of `range` each, on the threads of the pool; all
/// at once where there is none or no more than one of them.
void run_in_ranges(ThreadPool* pool, std::size_t size, std::size_t range,
                   const std::function<void(std::size_t begin, std::size_t end)>& work);

}  // namespace hiaton
#pragma GCC visibility pop
