// Memory of the data values that a run makes.
//
// Cells of one size stand in chunks; each worker carves cells from chunks of its own and keeps those that are
// free, so that making and freeing take no lock and no atomic operation. A cell that a worker frees serves
// its next value of that size: what is taken apart and rebuilt runs in place. Values that leave the run stay
// where they are: the heap lives until the last of them is gone, and gives back the chunks without any before
// that.
//
// A long list that is dealt out and merged in place would soon be scattered over all memory, so that each of
// its values is a cache miss. So a value of a list, where one cell after the other is far from that of the
// value made before, gets one near that instead, and the cell goes back to its chunk, for any worker. Chunks
// of which many cells came back are where such cells are taken from.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "hiaton/value.h"
#include "tensor/tensor_heap.h"

namespace hiaton {

class SharedLoop;

/// The most fields that a value in a heap may have.
inline constexpr std::size_t kMostHeapFields = 255;

/// The most fields of a value whose cell is chosen near another one.
inline constexpr std::size_t kMostFieldsNear = 3;

/// The chunks of one run, or of a worker that rests between runs. All of its functions may be called by
/// several threads.
class DataHeap {
 public:
  /// When a value of a list gets another cell than one that is free: see DataCells::make_near().
  struct Nearness {
    uint64_t least_bytes = uint64_t{16} << 20;  ///< heaps of less stand in the caches as a whole
    uintptr_t distance = uintptr_t{64} << 10;   ///< what is less far from the value made before is near it
  };
  /// `take_bytes` is asked before memory is taken from the system; where it says no, or the system has none,
  /// there is none.
  static DataHeap* make(std::function<bool(std::size_t)> take_bytes) {
    return make(std::move(take_bytes), Nearness{});
  }
  static DataHeap* make(std::function<bool(std::size_t)> take_bytes, Nearness nearness);
  /// Nobody makes values in it any more: the memory goes as soon as no value in it is outside of runs.
  void leave();
  /// Between runs, when nobody makes values in it: whether it may be kept for another run, as a small one
  /// may.
  bool rest();
  /// Serves another run, as a new heap does, but that its first memory comes without the system. Returns
  /// false where values in it are still outside of runs: it goes on resting then.
  bool begin_again(std::function<bool(std::size_t)> take_bytes);

  /// Makes results of a run values of their own: all that they refer to is outside of runs then. Each slot
  /// holds one reference. Takes no memory.
  void give_out(std::span<const Slot> results);
  /// Forgets all values that are not outside, after a run that failed: nobody refers to them any more.
  void forget_values();
  /// How many values there are that are not outside.
  uint64_t count_values();
  /// Calls `visit` with each of them, which must not call the heap.
  void visit_values(const std::function<void(DataObject*)>& visit);
  /// The one among them at whose header or one of whose fields the address is; null: there is none.
  DataObject* value_around(uint64_t address);
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  friend class DataCells;
  friend class DeadCells;
  struct Chunk;
  struct Segment {
    std::byte* begin;
    std::size_t bytes;
  };
  /// Free cells of one chunk, each of which refers to the next one.
  struct CellList {
    Chunk* chunk = nullptr;
    DataObject* first = nullptr;
    DataObject* last = nullptr;
    uint32_t count = 0;
  };

  DataHeap(std::function<bool(std::size_t)> take_bytes, Nearness nearness)
      : nearness_(nearness), take_bytes_(std::move(take_bytes)) {}
  ~DataHeap();
  static Chunk* chunk_of(const void* cell);
  Chunk* add_chunk(std::size_t fields, Segment& region);
  bool take_region(Segment& region);
  bool add_segment();
  void clear_chunk(std::byte* chunk) const;
  DataObject* take_returned();
  void add_roomy(Chunk* chunk);
  Chunk* take_roomy(std::size_t fields);
  DataObject* take_put_back(std::size_t fields);
  bool take_back(DataObject* object);
  bool begin_value(DataObject* object);
  void count_outside(const DataObject* object);
  void give_out_value(DataObject* result);
  template <class Visit>
  void for_each_value(Visit visit);

