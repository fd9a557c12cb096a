// Frames of flow.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "exec/flow/flow_plan.h"
#include "hiaton/value.h"

namespace hiaton::exec::flow {

/// What a slot holds: a scalar, a data value, or elements that `owner` keeps alive: all of a tensor, or one
/// instance of a block.
struct Cell {
  Slot slot;  ///< the value, or where the elements of a tensor stand: see elements()
  TensorObject* owner = nullptr;

  std::byte* elements() const { return reinterpret_cast<std::byte*>(slot.tensor); }
  void set_elements(std::byte* at) { slot.tensor = reinterpret_cast<TensorObject*>(at); }
  /// The dimensions of the tensor.
  std::span<const int64_t> dims() const {
    const std::size_t skipped = owner->is_batch ? 1 : 0;
    return {owner->dims.data() + skipped, owner->rank - skipped};
  }
};

inline void retain(SlotKind kind, const Cell& cell) {
  if (kind == SlotKind::Tensor && cell.owner != nullptr) {
    Tensor::retain(cell.owner);
  } else if (kind == SlotKind::Data) {
    Data::retain(cell.slot.data);
  }
}

/// A cell for what a value or a field of one holds; without a reference of its own.
inline Cell borrow(SlotKind kind, Slot slot) {
  Cell cell;
  cell.slot = slot;
  if (kind == SlotKind::Tensor) {
    cell.owner = slot.tensor;
    cell.set_elements(cell.owner->elements);
  }
  return cell;
}

inline SlotKind slot_kind(const ValueView& value) {
  return value.is_tensor() ? SlotKind::Tensor : value.is_data() ? SlotKind::Data : SlotKind::Scalar;
}

inline Cell borrow(const ValueView& value) {
  return borrow(slot_kind(value), value.slot);
}

/// Returns a cell that holds a reference of its own to the value.
inline Cell cell_of(const ValueView& value) {
  const Cell cell = borrow(value);
  retain(slot_kind(value), cell);
  return cell;
}

inline void release(SlotKind kind, Cell& cell) {
  if (kind == SlotKind::Tensor) Tensor::release(cell.owner);
  if (kind == SlotKind::Data) Data::release(cell.slot.data);
  cell = Cell();
}

/// What a cell holds as a tensor, with a reference: one of its own, or all of the one that it refers to.
TensorObject* take_tensor(const Cell& cell);
/// What a cell holds as a value.
Value to_value(const Cell& cell, const Type& type);

/// The record of one tag. Behind it stand, for each item that waits for several others, how many of them are
/// to come; then the frames of its call sites, and what its slots hold.
struct Frame {
  Frame* parent;  ///< who takes its results
  uint32_t function;
  uint32_t site;        ///< the site in the parent whose results it gives
  uint32_t label;       ///< the call site that it is a call of: that of the site, or a tail call
  uint32_t unfinished;  ///< items that can still fire
  uint32_t children;    ///< alive
  uint32_t root : 31;   ///< the run to which the frame belongs
  uint32_t is_alive : 1;
};

inline uint16_t* counters_of(Frame* frame) {
  return reinterpret_cast<uint16_t*>(frame + 1);
}

/// One of what the item waits for has come: whether it was the last.
inline bool count_down(Frame* frame, const Item& item) {
  return item.counter == kNoCounter || --counters_of(frame)[item.counter] == 0;
}

/// Frames of a batch stand anywhere: that many ahead of the one in hand are fetched to the cache.
constexpr std::size_t kFramesAhead = 4;

/// The offsets of the parts of a frame.
class FrameLayout {
 public:
  explicit FrameLayout(const Function& function);

