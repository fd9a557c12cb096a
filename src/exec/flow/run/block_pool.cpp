#include "exec/flow/run/block_pool.h"

#include <bit>
#include <utility>

#include "tensor/memory.h"

namespace hiaton::exec::flow {
namespace {

constexpr std::size_t kSteps = 4;
constexpr std::size_t kSmallest = 256;

std::size_t element_bytes(const TensorObject& object) {
  std::size_t bytes = size_of(object.dtype);
  for (std::size_t i = 0; i < object.rank; ++i) bytes *= static_cast<std::size_t>(object.dims[i]);
  return bytes;
}

/// Blocks that are free hang together by the begin of their elements, so that giving one back takes no
/// memory.
TensorObject*& next_free(const TensorObject& block) {
  return *reinterpret_cast<TensorObject**>(block.elements);
}

}  // namespace

std::size_t BlockPool::class_of(std::size_t bytes) {
  const std::size_t units = std::max<std::size_t>(bytes, 1) - 1;
  const auto power = static_cast<std::size_t>(std::bit_width(units / kSmallest));
  if (power == 0) return 0;
  const std::size_t base = kSmallest << (power - 1);
  return 1 + (power - 1) * kSteps + (units - base) * kSteps / base;
}

std::size_t BlockPool::bytes_of(std::size_t size_class) {
  if (size_class == 0) return kSmallest;
  const std::size_t base = kSmallest << ((size_class - 1) / kSteps);
  return base + base / kSteps * ((size_class - 1) % kSteps + 1);
}

TensorObject* BlockPool::make(DType dtype, int64_t instances, std::span<const int64_t> dims) {
  std::size_t bytes = size_of(dtype) * static_cast<std::size_t>(instances);
  for (int64_t dim : dims) bytes *= static_cast<std::size_t>(dim);
  const std::size_t size_class = class_of(bytes);
  TensorObject* object = nullptr;
  if (free_[size_class] == nullptr) {
    object = make_block(bytes_of(size_class));
  } else {
    object = free_[size_class];
    free_[size_class] = next_free(*object);
  }
  object->references.store(1, std::memory_order_relaxed);
  object->dtype = dtype;
  object->rank = static_cast<uint8_t>(dims.size() + 1);
  object->dims[0] = instances;
  for (std::size_t i = 0; i < dims.size(); ++i) object->dims[i + 1] = dims[i];
  return object;
}

/// Where the budget has no room for it, blocks of other sizes go.
TensorObject* BlockPool::make_block(std::size_t bytes) {
  const auto room = static_cast<int64_t>(bytes);
  const auto make = [&] { return Tensor::uninitialized(DType::Bool, std::span(&room, 1)).detach(); };
  TensorObject* object = nullptr;
  try {
    object = make();
  } catch (const OverBudget&) {
    free_all();
    object = make();
  }
  object->pool = this;
  object->is_batch = true;
  bytes_ += bytes;
  return object;
}

void BlockPool::take_back(TensorObject* object) {
  const std::size_t size_class = class_of(element_bytes(*object));
  next_free(*object) = free_[size_class];
  free_[size_class] = object;
}

void BlockPool::free_all() {
  for (std::size_t size_class = 0; size_class < kClasses; ++size_class) {
    TensorObject*& first = free_[size_class];
    while (first != nullptr) {
      TensorObject* object = std::exchange(first, next_free(*first));
      object->pool = nullptr;
      object->references.store(1, std::memory_order_relaxed);
      object->dtype = DType::Bool;  // as it was made
      object->rank = 1;
      object->dims[0] = static_cast<int64_t>(bytes_of(size_class));
      bytes_ -= bytes_of(size_class);
      Tensor::release(object);
    }
  }
}

}  // namespace hiaton::exec::flow
