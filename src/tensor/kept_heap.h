// The memory of data values that a run leaves for the next one.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>

#include "tensor/data_heap.h"

namespace hiaton {

/// Keeps the heap of one run for another: to get memory from the system and to give it back takes far longer
/// than a short run. Heaps that are larger than what such a run takes are not kept. May be used by several
/// runs at the same time.
class KeptHeap {
 public:
  /// What becomes of a heap where its run lets go of it.
  struct LetGo {
    KeptHeap* keeper = nullptr;  ///< null: it is left
    void operator()(DataHeap* heap) const {
      if (keeper != nullptr && heap->rest()) heap = keeper->heap_.exchange(heap);
      if (heap != nullptr) heap->leave();
    }
  };
  using Lent = std::unique_ptr<DataHeap, LetGo>;

  KeptHeap() = default;
  KeptHeap(const KeptHeap&) = delete;
  ~KeptHeap() { const Lent last(heap_.load()); }

  /// The heap that was kept, or a new one: where there is none, or values of the run before are still
  /// outside.
  Lent take(const std::function<bool(std::size_t)>& take_bytes) {
    Lent kept(heap_.exchange(nullptr));
    if (kept != nullptr && kept->begin_again(take_bytes)) return kept;
    return Lent(DataHeap::make(take_bytes));
  }

 private:
  std::atomic<DataHeap*> heap_{nullptr};
};

}  // namespace hiaton