  const Nearness nearness_;  ///< the same in all runs of a heap
  std::mutex mutex_;
  std::function<bool(std::size_t)> take_bytes_;
  std::vector<Chunk*> chunks_;
  std::vector<Segment> segments_;
  std::vector<Segment> regions_;  ///< what workers that are gone have not used of theirs
  std::byte* next_ = nullptr;     ///< where the next region is carved
  std::byte* end_ = nullptr;
  Segment spare_{nullptr, 0};       ///< memory of runs before, which is not counted as taken
  Segment used_{nullptr, 0};        ///< what runs before wrote to
  DataObject* returned_ = nullptr;  ///< cells of values that were outside
  std::atomic<bool> has_returned_{false};
  /// By the number of fields: the first of the roomy chunks that no worker keeps.
  std::array<std::atomic<Chunk*>, kMostFieldsNear + 1> roomy_{};
  std::atomic<uint64_t> bytes_{0};
  uint64_t outside_ = 0;  ///< values that are outside of runs
  bool is_left_ = false;
};

/// Leaves a heap where its owner lets go of it.
struct LeaveHeap {
  void operator()(DataHeap* heap) const { heap->leave(); }
};

/// The cells of one worker. For its thread alone. What the interpreter does all the time is always inlined:
/// in a function of its size the compiler would rather not.
class DataCells {
 public:
  /// `tensors` are those of the same worker; null where the run makes none.
  explicit DataCells(DataHeap& heap, TensorCells* tensors = nullptr);
  DataCells(const DataCells&) = delete;
  ~DataCells();

  /// A cell for a value of so many fields, 1 to kMostHeapFields; null where there is no memory.
  [[gnu::always_inline]] DataObject* make(std::size_t fields) {
    Size& size = sizes_[fields];
    if (DataObject* cell = size.free; cell != nullptr) [[likely]] {
      size.free = next_of(cell);
      return cell;
    }
    return carve(fields);
  }
  /// The same for a value that is to stand near the one that was made so before, as one of them refers to the
  /// other: where a second cell in a row is far by the nearness of the heap, another one is given, if there
  /// is one. At most kMostFieldsNear fields.
  [[gnu::always_inline]] DataObject* make_near(std::size_t fields) {
    Near& near = near_[fields];
    DataObject* cell = make(fields);
    if (is_near(near.last, cell, near.distance)) [[likely]] {
      near.far_in_row = 0;
    } else {
      cell = exchange(cell, fields);
    }
    near.last = cell;
    return cell;
  }
  /// Takes back the cell of a value that nobody refers to, and whose fields refer to nothing.
  [[gnu::always_inline]] void free_cell(DataObject* cell, std::size_t fields) {
    cell->references = 0;
    set_next(cell, sizes_[fields].free);
    sizes_[fields].free = cell;
  }

  /// One more reference, of a run's own.
  [[gnu::always_inline]] static void retain(DataObject* object) {
    if (Data::has_object(object)) retain_object(object);
  }
  [[gnu::always_inline]] static void retain_object(DataObject* object) {
    const int32_t references = relaxed(object);
    if (references > 0) [[likely]] {
      object->references = references + 1;
    } else if (references >= DataObject::kLeastShared) {
      retain_shared(object);
    }
  }
  /// One reference less; frees what nobody refers to then, without recursion.
  [[gnu::always_inline]] void release(DataObject* object) {
    if (Data::has_object(object) && drop(object)) free_value(object);
  }
  /// Lets go of one reference: whether it was the last.
  [[gnu::always_inline]] static bool drop(DataObject* object) {
    const int32_t references = relaxed(object);
    if (references > 0) [[likely]] {
      object->references = references - 1;
      return references == 1;
    }
    return references >= DataObject::kLeastShared && drop_shared(object);
  }
  /// Whether the reference in hand is the only one; it counts as a plain one then.
  [[gnu::always_inline]] static bool is_unique(DataObject* object) {
    if (relaxed(object) == 1) [[likely]]
      return true;
    return relaxed(object) == -1 && claim_shared(object);
  }
  void free_value(DataObject* object);
  /// A value outside of runs: takes over the references in the slots, 1 to kMostHeapFields of them. Throws
  /// std::bad_alloc.
  Data make_outside(uint32_t variant, FieldLayout layout, std::span<const Slot> slots);
  /// Makes a value, in its place, one of the variant 0: lets go of its fields, and takes a reference to the
  /// new first field. The layout has as many fields as the value; the others refer to nothing.
  void settle(DataObject* object, FieldLayout layout, Slot field);
  /// A value lets go of a tensor that is its field.
  void release_tensor(TensorObject* tensor) {
    if (tensors_ != nullptr) tensors_->release(tensor);
  }
  /// Before another worker may refer to it: it and all below it are counted by atomic operations from now on.
  /// Throws std::bad_alloc, which leaves some of it shared: right, and slower.
  static void share(DataObject* object);
  /// A copy of it and of all below, for another worker alone, where that is at most kMostCopied values; null
  /// where it is more, or there is no memory. What is outside of runs is not copied.
  DataObject* copy(DataObject* object);
  static constexpr std::size_t kMostCopied = 256;
  /// A value that holds these references; null where there is no memory. At most kMostHeld of them.
  DataObject* hold(std::span<DataObject* const> held);
  static constexpr std::size_t kMostHeld = FieldLayout::kMostInline;
  /// What another worker gets in place of the only reference in hand; it takes that one over. What nobody
  /// else refers to goes as it is; of a large value, what others refer to as well is shared, and a small one
  /// of which there is such a part is copied, into cells of that worker, which waits. Takes from `steps`, one
  /// for each value that goes as it is; what it has no steps for is shared. The tensors below are shared,
  /// since nothing tells who else shows their elements. Those who help with the loop look through parts of
  /// it. Throws std::bad_alloc.
  DataObject* hand_over(DataObject* object, DataCells& taker, std::size_t& steps,
                        SharedLoop* helpers = nullptr);

