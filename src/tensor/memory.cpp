#include "tensor/memory.h"

#include <algorithm>
#include <utility>

namespace hiaton {

constinit thread_local MemoryMeter::Counts MemoryMeter::counts_{0, kNoLimit};

MemoryMeter::MemoryMeter(uint64_t bytes)
    : outer_(std::exchange(counts_, {static_cast<int64_t>(bytes), kNoLimit})) {}

MemoryMeter::~MemoryMeter() {
  counts_ = outer_;
}

/// What was made before may have gone.
uint64_t MemoryMeter::bytes() const {
  return static_cast<uint64_t>(std::max<int64_t>(counts_.bytes, 0));
}

void MemoryMeter::set_limit(uint64_t bytes) {
  counts_.limit = static_cast<int64_t>(std::min<uint64_t>(bytes, kNoLimit));
}

void take_memory(std::size_t bytes) {
  MemoryMeter::Counts& counts = MemoryMeter::counts_;
  if (bytes > static_cast<std::size_t>(counts.limit) ||
      counts.bytes > counts.limit - static_cast<int64_t>(bytes)) {
    throw OverBudget();
  }
  counts.bytes += static_cast<int64_t>(bytes);
}

void give_memory(std::size_t bytes) noexcept {
  MemoryMeter::counts_.bytes -= static_cast<int64_t>(bytes);
}

}  // namespace hiaton
