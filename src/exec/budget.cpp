#include "exec/budget.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace hiaton::exec {
namespace {

constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

/// Without the pages that would have to be swapped out.
uint64_t free_in_machine() {
  constexpr uint64_t kUnknown = uint64_t{5} << 30;
  std::ifstream info("/proc/meminfo");
  std::string name;
  uint64_t kibibytes = 0;
  std::string unit;
  while (info >> name >> kibibytes >> unit) {
    if (name == "MemAvailable:") return kibibytes * 1024;
  }
  return kUnknown;
}

/// Within the limit of a container, as version 2 of control groups shows it.
uint64_t free_in_container() {
  const auto number_in = [](const char* file) {
    std::ifstream stream(file);
    uint64_t bytes = 0;
    return stream >> bytes ? std::optional(bytes) : std::nullopt;  // "max" is no number
  };
  const std::optional<uint64_t> limit = number_in("/sys/fs/cgroup/memory.max");
  const std::optional<uint64_t> used = number_in("/sys/fs/cgroup/memory.current");
  if (!limit || !used) return kUnlimited;
  return *limit - std::min(*limit, *used);
}

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
    bytes.store(std::min(free_in_machine(), free_in_container()) / 8 * 7, std::memory_order_relaxed);
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

}  // namespace hiaton::exec
