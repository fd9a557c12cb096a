// How much memory is left on the machine.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

#include "exec/budget.h"

namespace hiaton::exec {
namespace {

namespace fs = std::filesystem;

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

/// What the files of a control group are called.
struct MemoryFiles {
  const char* limit;
  const char* used;
  const char* cached;  ///< the line of memory.stat that counts what can be given back at once
};

constexpr MemoryFiles kVersion1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr MemoryFiles kVersion2{"memory.max", "memory.current", "inactive_file"};

std::optional<uint64_t> number_in(const fs::path& file) {
  std::ifstream stream(file);
  uint64_t bytes = 0;
  return stream >> bytes ? std::optional(bytes) : std::nullopt;  // "max" is no number
}

uint64_t count_in(const fs::path& file, std::string_view wanted) {
  std::ifstream stream(file);
  std::string name;
  uint64_t count = 0;
  while (stream >> name >> count) {
    if (name == wanted) return count;
  }
  return 0;
}

uint64_t free_in_group(const fs::path& group, const MemoryFiles& files) {
  const std::optional<uint64_t> limit = number_in(group / files.limit);
  const std::optional<uint64_t> used = number_in(group / files.used);
  if (!limit || !used) return kUnlimited;
  const uint64_t kept = *used - std::min(*used, count_in(group / "memory.stat", files.cached));
  return *limit - std::min(*limit, kept);
}

/// In the group and all groups around it. A container may see its own group as the outermost one: then the
/// inner names are not there.
uint64_t free_in_hierarchy(const fs::path& mount, std::string_view group, const MemoryFiles& files) {
  uint64_t left = free_in_group(mount, files);
  fs::path at = mount;
  for (const fs::path& name : fs::path(group).relative_path())
    left = std::min(left, free_in_group(at /= name, files));
  return left;
}

bool names_memory(std::string_view controllers) {
  while (!controllers.empty()) {
    const std::string_view name = controllers.substr(0, controllers.find(','));
    if (name == "memory") return true;
    controllers.remove_prefix(std::min(name.size() + 1, controllers.size()));
  }
  return false;
}

}  // namespace

uint64_t free_in_groups(const std::string& groups, const std::string& mount) {
  uint64_t left = kUnlimited;
  std::istringstream lines(groups);
  for (std::string line;
       std::getline(lines, line);) {  // "4:memory:/a/b" of version 1, "0::/a/b" of version 2
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) left = std::min(left, free_in_hierarchy(mount, group, kVersion2));
    if (names_memory(controllers))
      left = std::min(left, free_in_hierarchy(fs::path(mount) / "memory", group, kVersion1));
  }
  return left;
}

uint64_t free_memory() {
  std::ifstream file("/proc/self/cgroup");
  std::stringstream groups;
  groups << file.rdbuf();
  return std::min(free_in_machine(), free_in_groups(groups.str(), "/sys/fs/cgroup"));
}

}  // namespace hiaton::exec
