// Ends this process where the compilation of a program takes longer than a run may.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace hiaton::cli {

/// Holds for as long as it lives: the compilation cannot be asked to stop, and has nothing to put in order.
class CompilationLimit {
 public:
  /// `file` is what the message names.
  CompilationLimit(std::string file, std::chrono::nanoseconds timeout);
  ~CompilationLimit();
  CompilationLimit(const CompilationLimit&) = delete;
  CompilationLimit& operator=(const CompilationLimit&) = delete;

  /// What is left of the time, and at least a nanosecond; all of it where less than a tenth of a second has
  /// passed, so that messages name the time that was given.
  std::chrono::nanoseconds left() const;

 private:
  void watch(const std::string& file);

  std::chrono::nanoseconds timeout_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable ended_;
  bool has_ended_ = false;
  std::thread watcher_;
};

}  // namespace hiaton::cli
