// What the reference executor remembers when values are made on demand: a frame for each tag, with a cell for
// each value that was asked for under it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "exec/graph_names.h"
#include "exec/tag.h"
#include "hiaton/value.h"

namespace hiaton::exec {

class DemandFrames;
struct DemandFrame;

/// A reference to a frame, which lives as long as there is one, or until the run ends.
class FrameHandle {
 public:
  FrameHandle() = default;
  explicit FrameHandle(DemandFrame* frame);
  FrameHandle(const FrameHandle& other) : FrameHandle(other.frame_) {}
  FrameHandle(FrameHandle&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  FrameHandle& operator=(FrameHandle other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~FrameHandle();

  DemandFrame* get() const { return frame_; }
  DemandFrame* operator->() const { return frame_; }

 private:
  DemandFrame* frame_ = nullptr;
};

/// A data value whose fields are not computed before they are asked for: they are outputs under a tag.
struct SuspendedData {
  uint32_t variant;
  FrameHandle frame;
  NodeId made_by;  ///< its inputs are the fields
};

/// What an output gave under a tag: a value, or a data value with suspended fields.
struct DemandedValue {
  Value value;
  std::shared_ptr<const SuspendedData> suspended;  ///< null: `value` is the value
};

/// What was asked for of an output under a tag.
struct DemandCell {
  OutPort from;
  bool whole;  ///< all that the fields of data values hold was asked for too
  DemandFrame* frame = nullptr;
  NodeId asked_by{};  ///< the first node that asked for it
  bool done = false;
  DemandedValue result;
  std::size_t missing = 0;             ///< values that it waits for
  std::vector<DemandCell*> waiting{};  ///< who waits for it
};

struct DemandFrame {
  DemandFrames* all = nullptr;
  FrameHandle outer;   ///< the frame of the tag without its first label
  FrameHandle before;  ///< the iteration before this one; none where this is no iteration
  TagLabel label;
  uint64_t references = 0;
  std::unordered_map<uint64_t, DemandCell> cells;
  /// A call under way, until all of its results have come: nobody can ask it for more then.
  struct Call {
    FrameHandle inside;
    std::size_t results_to_come;
  };
  std::unordered_map<uint32_t, Call> calls;  ///< by call site
  /// A loop under way, likewise.
  struct Loop {
    FrameHandle last;        ///< iteration that has begun
    bool has_ended = false;  ///< its predicate is false
    std::size_t results_to_come;
  };
  std::unordered_map<uint32_t, Loop> loops;

  static uint64_t key(OutPort from, bool whole) {
    return (uint64_t{from.node.value} << 2) | (uint64_t{from.port} << 1) | uint64_t{whole};
  }
};

/// All frames of a run.
class DemandFrames {
 public:
  DemandFrames() = default;
  DemandFrames(const DemandFrames&) = delete;
  ~DemandFrames() { clear(); }

  FrameHandle make(FrameHandle outer, const TagLabel& label);
  void drop(DemandFrame* frame);
  /// Lets go of all, whoever refers to them.
  void clear();

  std::size_t alive() const { return frames_.size(); }
  uint64_t ever_made() const { return ever_made_; }
  uint64_t bytes() const { return frames_.size() * kBytesOfFrame + cells_ * kBytesOfCell; }
  void count_cell() { ++cells_; }

 private:
  static constexpr uint64_t kBytesOfFrame = sizeof(DemandFrame) + 64;
  static constexpr uint64_t kBytesOfCell = sizeof(DemandCell) + 64;

  std::unordered_map<DemandFrame*, std::unique_ptr<DemandFrame>> frames_;
  std::vector<std::unique_ptr<DemandFrame>> dropped_;  ///< freed one after the other, without recursion
  bool is_freeing_ = false;
  bool is_clearing_ = false;
  uint64_t ever_made_ = 0;
  uint64_t cells_ = 0;
};

inline FrameHandle::FrameHandle(DemandFrame* frame) : frame_(frame) {
  if (frame_ != nullptr) ++frame_->references;
}

inline FrameHandle::~FrameHandle() {
  if (frame_ != nullptr) frame_->all->drop(frame_);
}

}  // namespace hiaton::exec
