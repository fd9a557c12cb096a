#include "tensor/tensor_heap.h"

#include <bit>
#include <cstdlib>
#include <new>

#include "base/check.h"
#include "tensor/memory.h"

namespace hiaton {
namespace {

constexpr std::size_t kBlockAlignment =
    64;  ///< alignment where there are many elements: a cache line, and the widest vector

bool is_large(std::size_t room) {
  return room >= LargeBlocks::kLeast;
}

std::size_t block_bytes(std::size_t room) {
  return sizeof(RunTensor) + room + (room < kBlockAlignment ? 0 : kBlockAlignment);
}

std::byte* elements_of(RunTensor* block) {
  const auto begin = reinterpret_cast<uintptr_t>(block + 1);
  const std::size_t skipped =
      block->room < kBlockAlignment ? 0 : (kBlockAlignment - begin % kBlockAlignment) % kBlockAlignment;
  return reinterpret_cast<std::byte*>(begin + skipped);
}

}  // namespace

constinit TensorHeap::Mark TensorHeap::runs_mark;

void TensorHeap::Mark::take_back(TensorObject*) {
  HIATON_CHECK(false);  // runs count their tensors themselves
}

TensorHeap::~TensorHeap() {
  while (first_ != nullptr) {
    RunTensor* block = first_;
    first_ = block->next;
    free_memory(block);
  }
  if (large_.use_count() > 1) large_->end();
}

/// Null where there is no memory.
RunTensor* TensorHeap::add(std::size_t room) {
  const std::size_t bytes = block_bytes(room);
  if (!take_bytes_(bytes)) return nullptr;
  std::byte* elements = is_large(room) ? large_->take(room) : nullptr;
  const bool is_full = is_large(room) && elements == nullptr;
  void* memory = is_full ? nullptr : std::malloc(is_large(room) ? sizeof(RunTensor) : bytes);
  if (memory == nullptr) {
    if (elements != nullptr) large_->give(elements, room);
    give_bytes_(bytes);
    return nullptr;
  }
  auto* block = new (memory) RunTensor;
  block->heap = this;
  block->room = room;
  block->pool = mark();
  block->elements = elements != nullptr ? elements : elements_of(block);
  const std::lock_guard lock(mutex_);
  block->next = first_;
  if (first_ != nullptr) first_->before = block;
  first_ = block;
  return block;
}

/// The caller holds the lock.
void TensorHeap::unlink(RunTensor* block) {
  (block->before == nullptr ? first_ : block->before->next) = block->next;
  if (block->next != nullptr) block->next->before = block->before;
}

void TensorHeap::remove(RunTensor* block) {
  {
    const std::lock_guard lock(mutex_);
    unlink(block);
  }
  free_unlinked(block);
}

void TensorHeap::free_unlinked(RunTensor* block) {
  const std::size_t bytes = block_bytes(block->room);
  free_memory(block);
  give_bytes_(bytes);
}

void TensorHeap::free_memory(RunTensor* block) {
  if (is_large(block->room)) large_->give(block->elements, block->room);
  block->~RunTensor();
  std::free(block);
}

void TensorHeap::give_out(TensorObject* tensor) {
  if (!is_of_run(tensor)) {
    tensor->references.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  auto* block = static_cast<RunTensor*>(tensor);
  if (block->is_view) {
    give_out(block->base);
    block->owner =
        std::shared_ptr<const void>(block->base, [](TensorObject* base) { Tensor::release(base); });
  }
  {
    const std::lock_guard lock(block->heap->mutex_);
    block->heap->unlink(block);
  }
  block->heap->give_bytes_(block_bytes(block->room));
  if (is_large(block->room)) {
    block->owner = block->heap->large_->counted_owner(block->elements, block->room);
    block->is_view = true;
  }
  block->pool = nullptr;
  block->references.store(1, std::memory_order_relaxed);
  note_memory(counted_bytes(*block));
}

void TensorHeap::forget_tensors() {
  const std::lock_guard lock(mutex_);
  for (RunTensor* block = first_; block != nullptr;) {
    RunTensor* next = block->next;
    if (block->references.load(std::memory_order_relaxed) != 0) {
      unlink(block);
      free_unlinked(block);
    }
    block = next;
  }
}

uint64_t TensorHeap::count_tensors() {
  uint64_t count = 0;
  visit_tensors([&](RunTensor*) { ++count; });
  return count;
}

void TensorHeap::visit_tensors(const std::function<void(RunTensor*)>& visit) {
  const std::lock_guard lock(mutex_);
  for (RunTensor* block = first_; block != nullptr; block = block->next) {
    if (block->references.load(std::memory_order_relaxed) != 0) visit(block);
  }
}

// --- The tensors of a worker -----------------------------------------------------------------------------

std::size_t TensorCells::size_of_large_blocks(std::size_t bytes) {
  constexpr std::size_t kLargestExact = (kExactSizes - 1) * kStep;
  const std::size_t units = (bytes - 1) / kLargestExact;
  const auto power = static_cast<std::size_t>(std::bit_width(units)) - 1;
  const std::size_t begin = kLargestExact << power;
  return kExactSizes + 4 * power + (bytes - 1 - begin) * 4 / begin;
}

/// The room of blocks that are kept.
std::size_t TensorCells::bytes_of_blocks(std::size_t size) {
  if (size < kExactSizes) return size * kStep;
  const std::size_t begin = (kExactSizes - 1) * kStep << (size - kExactSizes) / 4;
  return begin + begin / 4 * ((size - kExactSizes) % 4 + 1);
}

RunTensor* TensorCells::make_block(std::size_t bytes) {
  const std::size_t size = size_of_blocks(bytes);
  const std::size_t room = size < kSizes ? bytes_of_blocks(size) : bytes;
  RunTensor* block = heap_.add(room);
  if (block == nullptr && kept_ > 0) {
    free_kept();
    block = heap_.add(room);
  }
  return block;
}

void TensorCells::free_kept() {
  for (RunTensor*& first : free_) {
    while (first != nullptr) {
      RunTensor* block = first;
      first = block->next_free;
      heap_.remove(block);
    }
  }
  kept_ = 0;
}

/// Frees larger blocks that are kept until there is a place for one of this size: a program has more of the
/// small ones, and each costs as much to take from the system. False where only as small ones are kept.
bool TensorCells::make_place(std::size_t size, std::size_t room) {
  for (std::size_t larger = kSizes - 1; kept_ + room > kMostKept && larger > size; --larger) {
    while (free_[larger] != nullptr && kept_ + room > kMostKept) {
      RunTensor* block = free_[larger];
      free_[larger] = block->next_free;
      kept_ -= block->room;
      heap_.remove(block);
    }
  }
  return kMostKept > 0 && kept_ + room <= kMostKept;
}

RunTensor* TensorCells::make_view(TensorObject* of, std::span<const int64_t> dims) {
  RunTensor* view = make(of->dtype, dims, 0);
  if (view == nullptr) return nullptr;
  TensorObject* base = of;
  if (of->is_view && TensorHeap::is_of_run(of)) base = static_cast<RunTensor*>(of)->base;
  retain(base);
  view->is_view = true;
  view->base = base;
  view->elements = of->elements;
  return view;
}

void TensorCells::free_tensor(RunTensor* tensor) {
  if (tensor->is_view) {
    tensor->is_view = false;
    tensor->elements = elements_of(tensor);
    release(tensor->base);
  }
  tensor->references.store(0, std::memory_order_relaxed);
  const std::size_t size = size_of_blocks(tensor->room);
  const bool is_over = kMostKept == 0 || kept_ + tensor->room > kMostKept;
  if (size >= kSizes || (is_over && !make_place(size, tensor->room))) [[unlikely]]
    return heap_.remove(tensor);
  tensor->next_free = free_[size];
  free_[size] = tensor;
  kept_ += tensor->room;
}

void TensorCells::retain_shared(TensorObject* tensor) {
  tensor->references.fetch_sub(1, std::memory_order_relaxed);
}

bool TensorCells::drop_shared(TensorObject* tensor) {
  // Acquire and release: what other workers did with the tensor comes before it is freed.
  return tensor->references.load(std::memory_order_acquire) == -1 ||
         tensor->references.fetch_add(1, std::memory_order_acq_rel) == -1;
}

bool TensorCells::claim_shared(TensorObject* tensor) {
  // Pairs with the release of whoever let go of the other references.
  if (tensor->references.load(std::memory_order_acquire) != -1) return false;
  tensor->references.store(1, std::memory_order_relaxed);
  return true;
}

void TensorCells::share(TensorObject* tensor) {
  if (!TensorHeap::is_of_run(tensor)) return;
  const int32_t references = relaxed(tensor);
  if (references > 0) tensor->references.store(-references, std::memory_order_relaxed);
  if (tensor->is_view) share(static_cast<RunTensor*>(tensor)->base);
}

}  // namespace hiaton
