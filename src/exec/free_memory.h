// How much memory is left on the machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace hiaton::exec {

/// Bytes that this process may still take, within the limits of its control groups. Kernel memory that holds
/// copies of files counts as left.
uint64_t free_memory();

/// The same within the limits of control groups alone; the largest number where there is none. `groups` is
/// the text of /proc/PID/cgroup, and `mount` the folder where control groups are mounted, version 2 itself
/// and the controllers of version 1 below it. A limit of a group holds for all groups inside of it.
uint64_t free_in_groups(const std::string& groups, const std::filesystem::path& mount);

}  // namespace hiaton::exec
