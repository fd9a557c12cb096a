#include "exec/budget.h"

#include <fstream>
#include <string>

namespace hiaton::exec {
namespace {

/// Most of the memory that the machine has left.
uint64_t available_bytes() {
  constexpr uint64_t kUnknown = uint64_t{4} << 30;
  std::ifstream info("/proc/meminfo");
  std::string name;
  uint64_t kibibytes = 0;
  std::string unit;
  while (info >> name >> kibibytes >> unit) {
    if (name == "MemAvailable:") return kibibytes * 1024 / 8 * 7;
  }
  return kUnknown;
}

}  // namespace

uint64_t byte_limit(const RunOptions& options) {
  return has_byte_budget(options) ? options.max_bytes : available_bytes();
}

}  // namespace hiaton::exec
