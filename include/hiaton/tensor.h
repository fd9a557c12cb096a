// Tensors. Immutable once shared, counted.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>

#include "hiaton/type.h"

#pragma GCC visibility push(default)
namespace hiaton {

/// How many dimensions a tensor may have.
inline constexpr std::size_t kMaxRank = 8;

struct TensorObject;

/// Whether it was the last one. Who alone holds a reference needs no atomic operation.
inline bool drop_reference(std::atomic<int32_t>& references) {
  return references.load(std::memory_order_acquire) == 1 ||
         references.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

/// Takes tensors back that nobody refers to any more, to use their memory again. Only one thread at a time
/// refers to them.
class TensorPool {
 public:
  virtual ~TensorPool() = default;
  virtual void take_back(TensorObject* object) = 0;
};

/// What a Tensor points to. Elements stand in row-major order.
struct TensorObject {
  std::atomic<int32_t> references{1};
  DType dtype = DType::F32;
  uint8_t rank = 0;
  bool is_batch = false;                     ///< the first dimension counts instances of a batch
  bool is_view = false;                      ///< the elements stand elsewhere, not behind this
  std::array<int64_t, kMaxRank + 1> dims{};  ///< a block has one more than its instances
  std::byte* elements = nullptr;
  std::shared_ptr<const void> owner;  ///< owns the elements of a view; null: nobody here does
  TensorPool* pool = nullptr;         ///< the pool that takes it back; null: its memory is freed
};

/// A reference to a tensor of rank 1 or more. Copies share the elements.
class Tensor {
 public:
  Tensor() = default;
  /// All elements zero. Throws ProgramError where a dimension is negative, the rank is above kMaxRank or the
  /// bytes are too many to be counted, and std::bad_alloc where memory does not suffice.
  Tensor(DType dtype, std::span<const int64_t> dims);
  Tensor(DType dtype, std::initializer_list<int64_t> dims)
      : Tensor(dtype, std::span(dims.begin(), dims.size())) {}
  /// Elements of any value, to be written before they are read.
  static Tensor uninitialized(DType dtype, std::span<const int64_t> dims);
  /// Elements that stand elsewhere and that `owner` keeps alive. They stay as they are while a tensor refers
  /// to them: runs keep what they have packed of a parameter.
  Tensor(DType dtype, std::span<const int64_t> dims, std::byte* elements, std::shared_ptr<const void> owner);
  /// Takes over one reference.
  static Tensor adopt(TensorObject* object) { return Tensor(object); }

  Tensor(const Tensor& other) : object_(other.object_) {
    if (object_ != nullptr) retain(object_);
  }
  Tensor(Tensor&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Tensor& operator=(Tensor other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Tensor() { release(object_); }

  explicit operator bool() const { return object_ != nullptr; }
  DType dtype() const { return object_->dtype; }
  std::span<const int64_t> dims() const { return {object_->dims.data(), object_->rank}; }
  int64_t size() const;
  Type type() const;
  /// The elements, in row-major order. T is their C++ type, as int64_t of i64, or std::byte. Throws
  /// ProgramError where it is another one.
  template <class T>
  const T* data() const {
    require_elements<T>();
    return reinterpret_cast<const T*>(object_->elements);
  }
  /// The same for whoever makes the tensor, before anyone else sees it.
  template <class T>
  T* mutable_data() {
    require_elements<T>();
    return reinterpret_cast<T*>(object_->elements);
  }
  TensorObject* object() const { return object_; }
  /// Gives up its reference without letting go.
  TensorObject* detach() { return std::exchange(object_, nullptr); }

  static void retain(TensorObject* object) {
    if (object->pool == nullptr) {
      object->references.fetch_add(1, std::memory_order_relaxed);
    } else {
      const int32_t references = object->references.load(std::memory_order_relaxed);
      object->references.store(references + 1, std::memory_order_relaxed);
    }
  }
  static void release(TensorObject* object) {
    if (object == nullptr) return;
    if (object->pool == nullptr) {
      if (drop_reference(object->references)) free(object);
      return;
    }
    const int32_t others = object->references.load(std::memory_order_relaxed) - 1;
    object->references.store(others, std::memory_order_relaxed);
    if (others == 0) object->pool->take_back(object);
  }

  /// Same type and the same bits.
  friend bool operator==(const Tensor& a, const Tensor& b);

 private:
  explicit Tensor(TensorObject* object) : object_(object) {}
  template <class T>
  void require_elements() const {
    if constexpr (!std::same_as<T, std::byte>) {
      if (object_->dtype != dtype_of<T>()) refuse_elements(dtype_of<T>());
    }
  }
  [[noreturn]] void refuse_elements(DType asked) const;
  static void free(TensorObject* object);
  TensorObject* object_ = nullptr;
};

/// The size of an element in bytes.
constexpr std::size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::Bool:
    case DType::U8:
      return 1;
    case DType::I32:
    case DType::F32:
      return 4;
    case DType::I64:
    case DType::F64:
      return 8;
  }
  return 8;
}

}  // namespace hiaton
#pragma GCC visibility pop
