// What a run holds in memory, counted where it is taken.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>

namespace hiaton {

struct TensorObject;

/// Thrown where a run would take more memory than its budget allows; nothing is taken then. Who knows the
/// calls makes a RunError of it.
struct OverBudget : std::bad_alloc {
  const char* what() const noexcept override { return "more memory than the budget allows"; }
};

/// While it lives, counts what its thread takes and gives back: tensors and data values by themselves, all
/// else by take_memory. To be destroyed by its thread; the meter that counted before goes on then.
class MemoryMeter {
 public:
  /// Begins with what is held already.
  explicit MemoryMeter(uint64_t bytes = 0);
  MemoryMeter(const MemoryMeter&) = delete;
  ~MemoryMeter();

  /// 0 where more has gone that was there before.
  uint64_t bytes() const { return static_cast<uint64_t>(std::max<int64_t>(counts.bytes, 0)); }
  /// More than that is OverBudget.
  void set_limit(uint64_t bytes);

 private:
  struct Counts {
    int64_t bytes;
    int64_t limit;
  };
  static constinit thread_local Counts counts;
  friend void take_memory(std::size_t bytes);
  friend void give_memory(std::size_t bytes) noexcept;
  friend void note_memory(std::size_t bytes) noexcept;

  static constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max() / 2;
  const Counts outer_;
};

inline constexpr std::size_t kHeapHeader = 8;  ///< what the allocator of the C library adds to an object
inline constexpr std::size_t kHeapStep = 16;   ///< by which its sizes differ

/// What an object of so many bytes takes of the heap.
constexpr std::size_t heap_bytes(std::size_t bytes) {
  return (bytes + kHeapHeader + kHeapStep - 1) / kHeapStep * kHeapStep;
}

/// The bytes of a hash table of the standard library.
template <class Table>
std::size_t table_bytes(const Table& table) {
  constexpr std::size_t kLinks = 2 * sizeof(void*);  // of an entry: the next one, its hash
  return table.size() * heap_bytes(sizeof(typename Table::value_type) + kLinks) +
         table.bucket_count() * sizeof(void*);
}

/// Before so many bytes are allocated. Throws OverBudget.
void take_memory(std::size_t bytes);
inline void give_memory(std::size_t bytes) noexcept {
  MemoryMeter::counts.bytes -= static_cast<int64_t>(bytes);
}
/// After something has become the thread's that was counted elsewhere; goes beyond the budget where it must.
inline void note_memory(std::size_t bytes) noexcept {
  MemoryMeter::counts.bytes += static_cast<int64_t>(bytes);
}

/// The bytes that are given back when nobody refers to the tensor any more, which belongs to no pool.
std::size_t counted_bytes(const TensorObject& object);

}  // namespace hiaton
