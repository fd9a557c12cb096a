// What the instructions that make data values and take them apart do.
#pragma once

#include <cstring>
#include <utility>

#include "exec/direct/direct_plan.h"
#include "exec/direct/run/direct_frame.h"
#include "tensor/data_heap.h"

namespace hiaton::exec::direct {

inline void set_header(DataObject* object, uint64_t header) {
  std::memcpy(static_cast<void*>(object), &header, sizeof header);
}

// Steps that are written out by a pack: the compiler leaves a loop of four as it stands.

template <std::size_t... i>
[[gnu::always_inline]] inline void set_fields(DataObject* made, const Slot* from, const uint16_t* slots,
                                              std::index_sequence<i...>) {
  ((made->slots()[i] = from[slots[i]]), ...);
}

template <std::size_t... i>
[[gnu::always_inline]] inline void move_fields(const DataObject* object, Slot* to, const uint16_t* slots,
                                               std::index_sequence<i...>) {
  ((to[slots[i]] = object->slots()[i]), ...);
}

template <std::size_t... i>
[[gnu::always_inline]] inline void read_fields(const DataObject* object, Slot* to, const Instruction& peek,
                                               std::index_sequence<i...>) {
  ((to[peeked(peek, i + 1).slot] = object->slots()[peeked(peek, i + 1).field]), ...);
}

template <std::size_t kFields>
[[gnu::always_inline]] inline void fill(DataObject* made, const Frame* frame, const Instruction& make) {
  set_header(made, make.number);
  set_fields(made, frame->slots, make.takes, std::make_index_sequence<kFields>());
}

/// The cell for what a Make instruction makes.
template <std::size_t kFields>
[[gnu::always_inline]] inline DataObject* make_cell(DataCells& cells, const Instruction& make) {
  if constexpr (kFields <= kMostFieldsNear) {
    if (is_in_list(make)) return cells.make_near(kFields);
  }
  return cells.make(kFields);
}

/// The code points of a string.
inline const TensorObject* code_points_in(Slot string) {
  return string.data->slots()[0].tensor;
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

/// Reads fields of a value without taking references of them; gives the first one.
template <std::size_t kFields>
[[gnu::always_inline]] inline Slot peek(Frame* frame, const Instruction& peek, const DataObject* object) {
  const Slot first = object->slots()[peeked(peek, 0).field];
  frame->slots[peek.d] = first;
  read_fields(object, frame->slots, peek, std::make_index_sequence<kFields - 1>());
  return first;
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
    if (list.fields[i].slot != kNoSlot) frame->slots[list.fields[i].slot] = object->slots()[i];
  }
  cells.free_cell(object, list.fields.size());
}

/// What is taken apart next is often what the last field refers to, as the rest of a list, or stands behind
/// this value, as where a recursion goes over a tree in the order in which another one has made it. An
/// address that is none does no harm.
template <std::size_t kFields>
[[gnu::always_inline]] inline void prefetch_after(const DataObject* object) {
  constexpr std::size_t kAhead = 512;
  if constexpr (kFields > 1) __builtin_prefetch(object->slots()[kFields - 1].data);
  __builtin_prefetch(reinterpret_cast<const char*>(object) + kAhead);
}

/// The fields of an only reference move; the cell is the next one of its size that is made.
template <std::size_t kFields>
[[gnu::always_inline]] inline void take_apart(DataCells& cells, Frame* frame, const Instruction& take,
                                              DataObject* object) {
  if (!DataCells::is_unique(object)) [[unlikely]]
    return take_shared(cells, frame, *take.taken, object);
  prefetch_after<kFields>(object);
  move_fields(object, frame->slots, take.takes, std::make_index_sequence<kFields>());
  cells.free_cell(object, kFields);
}

}  // namespace hiaton::exec::direct
