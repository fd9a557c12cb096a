// Memory for the elements of large tensors, in huge pages.
//
// The first use of a page of 4 KiB takes about a microsecond, longer than most operations need for its
// elements, and threads that do so at the same time wait for each other; that of a huge page takes less than
// a fifth, by the same number of elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace hiaton {

inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

/// Memory from the system that begins at a multiple of `alignment`; its whole huge pages, from the beginning
/// on, are huge where the system has some. Null where there is no memory.
std::byte* map_fresh(std::size_t bytes, std::size_t alignment);

/// Blocks of memory, which go back to the system when the last owner of this is gone. May be used by several
/// threads.
class LargeBlocks : public std::enable_shared_from_this<LargeBlocks> {
 public:
  LargeBlocks() = default;
  LargeBlocks(const LargeBlocks&) = delete;
  ~LargeBlocks();

#if defined(HIATON_SANITIZED)
  static constexpr std::size_t kLeast = SIZE_MAX;  // a sanitizer is to see who uses memory that is free
#else
  /// Smaller blocks are none of these.
  static constexpr std::size_t kLeast = std::size_t{32} << 10;
#endif

  /// A block of at least so many bytes, which begins a page; null where there is no memory.
  std::byte* take(std::size_t bytes);
  /// Takes back a block that was taken with as many bytes.
  void give(std::byte* block, std::size_t bytes);
  /// An owner of a block, which gives it back. The meter of the thread counts the block from now on.
  std::shared_ptr<const void> counted_owner(std::byte* block, std::size_t bytes);
  /// No more blocks are wanted: of those that are free, the memory goes back to the system now.
  void end();

 private:
  struct Segment {
    std::byte* begin;
    std::size_t bytes;
  };

  bool add_segment(std::size_t bytes);

  std::mutex mutex_;
  std::vector<Segment> segments_;
  std::byte* next_ = nullptr;  ///< where the next block is carved
  std::byte* end_ = nullptr;
  std::map<std::size_t, std::vector<std::byte*>> free_;        ///< by size
  std::map<std::size_t, std::vector<std::byte*>> free_empty_;  ///< those that take no memory
  std::size_t free_bytes_ = 0;                                 ///< of those that take memory
  bool is_ended_ = false;
};

}  // namespace hiaton