  Cell load(const Frame* frame, uint32_t slot) const {
    const SlotAddress where = addresses_[slot];
    const std::byte* at = reinterpret_cast<const std::byte*>(frame) + where.offset;
    Cell cell;
    std::memcpy(&cell.slot, at, sizeof(Slot));
    if (where.kind == SlotKind::Tensor) std::memcpy(&cell.owner, at + sizeof(Slot), sizeof(TensorObject*));
    return cell;
  }
  /// Returns what the slot holds, with a reference of its own.
  Cell share(const Frame* frame, uint32_t slot) const {
    const Cell cell = load(frame, slot);
    retain(addresses_[slot].kind, cell);
    return cell;
  }
  /// The slot holds nothing then.
  Cell take(Frame* frame, uint32_t slot) const {
    const Cell cell = load(frame, slot);
    store(frame, slot, Cell());
    return cell;
  }
  void store(Frame* frame, uint32_t slot, const Cell& cell) const {
    const SlotAddress where = addresses_[slot];
    std::byte* at = reinterpret_cast<std::byte*>(frame) + where.offset;
    std::memcpy(at, &cell.slot, sizeof(Slot));
    if (where.kind == SlotKind::Tensor) std::memcpy(at + sizeof(Slot), &cell.owner, sizeof(TensorObject*));
  }
  /// Returns the scalar or the data value that the slot holds.
  Slot load_slot(const Frame* frame, uint32_t slot) const {
    Slot loaded;
    std::memcpy(&loaded, address(frame, slot), sizeof loaded);
    return loaded;
  }
  /// Where the frames of a function hold one of their tensors: loops over frames look it up once.
  class TensorPlace {
   public:
    Cell load(const Frame* frame) const {
      Cell cell;
      std::memcpy(&cell, reinterpret_cast<const std::byte*>(frame) + offset_, sizeof(Cell));
      return cell;
    }
    void store(Frame* frame, const Cell& cell) const {
      std::memcpy(reinterpret_cast<std::byte*>(frame) + offset_, &cell, sizeof(Cell));
    }
    void prefetch(const Frame* frame) const {
      __builtin_prefetch(reinterpret_cast<const std::byte*>(frame) + offset_);
    }

   private:
    friend class FrameLayout;
    explicit TensorPlace(uint32_t offset) : offset_(offset) {}
    std::size_t offset_;
  };
  TensorPlace tensor_place(uint32_t slot) const { return TensorPlace(addresses_[slot].offset); }

  /// Where the scalar of a slot, or the place of a tensor's elements, stands.
  const std::byte* address(const Frame* frame, uint32_t slot) const {
    return reinterpret_cast<const std::byte*>(frame) + addresses_[slot].offset;
  }
  Frame*& child(Frame* frame, uint32_t site) const {
    return reinterpret_cast<Frame**>(reinterpret_cast<std::byte*>(frame) + children_)[site];
  }
  std::size_t bytes() const { return bytes_; }
  /// Slots that hold nothing, items that all wait.
  void clear(Frame* frame) const;
  /// Lets go of what the slots hold.
  void release(const Frame* frame) const;

 private:
  struct SlotAddress {
    uint32_t offset;
    SlotKind kind;
  };

  std::vector<SlotAddress> addresses_;  ///< by slot
  std::vector<uint16_t> initial_waits_;
  // What stands behind the counters: frames of call sites, data values, tensors, scalars.
  std::size_t children_ = 0;
  std::size_t data_ = 0;
  std::size_t tensors_ = 0;
  std::size_t scalars_ = 0;
  std::size_t bytes_ = 0;
};

/// Frames of one function, in chunks; those that are free are used again. A run takes them in the order of
/// their addresses: frames that call each other stand near each other.
class FramePool {
 public:
  explicit FramePool(const Function& function) : function_(function), layout_(function) {}
  FramePool(const FramePool&) = delete;
  FramePool(FramePool&&) = default;
  ~FramePool() { clear(); }

  const FrameLayout& layout() const { return layout_; }
  /// A frame whose slots hold nothing and whose items all wait.
  Frame* make();
  /// Lets go of what its slots hold.
  void free(Frame* frame);
  /// Lets go of all frames; their memory stays.
  void clear();
  uint64_t live() const { return live_; }
  uint64_t made() const { return made_; }
  /// The bytes of its frames, also of those that are free.
  uint64_t bytes() const { return chunks_.size() * chunk_bytes(); }

 private:
  static constexpr std::size_t kFramesPerChunk = 256;

  std::size_t chunk_bytes() const { return kFramesPerChunk * layout_.bytes(); }
  Frame* at(std::size_t index) const {
    return reinterpret_cast<Frame*>(chunks_[index / kFramesPerChunk].get() +
                                    index % kFramesPerChunk * layout_.bytes());
  }

  const Function& function_;
  FrameLayout layout_;
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  Frame* free_ = nullptr;  ///< the first of those that are; `parent` is the next one
  std::size_t used_ = 0;   ///< frames since the last clear; all behind them are free
  uint64_t live_ = 0;
  uint64_t made_ = 0;
};

}  // namespace hiaton::exec::flow