 private:
  struct Size {
    DataObject* free = nullptr;
    std::byte* next = nullptr;  ///< cells never used before
    std::byte* end = nullptr;
  };
  /// Where make_near() takes cells from, and where it puts those that it does not take.
  struct Near {
    DataObject* last = nullptr;      ///< what it made last
    uintptr_t distance = 0;          ///< as the nearness of the heap says
    std::size_t far_in_row = 0;      ///< how many cells since the last near one were far from what was made
    DataObject* last_far = nullptr;  ///< the last of those
    std::size_t in_order = 0;        ///< how many of them have come, each beside the one before
    DataObject* free = nullptr;      ///< cells of a chunk that was roomy
    /// Chunks that have become roomy by this worker, the last one first: it has them in its caches.
    DataHeap::Chunk* roomy = nullptr;
    std::size_t roomy_count = 0;
    /// Cells that are still to be put back: of two chunks, for two lists that become one.
    std::array<DataHeap::CellList, 2> far{};
    std::size_t older = 0;  ///< which of both gives way to a third chunk
  };

  static bool is_near(const DataObject* a, const DataObject* b, uintptr_t distance) {
    return reinterpret_cast<uintptr_t>(b) - reinterpret_cast<uintptr_t>(a) + distance <= 2 * distance;
  }
  static int32_t relaxed(DataObject* object) { return object->counter().load(std::memory_order_relaxed); }
  static DataObject* next_of(const DataObject* cell) { return cell->slots()[0].data; }
  static void set_next(DataObject* cell, DataObject* next) { cell->slots()[0].data = next; }
  // Not inlined: the interpreter's code holds no atomic operations.
  static void retain_shared(DataObject* object);
  static bool drop_shared(DataObject* object);
  static bool claim_shared(DataObject* object);
  DataObject* carve(std::size_t fields);
  DataObject* find_cell(std::size_t fields);
  bool add_chunk(std::size_t fields);
  DataObject* next_cell(std::size_t fields);
  void take_over(DataObject* cells);
  DataObject* take_near(std::size_t fields);
  DataObject* exchange(DataObject* cell, std::size_t fields);
  DataHeap::Chunk* take_roomy(std::size_t fields);
  void put_back(DataObject* cell, Near& near);
  void put_back(DataHeap::CellList& cells, Near& near);
  void take_all_back(std::size_t fields);
  friend class DataHeap;

  DataHeap& heap_;
  TensorCells* const tensors_;
  DataHeap::Segment region_{nullptr, 0};  ///< where its next chunk is carved
  std::array<Size, kMostHeapFields + 1> sizes_{};
  std::array<Near, kMostFieldsNear + 1> near_{};
};

}  // namespace hiaton
