#include "tensor/memory.h"

#include <algorithm>
#include <utility>

namespace hiaton {

constinit thread_local MemoryMeter::Counts MemoryMeter::counts{0, kNoLimit};

MemoryMeter::MemoryMeter(uint64_t bytes)
    : outer_(std::exchange(counts, {static_cast<int64_t>(bytes), kNoLimit})) {}

MemoryMeter::~MemoryMeter() {
  counts = outer_;
}

void MemoryMeter::set_limit(uint64_t bytes) {
  counts.limit = static_cast<int64_t>(std::min<uint64_t>(bytes, kNoLimit));
}

void take_memory(std::size_t bytes) {
  MemoryMeter::Counts& now = MemoryMeter::counts;
  if (bytes > static_cast<std::size_t>(now.limit) || now.bytes > now.limit - static_cast<int64_t>(bytes)) {
    throw OverBudget();
  }
  now.bytes += static_cast<int64_t>(bytes);
}

}  // namespace hiaton
