#include "tensor/large_blocks.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>

#include "tensor/memory.h"

namespace hiaton {
namespace {

constexpr std::size_t kSmallPage = std::size_t{4} << 10;
/// As much as one huge page takes time.
constexpr std::size_t kFirstOfBlocks = std::size_t{256} << 10;
constexpr std::size_t kLargestOfBlocks = std::size_t{32} << 20;
/// Larger blocks are mapped one by one.
constexpr std::size_t kMostCarved = std::size_t{4} << 20;
/// Free blocks of more bytes than this in all do not keep their memory.
constexpr std::size_t kMostFree = std::size_t{32} << 20;

std::size_t whole_pages(std::size_t bytes) {
  return (bytes + kSmallPage - 1) / kSmallPage * kSmallPage;
}

/// Begins a huge page where it has one.
std::byte* map_blocks(std::size_t bytes) {
  return map_fresh(bytes, bytes >= kHugePage ? kHugePage : kSmallPage);
}

/// Touches the huge pages that begin in the block, before several threads write to it: two that touch a new
/// one at once would both clear a page for it.
void touch_pages(std::byte* block, std::size_t bytes) {
  const std::size_t skipped = (kHugePage - reinterpret_cast<uintptr_t>(block) % kHugePage) % kHugePage;
  for (std::size_t at = skipped; at < bytes; at += kHugePage)
    *static_cast<volatile std::byte*>(block + at) = std::byte{0};
}

/// Gives the memory of a free block back, which can be taken again where it was carved.
void empty_block(std::byte* block, std::size_t bytes) {
  if (bytes > kMostCarved) {
    munmap(block, bytes);
  } else {
    madvise(block, bytes, MADV_DONTNEED);
  }
}

}  // namespace

std::byte* map_fresh(std::size_t bytes, std::size_t alignment) {
  const std::size_t reserved = bytes + alignment;
  void* memory =
      mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* from = static_cast<std::byte*>(memory);
  const std::size_t skipped = (alignment - reinterpret_cast<uintptr_t>(from) % alignment) % alignment;
  std::byte* begin = from + skipped;
  if (skipped > 0) munmap(from, skipped);
  munmap(begin + bytes, reserved - skipped - bytes);
  // A hint: fewer page faults.
  if (const std::size_t huge = bytes / kHugePage * kHugePage; huge > 0) madvise(begin, huge, MADV_HUGEPAGE);
  return begin;
}

LargeBlocks::~LargeBlocks() {
  for (const auto& [bytes, blocks] : free_) {
    if (bytes <= kMostCarved) continue;
    for (std::byte* block : blocks) munmap(block, bytes);
  }
  for (const Segment& segment : segments_) munmap(segment.begin, segment.bytes);
}

/// The caller holds the lock.
bool LargeBlocks::add_segment(std::size_t bytes) {
  try {
    segments_.reserve(segments_.size() + 1);
  } catch (const std::bad_alloc&) {
    return false;
  }
  std::byte* begin = map_blocks(bytes);
  if (begin == nullptr) return false;
  segments_.push_back({begin, bytes});
  next_ = begin;
  end_ = begin + bytes;
  return true;
}

std::byte* LargeBlocks::take(std::size_t bytes) {
  bytes = whole_pages(bytes);
  std::unique_lock lock(mutex_);
  for (auto* free : {&free_, &free_empty_}) {
    const auto of_size = free->find(bytes);
    if (of_size == free->end() || of_size->second.empty()) continue;
    std::byte* block = of_size->second.back();
    of_size->second.pop_back();
    if (free == &free_) free_bytes_ -= bytes;
    return block;
  }
  if (bytes > kMostCarved) return map_blocks(bytes);
  if (static_cast<std::size_t>(end_ - next_) < bytes) {
    const std::size_t next = segments_.empty() ? kFirstOfBlocks : segments_.back().bytes * 2;
    const std::size_t wanted = segments_.empty() ? next : std::clamp(next, 2 * kHugePage, kLargestOfBlocks);
    if (!add_segment(std::max(wanted, bytes))) return nullptr;
  }
  std::byte* block = next_;
  next_ += bytes;
  lock.unlock();  // the system clears pages for several threads at once
  touch_pages(block, bytes);
  return block;
}

void LargeBlocks::give(std::byte* block, std::size_t bytes) {
  bytes = whole_pages(bytes);
  const std::lock_guard lock(mutex_);
  bool is_kept = !is_ended_ && free_bytes_ + bytes <= kMostFree;
  try {
    if (is_kept) {
      free_[bytes].push_back(block);
      free_bytes_ += bytes;
    } else if (bytes <= kMostCarved && !is_ended_) {
      free_empty_[bytes].push_back(block);
    }
  } catch (const std::bad_alloc&) {
    is_kept = false;  // its place stays unused
  }
  if (!is_kept) empty_block(block, bytes);
}

std::shared_ptr<const void> LargeBlocks::counted_owner(std::byte* block, std::size_t bytes) {
  note_memory(bytes);
  return {block, [blocks = shared_from_this(), bytes](std::byte* its) {
            blocks->give(its, bytes);
            give_memory(bytes);
          }};
}

void LargeBlocks::end() {
  const std::lock_guard lock(mutex_);
  is_ended_ = true;
  for (const auto& [bytes, blocks] : free_) {
    for (std::byte* block : blocks) empty_block(block, bytes);
  }
  free_.clear();
  free_empty_.clear();
}

}  // namespace hiaton
