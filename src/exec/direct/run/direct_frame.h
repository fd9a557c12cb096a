// Frames: the run-time record of a tag. A frame's parent and return site are the tag's next label; its slots
// hold the values of the function's nodes under that tag.
//
// Frames hang together in chains: a frame keeps the frame of the call it made last, and its next call uses
// that frame again. So a call takes one load and a return nothing to find and to leave a frame, and a chain
// holds as many frames as its calls were ever deep. A chain belongs to the worker that runs its innermost
// frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "exec/budget.h"
#include "exec/direct/instruction.h"
#include "hiaton/error.h"
#include "hiaton/trace.h"

namespace hiaton::exec::direct {

struct Frame {
  Frame* parent;  ///< the caller; fixed, but for the first frame of a chain
  union {
    const Instruction* resume;  ///< where the parent goes on; the instruction before it names the result
                                ///< slots; null: the frame was live when a run ended by an error
    DataObject* copies;         ///< an anchor's: what its chain borrows and nobody else holds; may be null
  };
  Frame* child;       ///< the frame for the next call; kNoFrame where there is none yet
  uint32_t capacity;  ///< how many slots it has
  Slot slots[1];      ///< as many as `capacity` says
};

/// Stands for "none" in Frame::child: too small for any call. Never written.
extern Frame no_frame;

/// Makes the frames of one worker, and keeps its idle chains. Memory goes back to the system only when the
/// pools of the run are destroyed, since chains move between workers.
class FramePool {
 public:
  explicit FramePool(Budget& budget) : budget_(budget) {}
  ~FramePool();
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;

  /// A frame of at least `slots` slots as the child of `parent`, whose present child is too small: it is put
  /// between the two. Null where a budget or memory is exhausted, see failure().
  Frame* insert(Frame* parent, uint32_t slots);

  /// A frame without slots before the first of a chain; null where memory is exhausted.
  Frame* take_anchor();
  void give_anchor(Frame* anchor) {
    anchor->parent = idle_;
    idle_ = anchor;
  }

  Fault failure() const { return failure_; }
  /// Why there is no more memory.
  Fault memory_fault() const { return budget_.has_refused_bytes() ? Fault::MaxBytes : Fault::OutOfMemory; }
  /// Frames made so far, without anchors: what was alive at once in this pool's chains at most.
  uint64_t carved() const { return carved_; }
  /// Memory that the frames stand in.
  uint64_t bytes() const { return bytes_; }
  /// Where is drawn how the pool grows; null: nowhere.
  Trace::Track* track = nullptr;
  /// Frames in idle chains: slow, for the end of a run.
  uint64_t count_idle() const;
  /// Calls `visit` with each frame of the idle chains that was live when the run ended by an error, and with
  /// what these chains still borrow.
  void visit_unwound(const std::function<void(std::span<const Slot>)>& visit) const;

 private:
  /// The begin of a chunk of memory.
  struct Chunk {
    Chunk* before;
    std::size_t bytes;
  };

  Frame* carve(uint32_t slots);
  bool add_chunk(std::size_t at_least);

  Budget& budget_;
  std::byte* next_ = nullptr;
  std::byte* end_ = nullptr;
  uint64_t carved_ = 0;
  uint64_t bytes_ = 0;
  Fault failure_ = Fault::None;
  Chunk* newest_ = nullptr;
  Frame* idle_ = nullptr;  ///< the first anchor; `parent` is the next one
};

}  // namespace hiaton::exec::direct
