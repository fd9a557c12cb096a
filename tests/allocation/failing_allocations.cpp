// Where a sanitizer has its own malloc, only operator new is replaced. Else all functions that allocate are,
// in front of those of the C library.
#include "allocation/failing_allocations.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <new>

#include "base/borrowed_pool.h"
#include "tensor/small_objects.h"

namespace {

constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

std::atomic<int64_t> live{0};
std::atomic<uint64_t> count{0};
std::atomic<uint64_t> fails_at{kNever};
std::atomic<bool> fails_forever{false};

bool is_refused() {
  const uint64_t nth = fails_at.load();
  if (nth == kNever) return false;
  const uint64_t number = count.fetch_add(1) + 1;
  return number == nth || (number > nth && fails_forever.load());
}

}  // namespace

namespace hiaton::testing {

FailingAllocations::FailingAllocations(uint64_t nth, Shortage shortage) {
  count.store(0);
  fails_forever.store(shortage == Shortage::Forever);
  fails_at.store(nth);
}

FailingAllocations::~FailingAllocations() {
  fails_at.store(kNever);
}

bool FailingAllocations::has_failed() const {
  return count.load() >= fails_at.load();
}

int64_t live_allocations() {
  end_idle_pools();
  free_kept_objects();
  return live.load();
}

}  // namespace hiaton::testing

#if defined(HIATON_SANITIZED)

namespace {

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (is_refused()) throw std::bad_alloc();
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  ++live;
  return memory;
}

void release(void* memory) {
  if (memory != nullptr) --live;
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) {
  return allocate(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept try {
  return operator new(bytes);
} catch (const std::bad_alloc&) {
  return nullptr;
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  release(memory);
}

#else

extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the C library calls them so
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t number, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* memory);
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

void* malloc(std::size_t bytes) {
  if (is_refused()) {
    errno = ENOMEM;
    return nullptr;
  }
  ++live;
  return __libc_malloc(bytes);
}

void* calloc(std::size_t number, std::size_t bytes) {
  if (is_refused()) {
    errno = ENOMEM;
    return nullptr;
  }
  ++live;
  return __libc_calloc(number, bytes);
}

void* realloc(void* memory, std::size_t bytes) {
  if (is_refused()) {
    errno = ENOMEM;
    return nullptr;
  }
  if (memory == nullptr) ++live;
  return __libc_realloc(memory, bytes);
}

void* memalign(std::size_t alignment, std::size_t bytes) {
  if (is_refused()) {
    errno = ENOMEM;
    return nullptr;
  }
  ++live;
  return __libc_memalign(alignment, bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return memalign(alignment, bytes);
}

int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  *memory = memalign(alignment, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}

void free(void* memory) {
  if (memory != nullptr) --live;
  __libc_free(memory);
}
}

#endif
