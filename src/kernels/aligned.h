// Memory for kernels that work on whole cache lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace hiaton::kernels {

constexpr int64_t kCacheLine = 64;

/// Uninitialized memory for numbers, beginning at a cache line.
template <class T>
class AlignedBuffer {
 public:
  /// Makes room for `size` elements; keeps no contents, and the memory where it is already large enough.
  void reserve(int64_t size) {
    if (size <= capacity_) return;
    memory_.reset();
    capacity_ = 0;
    memory_.reset(static_cast<T*>(::operator new(static_cast<size_t>(size) * sizeof(T), kAlignment)));
    capacity_ = size;
  }
  T* data() { return memory_.get(); }
  const T* data() const { return memory_.get(); }

 private:
  static constexpr std::align_val_t kAlignment{kCacheLine};
  struct Release {
    void operator()(T* memory) const { ::operator delete(memory, kAlignment); }
  };
  std::unique_ptr<T, Release> memory_;
  int64_t capacity_ = 0;
};

}  // namespace hiaton::kernels
