// Cells for values of lists near each other: see tensor/data_heap.h.
#include <algorithm>
#include <utility>

#include "tensor/data_chunk.h"

namespace hiaton {
namespace {

/// Which part of the cells of a chunk must have come back for it to be roomy. What others have is not used,
/// so as much of the memory may be lost.
constexpr std::size_t kRoomyPart = 8;
/// So many cells in a row that are far from each other are not where one list ends and the next one begins.
constexpr std::size_t kFarInRow = 2;
/// Cells of a list that stands together are at most so many bytes from each other.
constexpr uintptr_t kDense = 128;
/// So many of them in their order tell that such a list is read.
constexpr std::size_t kInOrder = 16;
/// The most roomy chunks of one size that a worker keeps; further ones are for any worker.
constexpr std::size_t kMostRoomyKept = 64;

}  // namespace

// --- The heap ---

bool DataHeap::Chunk::put(const CellList& cells) {
  const std::size_t roomy = kChunkBytes / kRoomyPart / cell_bytes(fields);
  PutBack before = put_back.load(std::memory_order_relaxed);
  PutBack after{};
  do {
    cells.last->slots()[0].data = cell_at(before.first);
    after = {offset_of(cells.first), before.count + cells.count};
  } while (
      !put_back.compare_exchange_weak(before, after, std::memory_order_release, std::memory_order_relaxed));
  return before.count < roomy && after.count >= roomy && !is_roomy.exchange(true, std::memory_order_acquire);
}

void DataHeap::add_roomy(Chunk* chunk) {
  const std::lock_guard lock(mutex_);
  std::atomic<Chunk*>& first = roomy_[chunk->fields];
  chunk->next_roomy = first.load(std::memory_order_relaxed);
  first.store(chunk, std::memory_order_relaxed);
}

DataHeap::Chunk* DataHeap::take_roomy(std::size_t fields) {
  std::atomic<Chunk*>& first = roomy_[fields];
  if (first.load(std::memory_order_relaxed) == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  Chunk* chunk = first.load(std::memory_order_relaxed);
  if (chunk != nullptr) first.store(chunk->next_roomy, std::memory_order_relaxed);
  return chunk;
}

/// All cells of the size that were put back.
DataObject* DataHeap::take_put_back(std::size_t fields) {
  const std::lock_guard lock(mutex_);
  DataObject* all = nullptr;
  for (Chunk* chunk : chunks_) {
    if (chunk->fields != fields) continue;
    for (DataObject* cell = chunk->take_put_back(); cell != nullptr;) {
      cell = std::exchange(cell->slots()[0].data, std::exchange(all, cell));
    }
  }
  return all;
}

// --- The cells of a worker ---

/// Where make() has given a cell that is far from the value made before: one that is near, or the same where
/// there is none, and where lists that stand together are rebuilt in place.
DataObject* DataCells::exchange(DataObject* cell, std::size_t fields) {
  if (cell == nullptr || heap_.bytes() < heap_.nearness_.least_bytes) return cell;
  Near& near = near_[fields];
  const DataObject* const before = std::exchange(near.last_far, cell);
  near.in_order = is_near(before, cell, std::min(kDense, near.distance)) ? near.in_order + 1 : 0;
  if (++near.far_in_row < kFarInRow || near.in_order >= kInOrder) return cell;
  DataObject* made = take_near(fields);
  if (made == nullptr) {
    const Size& size = sizes_[fields];
    if (size.next == size.end && !add_chunk(fields)) return cell;
    made = next_cell(fields);
  }
  put_back(cell, near);
  return made;
}

/// A cell of the chunk that values of lists stand in now, or of the next one that is roomy; null: there is
/// none.
DataObject* DataCells::take_near(std::size_t fields) {
  Near& near = near_[fields];
  while (near.free == nullptr) {
    DataHeap::Chunk* chunk = take_roomy(fields);
    if (chunk == nullptr) return nullptr;
    chunk->is_roomy.store(false, std::memory_order_release);
    near.free = chunk->take_put_back();
  }
  DataObject* cell = near.free;
  near.free = next_of(cell);
  __builtin_prefetch(near.free);
  return cell;
}

DataHeap::Chunk* DataCells::take_roomy(std::size_t fields) {
  Near& near = near_[fields];
  if (near.roomy == nullptr) return heap_.take_roomy(fields);
  --near.roomy_count;
  return std::exchange(near.roomy, near.roomy->next_roomy);
}

/// Cells of one chunk go back together: while two lists are read, each from its beginning to its end, that is
/// one atomic operation for each of their chunks.
void DataCells::put_back(DataObject* cell, Near& near) {
  cell->references = 0;
  DataHeap::Chunk* const chunk = DataHeap::chunk_of(cell);
  for (DataHeap::CellList& cells : near.far) {
    if (cells.chunk != chunk) continue;
    set_next(cell, cells.first);
    cells.first = cell;
    ++cells.count;
    return;
  }
  DataHeap::CellList& cells = near.far[near.older];
  near.older = 1 - near.older;
  put_back(cells, near);
  cells = {chunk, cell, cell, 1};
}

void DataCells::put_back(DataHeap::CellList& cells, Near& near) {
  DataHeap::Chunk* const chunk = cells.chunk;
  const bool is_roomy = chunk != nullptr && chunk->put(std::exchange(cells, {}));
  if (!is_roomy) return;
  if (near.roomy_count == kMostRoomyKept) return heap_.add_roomy(chunk);
  chunk->next_roomy = std::exchange(near.roomy, chunk);
  ++near.roomy_count;
}

/// All cells of the size that were put back, by this worker or another, are free for this one.
void DataCells::take_all_back(std::size_t fields) {
  for (DataHeap::CellList& cells : near_[fields].far) put_back(cells, near_[fields]);
  take_over(heap_.take_put_back(fields));
}

}  // namespace hiaton
