// Memory of the tensors that a run of direct code makes.
//
// Each worker keeps the blocks that it frees, by size, so that making and freeing a tensor take no lock, no
// atomic operation and no call of the C library. A block that a worker frees serves its next tensor of that
// size.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>

#include "hiaton/tensor.h"
#include "tensor/large_blocks.h"

namespace hiaton {

class TensorHeap;

/// A tensor of a run. `references` tells who may count, as it does for data values: above 0 only one worker
/// refers to the tensor, below 0 several workers do, and minus the count is counted by atomic operations.
struct RunTensor : TensorObject {
  TensorObject* base = nullptr;  ///< whose elements a view shows, which it refers to; null: it has its own
  RunTensor* next = nullptr;     ///< among the blocks of the run
  RunTensor* before = nullptr;
  RunTensor* next_free = nullptr;
  TensorHeap* heap = nullptr;
  std::size_t room = 0;  ///< bytes for its elements: behind the header, or, of large ones, elsewhere
};

/// The blocks of one run. Its functions may be called by several threads.
class TensorHeap {
 public:
  /// `take_bytes` is asked before memory is taken from the system, `give_bytes` is told when it goes back.
  TensorHeap(std::function<bool(std::size_t)> take_bytes, std::function<void(std::size_t)> give_bytes)
      : take_bytes_(std::move(take_bytes)), give_bytes_(std::move(give_bytes)) {}
  TensorHeap(const TensorHeap&) = delete;
  /// Frees all tensors that have not been given out.
  ~TensorHeap();

  /// Whether the tensor belongs to a run. Others belong to arguments, constants and parameters, which hold
  /// them for as long as the run lasts, so that the run does not count them.
  static bool is_of_run(const TensorObject* tensor) { return tensor->pool == mark(); }
  /// One more reference from outside of runs to a tensor that leaves one, or that never belonged to one. What
  /// leaves is counted by the meter of the thread from then on, as any tensor is.
  static void give_out(TensorObject* tensor);
  /// Frees all tensors that have references and have not been given out, after a run that failed: nobody
  /// refers to them any more.
  void forget_tensors();
  /// How many tensors there are that have references.
  uint64_t count_tensors();
  /// Calls `visit` with each of them, which must not call the heap.
  void visit_tensors(const std::function<void(RunTensor*)>& visit);

 private:
  friend class TensorCells;
  static TensorPool* mark() { return &runs_mark; }
  RunTensor* add(std::size_t room);
  void remove(RunTensor* block);
  void free_unlinked(RunTensor* block);
  void unlink(RunTensor* block);
  void free_memory(RunTensor* block);

  /// Stands in TensorObject::pool of the tensors of runs.
  struct Mark : TensorPool {
    void take_back(TensorObject* object) override;
  };
  static Mark runs_mark;

  std::mutex mutex_;
  std::function<bool(std::size_t)> take_bytes_;
  std::function<void(std::size_t)> give_bytes_;
  RunTensor* first_ = nullptr;
  std::shared_ptr<LargeBlocks> large_ = std::make_shared<LargeBlocks>();
};

/// The tensors of one worker. For its thread alone.
class TensorCells {
 public:
  explicit TensorCells(TensorHeap& heap) : heap_(heap) {}

  /// A tensor with one reference, whose elements have any value; null where there is no memory. `bytes` are
  /// those of all elements.
  RunTensor* make(DType dtype, std::span<const int64_t> dims, std::size_t bytes) {
    const std::size_t size = size_of_blocks(bytes);
    RunTensor* block = size < kSizes ? free_[size] : nullptr;
    if (block == nullptr) [[unlikely]] {
      block = make_block(bytes);
      if (block == nullptr) return nullptr;
    } else {
      free_[size] = block->next_free;
      kept_ -= block->room;
    }
    block->references.store(1, std::memory_order_relaxed);
    set_shape(block, dtype, dims);
    return block;
  }
  /// The elements of `of`, which it takes another reference to, in this shape.
  RunTensor* make_view(TensorObject* of, std::span<const int64_t> dims);
  static void set_shape(TensorObject* tensor, DType dtype, std::span<const int64_t> dims) {
    tensor->dtype = dtype;
    tensor->rank = static_cast<uint8_t>(dims.size());
    for (std::size_t i = 0; i < dims.size(); ++i) tensor->dims[i] = dims[i];
  }

  static void retain(TensorObject* tensor) {
    if (!TensorHeap::is_of_run(tensor)) return;
    const int32_t references = relaxed(tensor);
    if (references > 0) [[likely]] {
      tensor->references.store(references + 1, std::memory_order_relaxed);
    } else {
      retain_shared(tensor);
    }
  }
  void release(TensorObject* tensor) {
    if (!TensorHeap::is_of_run(tensor)) return;
    const int32_t references = relaxed(tensor);
    if (references > 1) {
      tensor->references.store(references - 1, std::memory_order_relaxed);
    } else if (references == 1 || drop_shared(tensor)) {
      free_tensor(static_cast<RunTensor*>(tensor));
    }
  }
  /// Whether the reference in hand is the only one, and the elements are the tensor's own: they may be
  /// written then.
  static bool may_be_reused(TensorObject* tensor) {
    if (!TensorHeap::is_of_run(tensor) || tensor->is_view) return false;
    return relaxed(tensor) == 1 || claim_shared(tensor);
  }
  /// Whether that is so and no other worker has ever referred to the tensor.
  [[gnu::always_inline]] static bool is_held_once(TensorObject* tensor) {
    return TensorHeap::is_of_run(tensor) && !tensor->is_view && relaxed(tensor) == 1;
  }
  /// Before another worker may refer to it: it is counted by atomic operations from now on.
  static void share(TensorObject* tensor);

 private:
  // Exact sizes up to 1 KiB, then four for each power of two.
  static constexpr std::size_t kStep = 16;
  static constexpr std::size_t kExactSizes = 65;
  static constexpr std::size_t kSizes = kExactSizes + std::size_t{4} * 12;
#if defined(HIATON_SANITIZED)
  static constexpr std::size_t kMostKept = 0;  // a sanitizer is to see whoever uses a tensor that is free
#else
  static constexpr std::size_t kMostKept = std::size_t{8} << 20;
#endif

  static int32_t relaxed(TensorObject* tensor) {
    return tensor->references.load(std::memory_order_relaxed);
  }
  static std::size_t size_of_blocks(std::size_t bytes) {
    return bytes <= (kExactSizes - 1) * kStep ? (bytes + kStep - 1) / kStep : size_of_large_blocks(bytes);
  }
  static std::size_t size_of_large_blocks(std::size_t bytes);
  static std::size_t bytes_of_blocks(std::size_t size);
  static void retain_shared(TensorObject* tensor);
  static bool drop_shared(TensorObject* tensor);
  static bool claim_shared(TensorObject* tensor);
  RunTensor* make_block(std::size_t bytes);
  bool make_place(std::size_t size, std::size_t room);
  void free_tensor(RunTensor* tensor);
  void free_kept();

  TensorHeap& heap_;
  std::array<RunTensor*, kSizes> free_{};
  std::size_t kept_ = 0;  ///< bytes of the blocks that are free
};

}  // namespace hiaton
