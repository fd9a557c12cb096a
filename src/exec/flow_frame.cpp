#include "exec/flow_frame.h"

#include <cstring>

#include "base/check.h"

namespace hiaton::exec::flow {
namespace {

constexpr std::size_t kAlignment = 16;

std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

FrameLayout::FrameLayout(const Function& function) {
  cells = aligned(sizeof(Frame));
  children = aligned(cells + function.slots.size() * sizeof(Cell));
  waits = aligned(children + function.sites.size() * sizeof(Frame*));
  bytes = aligned(waits + function.items.size() * sizeof(uint16_t));
  for (const Item& item : function.items) {
    HIATON_CHECK(item.waits <= UINT16_MAX);
    initial_waits.push_back(static_cast<uint16_t>(item.waits));
  }
  for (std::size_t i = 0; i < function.slots.size(); ++i) {
    if (function.slots[i] != SlotKind::Scalar) counted_slots.push_back(static_cast<uint32_t>(i));
  }
}

Frame* FramePool::make() {
  if (free_.empty()) {
    chunks_.push_back(std::make_unique<std::byte[]>(kFramesPerChunk * layout_.bytes));
    for (std::size_t i = kFramesPerChunk; i-- > 0;) {
      free_.push_back(reinterpret_cast<Frame*>(chunks_.back().get() + i * layout_.bytes));
    }
  }
  Frame* frame = free_.back();
  free_.pop_back();
  std::memset(static_cast<void*>(layout_.cells_of(frame)), 0, layout_.waits - layout_.cells);
  std::memcpy(layout_.waits_of(frame), layout_.initial_waits.data(),
              layout_.initial_waits.size() * sizeof(uint16_t));
  frame->unfinished = function_.root_items;
  frame->children = 0;
  frame->alive = true;
  ++live_;
  ++made_;
  return frame;
}

void FramePool::release_slots(Frame* frame) {
  Cell* cells = layout_.cells_of(frame);
  for (uint32_t slot : layout_.counted_slots) release(function_.slots[slot], cells[slot]);
}

void FramePool::free(Frame* frame) {
  release_slots(frame);
  frame->alive = false;
  free_.push_back(frame);
  --live_;
}

/// Frames that are alive when a run ends early, or whose gradient nobody asked for.
FramePool::~FramePool() {
  for (const auto& chunk : chunks_) {
    for (std::size_t i = 0; i < kFramesPerChunk; ++i) {
      auto* frame = reinterpret_cast<Frame*>(chunk.get() + i * layout_.bytes);
      if (frame->alive) release_slots(frame);
    }
  }
}

}  // namespace hiaton::exec::flow
