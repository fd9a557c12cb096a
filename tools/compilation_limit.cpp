#include "compilation_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "output.h"
#include "units.h"

namespace hiaton::cli {
namespace {

/// Longer than any compilation, and without an overflow where it is added to a time.
constexpr std::chrono::nanoseconds kLongest = std::chrono::hours(24 * 365);
constexpr std::chrono::milliseconds kNotCounted(100);

}  // namespace

CompilationLimit::CompilationLimit(std::string file, std::chrono::nanoseconds timeout) : timeout_(timeout) {
  if (timeout_ > kLongest) return;
  watcher_ = std::thread([this, file = std::move(file)] { watch(file); });
}

CompilationLimit::~CompilationLimit() {
  if (!watcher_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  ended_.notify_one();
  watcher_.join();
}

std::chrono::nanoseconds CompilationLimit::left() const {
  if (timeout_ > kLongest) return timeout_;
  const std::chrono::nanoseconds passed = std::chrono::steady_clock::now() - begin_;
  if (passed < kNotCounted) return timeout_;
  return std::max(timeout_ - passed, std::chrono::nanoseconds(1));
}

void CompilationLimit::watch(const std::string& file) {
  std::unique_lock lock(mutex_);
  if (ended_.wait_until(lock, begin_ + timeout_, [this] { return has_ended_; })) return;
  complain(fmt::format("{}: time budget: the compilation takes longer than {}; --timeout raises the budget",
                       file, show_seconds(std::chrono::duration<double>(timeout_).count())));
  std::_Exit(kError);
}

}  // namespace hiaton::cli
