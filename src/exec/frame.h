// Frames: the run-time record of a tag. A frame's parent and return site are the tag's next label; its slots
// hold the values of the function's nodes under that tag.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "exec/instruction.h"
#include "hiaton/error.h"

namespace hiaton::exec {

struct Frame {
  Frame* parent;              ///< in a free list: the next free frame
  const Instruction* resume;  ///< where the parent goes on; the instruction before it names the result slots
  Slot slots[1];              ///< as many as the function needs
};

/// What all workers of a run may hold together. Only touched when a pool needs memory, never for a frame that
/// is used again.
struct FrameBudget {
  uint64_t max_frames = std::numeric_limits<uint64_t>::max();
  uint64_t max_bytes = std::numeric_limits<uint64_t>::max();
  std::atomic<uint64_t> frames{0};
  std::atomic<uint64_t> bytes{0};
};

/// The frames of one worker: free lists by size class, filled from chunks of memory. Frames may be given to
/// another pool than the one they were taken from; memory goes back to the system only when the pools are
/// destroyed.
class FramePool {
 public:
  FramePool(FrameBudget& budget, uint16_t size_classes) : budget_(budget), free_(size_classes, nullptr) {}
  ~FramePool();
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;

  /// A frame with undefined contents; null where a budget or memory is exhausted, see failure().
  Frame* take(uint16_t size_class) {
    Frame* frame = free_[size_class];
    if (frame == nullptr) [[unlikely]]
      return carve(size_class);
    free_[size_class] = frame->parent;
    return frame;
  }
  void give(Frame* frame, uint16_t size_class) {
    frame->parent = free_[size_class];
    free_[size_class] = frame;
  }

  /// The heads of the free lists, by size class, for the interpreter's own take and give.
  Frame** free_lists() { return free_.data(); }
  Fault failure() const { return failure_; }
  /// Frames made from memory so far: what was alive at once in this pool at most.
  uint64_t carved() const { return carved_; }
  /// Counts the free lists: slow, for the end of a run.
  uint64_t count_free() const;

 private:
  struct Chunk {
    void* memory;
    std::size_t bytes;
  };

  Frame* carve(uint16_t size_class);
  bool add_chunk(std::size_t at_least);

  FrameBudget& budget_;
  std::vector<Frame*> free_;
  std::byte* next_ = nullptr;
  std::byte* end_ = nullptr;
  uint64_t carved_ = 0;
  Fault failure_ = Fault::None;
  std::vector<Chunk> chunks_;
};

}  // namespace hiaton::exec
