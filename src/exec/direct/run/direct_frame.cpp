#include "exec/direct/run/direct_frame.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "exec/direct/direct_plan.h"
#include "tensor/large_blocks.h"

namespace hiaton::exec::direct {
namespace {

/// The first chunk comes from the C library, which has it at hand for the next run; a small run needs no
/// more.
constexpr std::size_t kFirstChunk = std::size_t{16} << 10;
constexpr std::size_t kFirstFromSystem = std::size_t{64} << 10;
constexpr std::size_t kLargestChunk = std::size_t{32} << 20;

void* map_pages(std::size_t bytes) {
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (bytes >= kHugePage)
    madvise(memory, bytes, MADV_HUGEPAGE);  // a hint: fewer page faults in deep recursion
  return memory;
}

/// Where frames stand in the first chunk: from the begin of a page on, if it has room for one of `bytes`
/// there. Elsewhere in a page, deep recursion has been seen to take 4 % longer.
std::byte* begin_of_page(std::byte* begin, const std::byte* end, std::size_t bytes) {
  constexpr std::uintptr_t kPage = 4096;
  std::byte* page = begin + -reinterpret_cast<std::uintptr_t>(begin) % kPage;
  return page < end && static_cast<std::size_t>(end - page) >= bytes ? page : begin;
}

}  // namespace

Frame no_frame{nullptr, {nullptr}, &no_frame, 0, {}};

FramePool::~FramePool() {
  while (newest_ != nullptr) {
    const Chunk chunk = *newest_;
    if (chunk.before == nullptr) {
      std::free(newest_);
    } else {
      munmap(newest_, chunk.bytes);
    }
    newest_ = chunk.before;
  }
}

Frame* FramePool::carve(uint32_t slots) {
  const std::size_t bytes = frame_bytes(slots);
  if (static_cast<std::size_t>(end_ - next_) < bytes && !add_chunk(bytes)) return nullptr;
  Frame* frame = reinterpret_cast<Frame*>(next_);
  next_ += bytes;
  frame->child = &no_frame;
  frame->capacity = slots;
  return frame;
}

Frame* FramePool::insert(Frame* parent, uint32_t slots) {
  if (budget_.limits_frames() && !budget_.take_frame()) {
    failure_ = Fault::MaxFrames;
    return nullptr;
  }
  Frame* frame = carve(slots);
  if (frame == nullptr) return nullptr;
  ++carved_;
  Frame* old_child = parent->child;
  frame->parent = parent;
  frame->child = old_child;
  parent->child = frame;
  if (old_child != &no_frame) old_child->parent = frame;
  return frame;
}

Frame* FramePool::take_anchor() {
  Frame* anchor = idle_;
  if (anchor != nullptr) {
    idle_ = anchor->parent;
  } else {
    anchor = carve(0);
  }
  if (anchor != nullptr) anchor->copies = nullptr;
  return anchor;
}

bool FramePool::add_chunk(std::size_t at_least) {
  // Chunks double, so that small runs stay small and deep ones ask the system rarely.
  const bool is_first = newest_ == nullptr;
  std::size_t bytes =
      is_first ? kFirstChunk : std::clamp(newest_->bytes * 2, kFirstFromSystem, kLargestChunk);
  bytes = std::min<uint64_t>(bytes, budget_.free_bytes());
  bytes = std::max(bytes, sizeof(Chunk) + at_least);
  if (!budget_.take_bytes(bytes)) {
    failure_ = Fault::MaxBytes;
    return false;
  }
  void* memory = is_first ? std::malloc(bytes) : map_pages(bytes);
  if (memory == nullptr) {
    failure_ = Fault::OutOfMemory;
    return false;
  }
  newest_ = new (memory) Chunk{newest_, bytes};
  bytes_ += bytes;
  if (track != nullptr) track->count(carved_, bytes_);
  next_ = static_cast<std::byte*>(memory) + sizeof(Chunk);
  end_ = static_cast<std::byte*>(memory) + bytes;
  if (is_first) next_ = begin_of_page(next_, end_, at_least);
  return true;
}

void FramePool::visit_unwound(const std::function<void(std::span<const Slot>)>& visit) const {
  for (const Frame* anchor = idle_; anchor != nullptr; anchor = anchor->parent) {
    Slot copies;
    copies.data = anchor->copies;
    visit({&copies, 1});
    for (const Frame* frame = anchor->child; frame != &no_frame; frame = frame->child) {
      if (frame->resume == nullptr) visit({frame->slots, frame->capacity});
    }
  }
}

uint64_t FramePool::count_idle() const {
  uint64_t count = 0;
  for (const Frame* anchor = idle_; anchor != nullptr; anchor = anchor->parent) {
    for (const Frame* frame = anchor->child; frame != &no_frame; frame = frame->child) ++count;
  }
  return count;
}

}  // namespace hiaton::exec::direct
