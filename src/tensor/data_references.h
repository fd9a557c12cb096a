// What data values refer to, and those that nobody refers to any more.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

#include "hiaton/value.h"

namespace hiaton {

/// Calls `visit` with each field that holds a tensor or a data value. `layout` is that of the object.
template <class Visit>
void for_each_reference(DataObject* object, FieldLayout layout, Visit visit) {
  if (layout.is_inline()) {
    Slot* slot = object->slots();
    for (unsigned code = layout.code(); code != 0; code >>= FieldLayout::kBitsOfKind, ++slot) {
      const auto kind = static_cast<FieldKind>(code & 7);
      if (is_reference(kind)) visit(kind, *slot);
    }
    return;
  }
  const std::size_t count = layout.count();
  for (std::size_t i = 0; i < count; ++i) {
    const FieldKind kind = layout.kind(i);
    if (is_reference(kind)) visit(kind, object->slots()[i]);
  }
}

/// Relaxed: only whether it is, which does not change, is asked; others may count at the same time.
inline bool is_outside(DataObject* object) {
  return object->counter().load(std::memory_order_relaxed) < DataObject::kLeastShared;
}

/// Whether several refer to the value; who asks holds a reference. Of a value that others hold too, it may
/// have changed meanwhile.
inline bool is_shared(DataObject* object) {
  const int32_t count = object->counter().load(std::memory_order_relaxed);
  if (count > 0) return count > 1;
  return count != -1 && count != DataObject::kOutside + 1;
}

/// How many bytes the elements of a tensor are: of one instance where it is a batch.
std::size_t content_bytes(const TensorObject* tensor);
/// How many bytes the fields of a data value and of all that it refers to are, with the elements of tensors.
/// What several refer to counts once.
std::size_t content_bytes(DataObject* object);

/// Values that are to be freed, linked through their headers, so that it takes no memory. A header keeps its
/// layout and the bit of the heap; the rest of it is the next value, whose address has 48 bits, the lowest
/// three of them zero.
class DeadValues {
 public:
  struct Value {
    DataObject* object;
    FieldLayout layout;
    bool is_in_heap;
  };

  bool empty() const { return first_ == nullptr; }
  void push(DataObject* object) {
    const uint64_t heap_bit = object->is_in_heap() ? 1 : 0;
    const uint64_t header = object->layout | (reinterpret_cast<uint64_t>(first_) | heap_bit) << kLayoutBits;
    std::memcpy(static_cast<void*>(object), &header, sizeof header);
    first_ = object;
  }
  Value pop() {
    DataObject* object = first_;
    uint64_t header = 0;
    std::memcpy(&header, static_cast<const void*>(object), sizeof header);
    const uint64_t link = header >> kLayoutBits;
    first_ = reinterpret_cast<DataObject*>(link & ~uint64_t{1});
    return {object, FieldLayout::from_code(static_cast<uint16_t>(header)), (link & 1) != 0};
  }

 private:
  static constexpr int kLayoutBits = 16;
  DataObject* first_ = nullptr;
};

/// Cells of values outside of runs that stand in heaps and that nobody refers to any more. They go back to
/// these several at a time, since a heap is locked meanwhile.
class DeadCells {
 public:
  DeadCells() = default;
  DeadCells(const DeadCells&) = delete;
  ~DeadCells() { give_back(); }
  void push(DataObject* object) {
    if (count_ == kMost) give_back();
    cells_[count_++] = object;
  }

 private:
  static constexpr std::size_t kMost = 64;
  void give_back();
  std::array<DataObject*, kMost> cells_;
  std::size_t count_ = 0;
};

}  // namespace hiaton
