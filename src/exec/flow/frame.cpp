#include "exec/flow/frame.h"

#include <algorithm>

#include "base/check.h"
#include "tensor/memory.h"

namespace hiaton::exec::flow {
namespace {

constexpr std::size_t kFrameAlignment = 16;

std::size_t aligned(std::size_t bytes, std::size_t alignment = kFrameAlignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace

Value to_value(const Cell& cell, const Type& type) {
  if (type.is_data()) {
    cell.slot.data->references.fetch_add(1, std::memory_order_relaxed);
    return Data::adopt(cell.slot.data);
  }
  if (!type.is_tensor()) return Value(type.dtype, cell.slot);
  if (!cell.owner->is_slab) {
    cell.owner->references.fetch_add(1, std::memory_order_relaxed);
    return Tensor::adopt(cell.owner);
  }
  Tensor copy = Tensor::uninitialized(type.dtype, cell.dims());
  std::copy_n(cell.elements(), static_cast<std::size_t>(copy.size()) * size_of(type.dtype),
              copy.mutable_data<std::byte>());
  return copy;
}

FrameLayout::FrameLayout(const Function& function)
    : slot_kinds_(function.slots), offsets_(function.slots.size()) {
  for (const Item& item : function.items) {
    if (item.counter != kNoCounter) initial_waits_.push_back(static_cast<uint16_t>(item.waits));
  }
  children_ = aligned(sizeof(Frame) + initial_waits_.size() * sizeof(uint16_t), sizeof(Slot));
  std::size_t end = children_ + function.sites.size() * sizeof(Frame*);
  for (std::size_t i = 0; i < slot_kinds_.size(); ++i) {
    offsets_[i] = static_cast<uint32_t>(end);
    end += slot_kinds_[i] == SlotKind::Tensor ? sizeof(Cell) : sizeof(Slot);
    if (slot_kinds_[i] == SlotKind::Data) data_.push_back(offsets_[i]);
    if (slot_kinds_[i] == SlotKind::Tensor) owners_.push_back(offsets_[i] + offsetof(Cell, owner));
  }
  bytes_ = end;
}

void FrameLayout::clear(Frame* frame) const {
  auto* begin = reinterpret_cast<std::byte*>(frame);
  std::copy(initial_waits_.begin(), initial_waits_.end(), counters_of(frame));
  std::memset(begin + children_, 0, bytes_ - children_);
}

void FrameLayout::release(const Frame* frame) const {
  const auto* begin = reinterpret_cast<const std::byte*>(frame);
  for (uint32_t offset : owners_) {
    TensorObject* owner = nullptr;
    std::memcpy(&owner, begin + offset, sizeof owner);
    if (owner != nullptr) Tensor::release(owner);
  }
  for (uint32_t offset : data_) {
    DataObject* data = nullptr;
    std::memcpy(&data, begin + offset, sizeof data);
    if (data != nullptr) Data::release(data);
  }
}

Frame* FramePool::make() {
  Frame* frame = nullptr;
  if (free_ != nullptr) {
    frame = free_;
    free_ = frame->parent;
  } else {
    if (used_ == chunks_.size() * kFramesPerChunk) {
      take_memory(chunk_bytes());
      chunks_.push_back(std::make_unique<std::byte[]>(chunk_bytes()));
    }
    frame = at(used_++);
  }
  layout_.clear(frame);
  frame->unfinished = function_.root_items;
  frame->children = 0;
  frame->is_alive = 1;
  ++live_;
  ++made_;
  return frame;
}

void FramePool::free(Frame* frame) {
  layout_.release(frame);
  frame->is_alive = 0;
  frame->parent = free_;
  free_ = frame;
  --live_;
}

void FramePool::clear() {
  made_ = 0;
  for (std::size_t i = 0; live_ > 0 && i < used_; ++i) {
    if (at(i)->is_alive != 0) free(at(i));
  }
  free_ = nullptr;
  used_ = 0;
}

}  // namespace hiaton::exec::flow
