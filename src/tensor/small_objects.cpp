#include "tensor/small_objects.h"

#include <pthread.h>

#include <array>
#include <cstdlib>
#include <new>
#include <utility>

#include "tensor/memory.h"

namespace hiaton {
namespace {

/// A piece that is free.
struct FreePiece {
  FreePiece* next;
};

constexpr std::size_t kSizes = 17;  ///< in steps of the heap: up to 256 bytes

// A sanitizer is to see whoever uses a piece that is free.
#if defined(HIATON_SANITIZED)
constexpr std::size_t kMostKept = 0;
#else
constexpr std::size_t kMostKept = kMostBytesKept;
#endif

struct Kept {
  std::array<FreePiece*, kSizes> pieces;
  std::size_t bytes;
  bool is_freed_at_exit;
};
constinit thread_local Kept kept{};

constinit pthread_key_t key = 0;
constinit bool has_key = false;

/// Frees what a thread keeps when it ends. Not the destructor of a thread_local: to register that takes
/// memory, and where there is none, the C library ends the process.
struct KeyOfThreads {
  KeyOfThreads() {
    has_key = pthread_key_create(&key, [](void*) { free_kept_objects(); }) == 0;
  }
  KeyOfThreads(const KeyOfThreads&) = delete;
  KeyOfThreads& operator=(const KeyOfThreads&) = delete;
  ~KeyOfThreads() {
    free_kept_objects();
    if (std::exchange(has_key, false)) pthread_key_delete(key);
  }
};
const KeyOfThreads key_of_threads;

bool may_keep(std::size_t bytes) noexcept {
  if (kept.bytes + bytes > kMostKept) return false;
  if (!kept.is_freed_at_exit) kept.is_freed_at_exit = has_key && pthread_setspecific(key, &kept) == 0;
  return kept.is_freed_at_exit;
}

}  // namespace

void* allocate_object(std::size_t bytes) {
  const std::size_t whole = heap_bytes(bytes);
  const std::size_t size = whole / kHeapStep;
  const bool is_small = size < kSizes;
  if (is_small && kept.pieces[size] != nullptr) {
    kept.bytes -= whole;
    return std::exchange(kept.pieces[size], kept.pieces[size]->next);
  }
  void* memory = std::malloc(is_small ? whole - kHeapHeader : bytes);  // room for all of this size
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void free_object(void* memory, std::size_t bytes) noexcept {
  const std::size_t whole = heap_bytes(bytes);
  const std::size_t size = whole / kHeapStep;
  if (size >= kSizes || !may_keep(whole)) return std::free(memory);
  kept.pieces[size] = new (memory) FreePiece{kept.pieces[size]};
  kept.bytes += whole;
}

void* allocate_counted(std::size_t bytes) {
  take_memory(heap_bytes(bytes));
  try {
    return allocate_object(bytes);
  } catch (const std::bad_alloc&) {
    give_memory(heap_bytes(bytes));
    throw;
  }
}

void free_counted(void* memory, std::size_t bytes) noexcept {
  free_object(memory, bytes);
  give_memory(heap_bytes(bytes));
}

std::size_t bytes_kept() noexcept {
  return kept.bytes;
}

void free_kept_objects() noexcept {
  for (FreePiece*& first : kept.pieces) {
    while (first != nullptr) std::free(std::exchange(first, first->next));
  }
  kept.bytes = 0;
  kept.is_freed_at_exit = false;
}

}  // namespace hiaton
