#include "tensor/data_heap.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "tensor/data_chunk.h"
#include "tensor/data_references.h"
#include "tensor/large_blocks.h"

namespace hiaton {
namespace {

constexpr std::size_t kFirstSegment = std::size_t{256} << 10;
constexpr std::size_t kLargestSegment = std::size_t{32} << 20;
/// In segments of this size and more, each worker has huge pages of its own.
constexpr std::size_t kLeastForPages = 4 * kHugePage;

/// Relaxed: only whether it is, which does not change, is asked; others may count at the same time.
int32_t count_of(DataObject* object) {
  return object->counter().load(std::memory_order_relaxed);
}

}  // namespace

DataHeap* DataHeap::make(std::function<bool(std::size_t)> take_bytes, Nearness nearness) {
  return new DataHeap(std::move(take_bytes), nearness);
}

DataHeap::~DataHeap() {
  if (spare_.begin != nullptr) munmap(spare_.begin, spare_.bytes);
  for (const Segment& segment : segments_) munmap(segment.begin, segment.bytes);
}

/// After the first segment on huge pages: one is cleared in the time of the first use of some hundred small
/// ones.
bool DataHeap::add_segment() {
  std::size_t bytes =
      segments_.empty() ? kFirstSegment : std::clamp(segments_.back().bytes * 2, kHugePage, kLargestSegment);
  segments_.reserve(segments_.size() + 1);
  regions_.reserve((segments_.size() + 1) * kLargestSegment / kHugePage);
  chunks_.reserve((this->bytes() + bytes) / kChunkBytes);
  // Where a budget has less left than that, the heap goes on in smaller steps, to the last chunk.
  for (; !take_bytes_(bytes); bytes /= 2) {
    if (bytes == kChunkBytes) return false;
  }
  std::byte* const begin = bytes == spare_.bytes
                               ? std::exchange(spare_, {nullptr, 0}).begin
                               : map_fresh(bytes, bytes >= kHugePage ? kHugePage : kChunkBytes);
  if (begin == nullptr) return false;
  segments_.push_back({begin, bytes});
  bytes_.fetch_add(bytes, std::memory_order_relaxed);
  next_ = begin;
  end_ = begin + bytes;
  return true;
}

/// The caller holds the lock. Once the heap is large, what is carved from a huge page is for one worker: two
/// that touch a new page at once would wait for each other until it is cleared.
bool DataHeap::take_region(Segment& region) {
  if (!regions_.empty()) {
    region = regions_.back();
    regions_.pop_back();
    return true;
  }
  if (next_ == end_ && !add_segment()) return false;
  const bool is_large = segments_.back().bytes >= kLeastForPages;
  region = {next_, is_large ? kHugePage : kChunkBytes};
  next_ += region.bytes;
  return true;
}

/// A chunk of the region that is the caller's, or of a new one. Returns null where there is no memory.
DataHeap::Chunk* DataHeap::add_chunk(std::size_t fields, Segment& region) {
  try {
    if (region.bytes == 0) {
      const std::lock_guard lock(mutex_);
      if (!take_region(region)) return nullptr;
    }
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  // Not under the lock: this may be the first use of a huge page, which the system has to clear.
  clear_chunk(region.begin);
  auto* chunk = new (region.begin) Chunk{this, fields};
  region.begin += kChunkBytes;
  region.bytes -= kChunkBytes;
  const std::lock_guard lock(mutex_);
  chunks_.push_back(chunk);  // add_segment() has made room
  return chunk;
}

/// A cell that no value has stood in holds a count of zero.
void DataHeap::clear_chunk(std::byte* chunk) const {
  if (chunk >= used_.begin && chunk < used_.begin + used_.bytes) std::fill_n(chunk, kChunkBytes, std::byte{});
}

DataObject* DataHeap::take_returned() {
  const std::lock_guard lock(mutex_);
  has_returned_.store(false, std::memory_order_relaxed);
  return std::exchange(returned_, nullptr);
}

template <class Visit>
void DataHeap::for_each_value(Visit visit) {
  for (Chunk* chunk : chunks_) {
    const std::size_t bytes = cell_bytes(chunk->fields);
    for (std::byte* at = chunk->begin(); at < chunk->end(); at += bytes) {
      auto* object = reinterpret_cast<DataObject*>(at);
      if (count_of(object) != 0 && !is_outside(object)) visit(object);
    }
  }
}

uint64_t DataHeap::count_values() {
  uint64_t count = 0;
  visit_values([&](DataObject*) { ++count; });
  return count;
}

void DataHeap::visit_values(const std::function<void(DataObject*)>& visit) {
  const std::lock_guard lock(mutex_);
  for_each_value(visit);
}

DataObject* DataHeap::value_around(uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto* at = reinterpret_cast<std::byte*>(address);
  const auto holds = [&](const Segment& segment) {
    return at >= segment.begin && at < segment.begin + segment.bytes;
  };
  if (address % sizeof(Slot) != 0 || std::ranges::none_of(segments_, holds)) return nullptr;
  Chunk* chunk = chunk_of(at);
  if (chunk->heap != this || at < chunk->begin() || at >= chunk->end()) return nullptr;  // or not carved yet
  const auto offset = static_cast<std::size_t>(at - chunk->begin());
  auto* object = reinterpret_cast<DataObject*>(chunk->begin() + offset - offset % cell_bytes(chunk->fields));
  return count_of(object) != 0 && !is_outside(object) ? object : nullptr;
}

void DataHeap::forget_values() {
  const std::lock_guard lock(mutex_);
  for_each_value([](DataObject* object) { object->references = 0; });
}

/// Each value counts anew: by the references that are found on the way from the results.
void DataHeap::give_out(std::span<const Slot> results) {
  const std::lock_guard lock(mutex_);
  for (const Slot& result : results) give_out_value(result.data);
}

/// Counts a reference to the value. Whether it is the first, so that what is below is still to be counted.
bool DataHeap::begin_value(DataObject* object) {
  if (!Data::has_object(object)) return false;
  if (is_outside(object)) {
    object->counter().fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  count_outside(object);
  return true;
}

/// The caller holds the lock.
void DataHeap::count_outside(const DataObject* object) {
  ++chunk_of(object)->outside;
  ++outside_;
}

/// Goes down and up again by reversed pointers (Schorr and Waite): on the way from the result to `object`,
/// the field that leads down refers to the value above, and `references` is the number of that field. Nothing
/// else refers up, since values have no cycles, so that nobody reads such a count.
void DataHeap::give_out_value(DataObject* result) {
  if (!begin_value(result)) return;
  DataObject* above = nullptr;
  DataObject* object = result;
  std::size_t field = 0;
  while (true) {
    const FieldLayout layout = object->fields_layout();
    const std::size_t count = layout.count();
    while (field < count &&
           !(layout.kind(field) == FieldKind::Data && begin_value(object->slots()[field].data))) {
      ++field;
    }
    if (field < count) {
      object->references = static_cast<int32_t>(field);
      DataObject* below = std::exchange(object->slots()[field].data, above);
      above = std::exchange(object, below);
      field = 0;
      continue;
    }
    object->references = DataObject::kOutside + 1;
    for_each_reference(object, layout, [](FieldKind kind, Slot slot) {
      if (kind == FieldKind::Tensor) TensorHeap::give_out(slot.tensor);
    });
    if (above == nullptr) return;
    field = static_cast<std::size_t>(above->references);
    DataObject* below = std::exchange(object, above);
    above = std::exchange(object->slots()[field].data, below);
    ++field;
  }
}

void DataHeap::leave() {
  std::unique_lock lock(mutex_);
  is_left_ = true;
  if (outside_ == 0) {
    lock.unlock();
    delete this;
    return;
  }
  // Chunks without a value go now, the others with the last of theirs; nothing else is left to unmap.
  if (next_ != end_) munmap(next_, static_cast<std::size_t>(end_ - next_));
  if (spare_.begin != nullptr) munmap(std::exchange(spare_, {nullptr, 0}).begin, kFirstSegment);
  for (const Segment& region : regions_) munmap(region.begin, region.bytes);
  for (Chunk* chunk : chunks_) {
    if (chunk->outside == 0) munmap(chunk, kChunkBytes);
  }
  segments_.clear();
}

bool DataHeap::rest() {
  const std::lock_guard lock(mutex_);
  take_bytes_ = nullptr;
  return segments_.empty() || (segments_.size() == 1 && segments_.front().bytes == kFirstSegment);
}

bool DataHeap::begin_again(std::function<bool(std::size_t)> take_bytes) {
  const std::lock_guard lock(mutex_);
  if (outside_ != 0) return false;
  take_bytes_ = std::move(take_bytes);
  if (segments_.empty()) return true;
  spare_ = segments_.front();
  const auto used = std::max(static_cast<std::size_t>(next_ - spare_.begin), used_.bytes);
  used_ = {spare_.begin, used};
  segments_.clear();
  regions_.clear();
  chunks_.clear();
  next_ = end_ = nullptr;
  returned_ = nullptr;
  has_returned_.store(false, std::memory_order_relaxed);
  for (std::atomic<Chunk*>& roomy : roomy_) roomy.store(nullptr, std::memory_order_relaxed);
  bytes_.store(0, std::memory_order_relaxed);
  return true;
}

/// The caller holds the lock. Returns whether the heap is to be deleted.
bool DataHeap::take_back(DataObject* object) {
  Chunk* chunk = chunk_of(object);
  --chunk->outside;
  --outside_;
  if (is_left_) {
    if (chunk->outside == 0) munmap(chunk, kChunkBytes);
    return outside_ == 0;
  }
  object->references = 0;
  object->slots()[0].data = returned_;
  returned_ = object;
  has_returned_.store(true, std::memory_order_relaxed);
  return false;
}

void DeadCells::give_back() {
  std::size_t next = 0;
  while (next < count_) {
    DataHeap* heap = DataHeap::chunk_of(cells_[next])->heap;
    std::unique_lock lock(heap->mutex_);
    bool is_last = false;
    do {
      is_last = heap->take_back(cells_[next++]);
    } while (!is_last && next < count_ && DataHeap::chunk_of(cells_[next])->heap == heap);
    lock.unlock();
    if (is_last) delete heap;
  }
  count_ = 0;
}

// --- The cells of a worker
// -----------------------------------------------------------------------------------

DataCells::DataCells(DataHeap& heap, TensorCells* tensors) : heap_(heap), tensors_(tensors) {
  for (Near& near : near_) near.distance = heap.nearness_.distance;
}

DataCells::~DataCells() {
  for (Near& near : near_) {
    while (near.roomy != nullptr) heap_.add_roomy(std::exchange(near.roomy, near.roomy->next_roomy));
  }
  if (region_.bytes == 0) return;
  const std::lock_guard lock(heap_.mutex_);
  heap_.regions_.push_back(region_);
}

DataObject* DataCells::carve(std::size_t fields) {
  const Size& size = sizes_[fields];
  return size.next != size.end ? next_cell(fields) : find_cell(fields);
}

/// Where the chunk that cells are carved from is used up.
DataObject* DataCells::find_cell(std::size_t fields) {
  const bool may_be_near = fields <= kMostFieldsNear;
  if (may_be_near) {
    if (DataObject* cell = take_near(fields); cell != nullptr) return cell;
  }
  DataObject*& free = sizes_[fields].free;
  if (heap_.has_returned_.load(std::memory_order_relaxed)) take_over(heap_.take_returned());
  if (free == nullptr && add_chunk(fields)) return next_cell(fields);
  // What was put back to chunks that are not roomy is the last that there is.
  if (free == nullptr && may_be_near) take_all_back(fields);
  return free == nullptr ? nullptr : std::exchange(free, next_of(free));
}

void DataCells::take_over(DataObject* cell) {
  while (cell != nullptr) {
    DataObject* next = next_of(cell);
    free_cell(cell, DataHeap::chunk_of(cell)->fields);
    cell = next;
  }
}

/// Whether there is one, from which cells are carved then.
bool DataCells::add_chunk(std::size_t fields) {
  DataHeap::Chunk* chunk = heap_.add_chunk(fields, region_);
  if (chunk == nullptr) return false;
  sizes_[fields].next = chunk->begin();
  sizes_[fields].end = chunk->end();
  return true;
}

Data DataCells::make_outside(uint32_t variant, FieldLayout layout, std::span<const Slot> slots) {
  DataObject* const object = make(slots.size());
  if (object == nullptr) throw std::bad_alloc();
  object->layout = layout.code();
  object->variant_bits = static_cast<uint16_t>(variant << 1 | 1);
  object->references = DataObject::kOutside + 1;
  std::ranges::copy(slots, object->slots());
  const std::lock_guard lock(heap_.mutex_);
  heap_.count_outside(object);
  return Data::adopt(object);
}

void DataCells::free_value(DataObject* object) {
  DeadValues dead;
  dead.push(object);
  while (!dead.empty()) {
    const DeadValues::Value next = dead.pop();
    for_each_reference(next.object, next.layout, [&](FieldKind kind, Slot slot) {
      if (kind == FieldKind::Tensor) {
        release_tensor(slot.tensor);
      } else if (Data::has_object(slot.data) && drop(slot.data)) {
        dead.push(slot.data);
      }
    });
    free_cell(next.object, next.layout.count());
  }
}

void DataCells::settle(DataObject* object, FieldLayout layout, Slot field) {
  if (layout.kind(0) == FieldKind::Data) retain(field.data);
  for_each_reference(object, object->fields_layout(), [&](FieldKind kind, Slot slot) {
    if (kind == FieldKind::Tensor) {
      release_tensor(slot.tensor);
    } else {
      release(slot.data);
    }
  });
  object->layout = layout.code();
  object->variant_bits &= 1;
  object->slots()[0] = field;
}

void DataCells::retain_shared(DataObject* object) {
  object->counter().fetch_sub(1, std::memory_order_relaxed);
}

bool DataCells::drop_shared(DataObject* object) {
  // Acquire and release: what other workers did with the value comes before it is freed.
  return object->counter().load(std::memory_order_acquire) == -1 ||
         object->counter().fetch_add(1, std::memory_order_acq_rel) == -1;
}

bool DataCells::claim_shared(DataObject* object) {
  // Pairs with the release of whoever let go of the other references.
  if (object->counter().load(std::memory_order_acquire) != -1) return false;
  object->references = 1;
  return true;
}

}  // namespace hiaton
