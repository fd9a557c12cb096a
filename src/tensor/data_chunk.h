// The chunks of a DataHeap, and where in them the cells stand.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "hiaton/value.h"
#include "tensor/data_heap.h"

namespace hiaton {

inline constexpr std::size_t kChunkBytes = std::size_t{64} << 10;

inline std::size_t cell_bytes(std::size_t fields) {
  return sizeof(DataObject) + fields * sizeof(Slot);
}

/// Begins at a multiple of its size, so that each cell finds it.
struct alignas(64) DataHeap::Chunk {
  /// Free cells, each of which refers to the next one.
  struct alignas(uint64_t) PutBack {
    uint32_t first;  ///< how far from the beginning of the chunk; zero where there is none
    uint32_t count;
  };

  static_assert(std::atomic<PutBack>::is_always_lock_free);

  DataHeap* heap;
  std::size_t fields;
  uint64_t outside = 0;  ///< values in it that are outside of runs
  /// Any worker puts cells back, and takes all that there are. Both are one atomic operation.
  std::atomic<PutBack> put_back{};
  /// It stands in a list of those. Who takes it out reads next_roomy, and then says so by a release; who puts
  /// it into one asks by an acquire, and then writes next_roomy.
  std::atomic<bool> is_roomy = false;
  Chunk* next_roomy = nullptr;  ///< in that list

  std::byte* begin() { return reinterpret_cast<std::byte*>(this + 1); }
  std::byte* end() {
    const std::size_t room = kChunkBytes - sizeof(Chunk);
    return begin() + room / cell_bytes(fields) * cell_bytes(fields);
  }
  DataObject* cell_at(uint32_t offset) {
    return offset == 0 ? nullptr : reinterpret_cast<DataObject*>(reinterpret_cast<std::byte*>(this) + offset);
  }
  uint32_t offset_of(const DataObject* cell) const {
    return static_cast<uint32_t>(reinterpret_cast<const std::byte*>(cell) -
                                 reinterpret_cast<const std::byte*>(this));
  }
  /// Whether it is roomy by that, and was not before.
  bool put(const CellList& cells);
  DataObject* take_put_back() { return cell_at(put_back.exchange({0, 0}, std::memory_order_acquire).first); }
};

inline DataHeap::Chunk* DataHeap::chunk_of(const void* cell) {
  return reinterpret_cast<Chunk*>(reinterpret_cast<uintptr_t>(cell) & ~(kChunkBytes - 1));
}

/// The next one of the chunk that cells are carved from, which is not used up.
inline DataObject* DataCells::next_cell(std::size_t fields) {
  std::byte*& next = sizes_[fields].next;
  return reinterpret_cast<DataObject*>(std::exchange(next, next + cell_bytes(fields)));
}

}  // namespace hiaton
