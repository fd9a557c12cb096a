#include "exec/flow/run/flow_frame.h"

#include <algorithm>
#include <cstddef>

#include "base/check.h"
#include "kernels/launch_helpers.h"
#include "tensor/memory.h"

namespace hiaton::exec::flow {
namespace {

constexpr std::size_t kFrameAlignment = 16;

std::size_t aligned(std::size_t bytes, std::size_t alignment = kFrameAlignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace

TensorObject* take_tensor(const Cell& cell) {
  if (!cell.owner->is_batch) {
    Tensor::retain(cell.owner);
    return cell.owner;
  }
  Tensor copy = Tensor::uninitialized(cell.owner->dtype, cell.dims());
  const int64_t size = copy.size();
  const auto bytes = size * static_cast<int64_t>(size_of(cell.owner->dtype));
  const std::byte* from = cell.elements();
  auto* to = copy.mutable_data<std::byte>();
  constexpr int64_t kPage = 4096;
  if (bytes <= kPage) {
    std::copy_n(from, bytes, to);
  } else {
    kernels::in_ranges(bytes, kPage, kernels::kWorkOfElement * size,
                       [&](int64_t begin, int64_t end) { std::copy(from + begin, from + end, to + begin); });
  }
  return copy.detach();
}

Value to_value(const Cell& cell, const Type& type) {
  if (type.is_data()) {
    Data::retain(cell.slot.data);
    return Data::adopt(cell.slot.data);
  }
  if (!type.is_tensor()) return Value(type.dtype, cell.slot);
  return Tensor::adopt(take_tensor(cell));
}

FrameLayout::FrameLayout(const Function& function) : addresses_(function.slots.size()) {
  for (const Item& item : function.items) {
    if (item.counter != kNoCounter) initial_waits_.push_back(static_cast<uint16_t>(item.waits));
  }
  children_ = aligned(sizeof(Frame) + initial_waits_.size() * sizeof(uint16_t), sizeof(Slot));
  data_ = children_ + function.sites.size() * sizeof(Frame*);
  const auto place_all = [&](SlotKind kind, std::size_t begin, std::size_t bytes) {
    for (std::size_t i = 0; i < addresses_.size(); ++i) {
      if (function.slots[i] != kind || function.positions[i] == kNoPosition) continue;
      addresses_[i] = {static_cast<uint32_t>(begin + function.positions[i] * bytes), kind};
    }
    return begin + function.position_counts[static_cast<std::size_t>(kind)] * bytes;
  };
  tensors_ = place_all(SlotKind::Data, data_, sizeof(Slot));
  scalars_ = place_all(SlotKind::Tensor, tensors_, sizeof(Cell));
  bytes_ = place_all(SlotKind::Scalar, scalars_, sizeof(Slot));
}

/// Scalars keep what they have: none is read before it is written.
void FrameLayout::clear(Frame* frame) const {
  std::copy(initial_waits_.begin(), initial_waits_.end(), counters_of(frame));
  auto* begin = reinterpret_cast<std::byte*>(frame);
  std::memset(begin + children_, 0, scalars_ - children_);
}

void FrameLayout::release(const Frame* frame) const {
  const auto* begin = reinterpret_cast<const std::byte*>(frame);
  for (const std::byte* at = begin + data_; at != begin + tensors_; at += sizeof(Slot)) {
    DataObject* data = nullptr;
    std::memcpy(&data, at, sizeof data);
    Data::release(data);
  }
  for (const std::byte* at = begin + tensors_; at != begin + scalars_; at += sizeof(Cell)) {
    TensorObject* owner = nullptr;
    std::memcpy(&owner, at + offsetof(Cell, owner), sizeof owner);
    if (owner != nullptr) Tensor::release(owner);
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
      chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(chunk_bytes()));
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
