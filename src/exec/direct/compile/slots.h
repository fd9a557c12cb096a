// Hands out the slots of a frame, lowest first, so that frames stay small.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace hiaton::exec::direct {

class SlotAllocator {
 public:
  uint32_t take() {
    if (free_.empty()) return next_++;
    const uint32_t slot = free_.top();
    free_.pop();
    return slot;
  }
  /// A slot that has held nothing yet.
  uint32_t take_new() { return next_++; }
  /// Several slots in a row.
  uint32_t take_run(uint32_t count) {
    if (count == 1) return take();
    const uint32_t first = next_;
    next_ += count;
    return first;
  }
  void give_back(uint32_t slot) { free_.push(slot); }
  /// How many slots the frame needs in all.
  uint32_t count() const { return next_; }

 private:
  uint32_t next_ = 0;
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> free_;
};

}  // namespace hiaton::exec::direct
