// What the instructions that make data values and take them apart do.
#pragma once

#include <cstring>

#include "exec/direct/plan.h"
#include "exec/direct/run/frame.h"
#include "tensor/data_heap.h"

namespace hiaton::exec::direct {

inline void set_header(DataObject* object, uint64_t header) {
  std::memcpy(static_cast<void*>(object), &header, sizeof header);
}

template <std::size_t kFields>
[[gnu::always_inline]] inline void fill(DataObject* made, const Frame* frame, const Instruction& make) {
  set_header(made, make.number);
  for (std::size_t i = 0; i < kFields; ++i) made->slots()[i] = frame->slots[make.takes[i]];
}

inline Slot slot_of(DataObject* object) {
  Slot slot;
  slot.data = object;
  return slot;
}

/// Sets the one field of a new value that is a constant.
inline void fill_constant(DataObject* made, const Instruction& make) {
  made->slots()[make.a].bits = static_cast<uint64_t>(int64_t{make.jump});
}

/// Reads fields of a value without taking references of them.
template <std::size_t kFields>
[[gnu::always_inline]] inline void peek(Frame* frame, const Instruction& peek, const DataObject* object) {
  for (std::size_t i = 0; i < kFields; ++i) {
    const PeekedField one = peeked(peek, i);
    frame->slots[one.slot] = object->slots()[one.field];
  }
}

/// Takes apart a value that others refer to as well: what is taken gets references of its own.
inline void take_shared(DataCells& cells, Frame* frame, const TakeList& list, DataObject* object) {
  for (std::size_t i = 0; i < list.fields.size(); ++i) {
    const auto [slot, kind] = list.fields[i];
    if (slot == kNoSlot) continue;
    const Slot field = object->slots()[i];
    if (kind == FieldKind::Data) DataCells::retain(field.data);
    if (kind == FieldKind::Tensor) TensorCells::retain(field.tensor);
    frame->slots[slot] = field;
  }
  cells.release(object);
}

inline void take_apart(DataCells& cells, Frame* frame, const TakeList& list, DataObject* object) {
  if (!DataCells::is_unique(object)) return take_shared(cells, frame, list, object);
  for (std::size_t i = 0; i < list.fields.size(); ++i) {
    const auto [slot, kind] = list.fields[i];
    const Slot field = object->slots()[i];
    if (slot != kNoSlot) {
      frame->slots[slot] = field;
    } else if (kind == FieldKind::Data) {
      cells.release(field.data);
    } else if (kind == FieldKind::Tensor) {
      cells.release_tensor(field.tensor);
    }
  }
  cells.free_cell(object, list.fields.size());
}

/// The fields of an only reference move; the cell is the next one of its size that is made.
template <std::size_t kFields>
[[gnu::always_inline]] inline void take_apart(DataCells& cells, Frame* frame, const Instruction& take,
                                              DataObject* object) {
  if (!DataCells::is_unique(object)) [[unlikely]]
    return take_shared(cells, frame, *take.taken, object);
  Slot fields[kFields];
  for (std::size_t i = 0; i < kFields; ++i) fields[i] = object->slots()[i];
  cells.free_cell(object, kFields);
  for (std::size_t i = 0; i < kFields; ++i) {
    if (take.takes[i] != kNoSlot) {
      frame->slots[take.takes[i]] = fields[i];
    } else if (take.taken->fields[i].kind == FieldKind::Data) {
      cells.release(fields[i].data);
    } else if (take.taken->fields[i].kind == FieldKind::Tensor) {
      cells.release_tensor(fields[i].tensor);
    }
  }
}

}  // namespace hiaton::exec::direct
