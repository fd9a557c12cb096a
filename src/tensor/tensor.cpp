#include "hiaton/tensor.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <new>
#include <optional>
#include <vector>

#include "base/product_of_sizes.h"
#include "hiaton/error.h"
#include "hiaton/value.h"
#include "tensor/memory.h"
#include "tensor/small_objects.h"

namespace hiaton {
namespace {

constexpr std::size_t kAlignment =
    64;  ///< alignment where there are many elements: a cache line, and the widest vector

std::size_t bytes_of(DType dtype, std::span<const int64_t> dims) {
  if (dims.size() > kMaxRank) {
    throw ProgramError(fmt::format("expected at most {} dimensions, found {}", kMaxRank, dims.size()));
  }
  for (const int64_t dim : dims) {
    if (dim < 0) throw ProgramError(fmt::format("expected dimensions of 0 or more, found {}", dim));
  }
  const std::optional<std::size_t> bytes = product_of_sizes(size_of(dtype), dims, SIZE_MAX / 4);
  if (!bytes) throw ProgramError("a tensor is too large for the memory of this machine");
  return *bytes;
}

/// The bytes that aligning takes; only elements of a cache line or more are aligned.
constexpr std::size_t room_to_align(std::size_t element_bytes) {
  return element_bytes < kAlignment ? 0 : kAlignment;
}

// Not aligned_alloc: it takes several times as long for small tensors.
std::size_t object_bytes(std::size_t element_bytes) {
  return sizeof(TensorObject) + room_to_align(element_bytes) + element_bytes;
}

/// Returns where elements begin that stand behind the header.
std::byte* own_elements(const void* object, std::size_t element_bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(object) + sizeof(TensorObject);
  const std::size_t skipped =
      room_to_align(element_bytes) == 0 ? 0 : (kAlignment - begin % kAlignment) % kAlignment;
  return reinterpret_cast<std::byte*>(begin + skipped);
}

/// Its dimensions have been checked.
std::size_t object_bytes(const TensorObject& object) {
  if (object.is_view) return object_bytes(0);
  std::size_t bytes = size_of(object.dtype);
  for (std::size_t i = 0; i < object.rank; ++i) bytes *= static_cast<std::size_t>(object.dims[i]);
  return object_bytes(bytes);
}

/// Asks for huge pages for what a large tensor takes: to touch fresh memory page by page takes longer than
/// many an operation on it.
void advise_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(MADV_HUGEPAGE)
  constexpr std::size_t kWorthIt = std::size_t{8} << 20;
  if (bytes < kWorthIt) return;
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(memory) + page - 1) / page * page;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(memory) + bytes) / page * page;
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // nothing is wrong where it fails
#endif
}

TensorObject* make_object(DType dtype, std::span<const int64_t> dims, std::size_t element_bytes) {
  void* memory = allocate_counted(object_bytes(element_bytes));
  advise_huge_pages(memory, object_bytes(element_bytes));
  auto* object = new (memory) TensorObject;
  object->dtype = dtype;
  object->rank = static_cast<uint8_t>(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) object->dims[i] = dims[i];
  object->elements = own_elements(memory, element_bytes);
  return object;
}

}  // namespace

Tensor::Tensor(DType dtype, std::span<const int64_t> dims) {
  const std::size_t bytes = bytes_of(dtype, dims);
  object_ = make_object(dtype, dims, bytes);
  std::memset(object_->elements, 0, bytes);
}

Tensor Tensor::uninitialized(DType dtype, std::span<const int64_t> dims) {
  return Tensor(make_object(dtype, dims, bytes_of(dtype, dims)));
}

Tensor::Tensor(DType dtype, std::span<const int64_t> dims, std::byte* elements,
               std::shared_ptr<const void> owner) {
  bytes_of(dtype, dims);
  object_ = make_object(dtype, dims, 0);
  object_->is_view = true;
  object_->elements = elements;
  object_->owner = std::move(owner);
}

int64_t Tensor::size() const {
  int64_t size = 1;
  for (int64_t dim : dims()) size *= dim;
  return size;
}

Type Tensor::type() const {
  return tensor_type(dtype(), {dims().begin(), dims().end()});
}

std::size_t counted_bytes(const TensorObject& object) {
  return heap_bytes(object_bytes(object));
}

void Tensor::refuse_elements(DType asked) const {
  throw ProgramError(
      fmt::format("expected a tensor of {}, found one of {}", name_of(asked), name_of(dtype())));
}

void Tensor::free(TensorObject* object) {
  const std::size_t bytes = object_bytes(*object);
  object->~TensorObject();
  free_counted(object, bytes);
}

// A friend that is first declared in its class does not get the visibility of the header.
[[gnu::visibility("default")]] bool operator==(const Tensor& a, const Tensor& b) {
  if (a.object_ == b.object_) return true;
  if (!a || !b || a.dtype() != b.dtype() ||
      !std::equal(a.dims().begin(), a.dims().end(), b.dims().begin(), b.dims().end())) {
    return false;
  }
  return std::memcmp(a.data<std::byte>(), b.data<std::byte>(),
                     static_cast<std::size_t>(a.size()) * size_of(a.dtype())) == 0;
}

}  // namespace hiaton
