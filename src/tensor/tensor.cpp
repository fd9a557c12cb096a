#include "hiaton/tensor.h"

#include <fmt/format.h>

#include <cstring>
#include <new>
#include <vector>

#include "hiaton/error.h"
#include "hiaton/value.h"
#include "tensor/memory.h"
#include "tensor/small_objects.h"

namespace hiaton {
namespace {

constexpr std::size_t kAlignment = 64;  ///< of many elements: a cache line, and the widest vector

std::size_t bytes_of(DType dtype, std::span<const int64_t> dims) {
  if (dims.size() > kMaxRank) {
    throw ProgramError(fmt::format("expected at most {} dimensions, found {}", kMaxRank, dims.size()));
  }
  std::size_t bytes = size_of(dtype);
  for (int64_t dim : dims) {
    if (dim < 0) throw ProgramError(fmt::format("expected dimensions of 0 or more, found {}", dim));
    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(dim), &bytes) || bytes > SIZE_MAX / 4) {
      throw ProgramError("a tensor is too large for the memory of this machine");
    }
  }
  return bytes;
}

/// Counted by the meter of the thread.
void* allocate(std::size_t bytes) {
  take_memory(heap_bytes(bytes));
  try {
    return allocate_object(bytes);
  } catch (const std::bad_alloc&) {
    give_memory(heap_bytes(bytes));
    throw;
  }
}

void deallocate(void* memory, std::size_t bytes) {
  free_object(memory, bytes);
  give_memory(heap_bytes(bytes));
}

/// Of elements that take a cache line or more.
constexpr std::size_t room_to_align(std::size_t element_bytes) {
  return element_bytes < kAlignment ? 0 : kAlignment;
}

// Not aligned_alloc: it takes several times as long for small tensors.
std::size_t object_bytes(std::size_t element_bytes) {
  return sizeof(TensorObject) + room_to_align(element_bytes) + element_bytes;
}

/// Of elements that stand behind the header.
std::byte* own_elements(const void* object, std::size_t element_bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(object) + sizeof(TensorObject);
  const std::size_t skipped =
      room_to_align(element_bytes) == 0 ? 0 : (kAlignment - begin % kAlignment) % kAlignment;
  return reinterpret_cast<std::byte*>(begin + skipped);
}

std::size_t object_bytes(const TensorObject& object) {
  return object_bytes(object.is_view ? 0 : bytes_of(object.dtype, {object.dims.data(), object.rank}));
}

TensorObject* make_object(DType dtype, std::span<const int64_t> dims, std::size_t element_bytes) {
  void* memory = allocate(object_bytes(element_bytes));
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

void Tensor::free(TensorObject* object) {
  const std::size_t bytes = object_bytes(*object);
  object->~TensorObject();
  deallocate(object, bytes);
}

bool operator==(const Tensor& a, const Tensor& b) {
  if (a.object_ == b.object_) return true;
  if (!a || !b || a.dtype() != b.dtype() ||
      !std::equal(a.dims().begin(), a.dims().end(), b.dims().begin(), b.dims().end())) {
    return false;
  }
  return std::memcmp(a.data<std::byte>(), b.data<std::byte>(),
                     static_cast<std::size_t>(a.size()) * size_of(a.dtype())) == 0;
}

namespace {

std::size_t data_bytes(std::size_t field_count) {
  return sizeof(DataObject) + field_count * sizeof(Value);
}

}  // namespace

Data Data::with_zeros(uint32_t variant, std::size_t field_count) {
  static_assert(alignof(Value) <= alignof(std::max_align_t) && sizeof(DataObject) % alignof(Value) == 0);
  auto* object = new (allocate(data_bytes(field_count))) DataObject;
  object->variant = variant;
  object->field_count = static_cast<uint32_t>(field_count);
  auto* first = reinterpret_cast<Value*>(object + 1);
  for (std::size_t i = 0; i < field_count; ++i) new (first + i) Value();
  return Data(object);
}

Data::Data(uint32_t variant, std::span<const Value> fields) : Data(with_zeros(variant, fields.size())) {
  std::copy(fields.begin(), fields.end(), mutable_fields());
}

Data::Data(uint32_t variant, std::initializer_list<Value> fields)
    : Data(variant, std::span<const Value>(fields.begin(), fields.size())) {}

namespace {

void free_data(DataObject* object) {
  const std::size_t bytes = data_bytes(object->field_count);
  object->~DataObject();
  deallocate(object, bytes);
}

}  // namespace

/// Takes no memory: a data value that nobody refers to any more counts in `variant` the fields it has let go
/// of, and while one of them is being freed, keeps in its place the data value that waits for itself.
void Data::free(DataObject* object) {
  DataObject* outer = nullptr;
  object->variant = 0;
  while (true) {
    auto* fields = reinterpret_cast<Value*>(object + 1);
    if (object->variant == object->field_count) {
      free_data(object);
      if (outer == nullptr) return;
      object = outer;
      outer = reinterpret_cast<Value*>(object + 1)[object->variant++].slot().data;
      continue;
    }
    Value& field = fields[object->variant];
    DataObject* inner = field.is_data() ? field.detach().data : nullptr;
    field.~Value();
    if (inner == nullptr || !drop_reference(inner->references)) {
      ++object->variant;
      continue;
    }
    if (object->variant + 1 == object->field_count) {
      free_data(object);  // nothing of it is left: a list is freed from its begin to its end
    } else {
      Slot waiting;
      waiting.data = outer;
      new (&field) Value(DType::I64, waiting);
      outer = object;
    }
    object = inner;
    object->variant = 0;
  }
}

bool operator==(const Data& a, const Data& b) {
  std::vector<std::pair<const DataObject*, const DataObject*>> pairs{{a.object_, b.object_}};
  while (!pairs.empty()) {
    const auto [x, y] = pairs.back();
    pairs.pop_back();
    if (x == y) continue;
    if (x == nullptr || y == nullptr || x->variant != y->variant || x->field_count != y->field_count)
      return false;
    for (uint32_t i = 0; i < x->field_count; ++i) {
      const Value& left = x->fields()[i];
      const Value& right = y->fields()[i];
      if (left.is_data() && right.is_data()) {
        pairs.emplace_back(left.slot().data, right.slot().data);
      } else if (left != right) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace hiaton
