// Clocks, medians and memory for the benchmarks.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <vector>

namespace hiaton::benchmarks {

double seconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The upper one of the two in the middle where their number is even.
inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Memory of this process that is in use now, in bytes; of Linux alone.
inline int64_t resident_bytes() {
  std::ifstream statistics("/proc/self/statm");
  int64_t total = 0;
  int64_t resident = 0;
  statistics >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace hiaton::benchmarks
