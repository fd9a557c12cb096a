#include "exec/direct/run/tensors.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <optional>

#include "base/product_of_sizes.h"
#include "exec/rows_elsewhere.h"
#include "hiaton/value.h"
#include "kernels/launch_helpers.h"

namespace hiaton::exec::direct {
namespace {

std::span<const int64_t> dims_of(const TensorObject& tensor) {
  return {tensor.dims.data(), tensor.rank};
}

/// None: more than any memory has.
std::optional<std::size_t> possible_bytes(DType dtype, std::span<const int64_t> dims) {
  return product_of_sizes(size_of(dtype), dims, uint64_t{1} << 50);
}

TensorArgument argument_of(const TensorOperation::Operand& operand, const Slot* slots) {
  const Slot& slot = slots[operand.slot];
  if (!operand.is_tensor) {
    return {reinterpret_cast<std::byte*>(const_cast<Slot*>(&slot)), {}, operand.dtype, 0};
  }
  return {slot.tensor->elements, dims_of(*slot.tensor), operand.dtype, 0};
}

bool same_dims(const TensorObject& a, const TensorObject& b) {
  return std::ranges::equal(dims_of(a), dims_of(b));
}

/// The number of the element whose place the operands from `first` on tell, in row-major order; none where it
/// is outside of the tensor.
std::optional<std::size_t> index_at(const TensorOperation& operation, std::size_t first,
                                    const TensorObject& tensor, const Slot* slots) {
  int64_t index = 0;
  for (std::size_t axis = 0; axis < tensor.rank; ++axis) {
    int64_t number = slots[operation.operands[first + axis].slot].i64;
    if (operation.from_end && number < 0) number += tensor.dims[axis];
    if (number < 0 || number >= tensor.dims[axis]) return std::nullopt;
    index = index * tensor.dims[axis] + number;
  }
  return static_cast<std::size_t>(index);
}

}  // namespace

Fault TensorMachine::run(const TensorOperation& operation, const Slot* slots, Slot& result) {
  try {
    return run_code(operation, slots, result);
  } catch (const std::bad_alloc&) {
    return Fault::OutOfMemory;
  }
}

Fault TensorMachine::run_code(const TensorOperation& operation, const Slot* slots, Slot& result) {
  switch (operation.code) {
    case TensorOperation::Code::Line:
      return run_line(operation, slots, result);
    case TensorOperation::Code::View:
      return run_view(operation, slots, result);
    case TensorOperation::Code::String:
      return run_string(operation, slots, result);
    case TensorOperation::Code::Element:
      return run_element(operation, slots, result);
    case TensorOperation::Code::SetElement:
      return run_set_element(operation, slots, result);
    case TensorOperation::Code::Append:
      return run_append(operation, slots, result);
    case TensorOperation::Code::DropLast:
      return run_drop_last(operation, slots, result);
    case TensorOperation::Code::Size:
      return run_size(operation, slots, result);
    case TensorOperation::Code::Kernel:
      break;
  }
  return run_kernel(operation, slots, result);
}

/// An operand that nothing reads after this, and nobody else refers to, becomes the result.
Fault TensorMachine::run_line(const TensorOperation& operation, const Slot* slots, Slot& result) {
  const bool binary = operation.operands.size() == 2;
  const TensorOperation::Operand& first = operation.operands[0];
  const TensorOperation::Operand& second = operation.operands[binary ? 1 : 0];
  TensorObject* a = slots[first.slot].tensor;
  TensorObject* b = slots[second.slot].tensor;
  int64_t size = operation.size;
  std::size_t bytes = operation.bytes;
  if (!operation.is_fixed) {
    if (binary && !same_dims(*a, *b)) return run_kernel(operation, slots, result);
    size = 1;
    for (int64_t dim : dims_of(*a)) size *= dim;
    bytes = static_cast<std::size_t>(size) * size_of(operation.type.dtype);
  }
  const bool takes_second = binary && second.takes;
  TensorObject* out = nullptr;
  if (first.takes && TensorCells::may_be_reused(a)) {
    out = a;
  } else if (takes_second && TensorCells::may_be_reused(b)) {
    out = b;
  } else {
    out = cells.make(operation.type.dtype, dims_of(*a), bytes);
    if (out == nullptr) return Fault::OutOfMemory;
  }
  if (size >= kernels::kLeastElements || times_kernels) [[unlikely]] {
    run_large_line(operation, size, {a->elements, b->elements, out->elements});
  } else {
    operation.line(size, a->elements, b->elements, out->elements);
  }
  if (first.takes && out != a) cells.release(a);
  if (takes_second && out != b) cells.release(b);
  result.tensor = out;
  return Fault::None;
}

/// On threads that idle too; takes the time where that is wanted.
void TensorMachine::run_large_line(const TensorOperation& operation, int64_t size,
                                   const std::array<std::byte*, 3>& elements) {
  const auto bytes = static_cast<int64_t>(size_of(operation.type.dtype));
  const auto start = std::chrono::steady_clock::now();
  kernels::in_element_ranges(size, [&](int64_t begin, int64_t end) {
    const auto [a, b, out] = elements;
    operation.line(end - begin, a + begin * bytes, b + begin * bytes, out + begin * bytes);
  });
  if (!times_kernels) return;
  kernel_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Where nobody else refers to the operand, it takes the other shape itself.
Fault TensorMachine::run_view(const TensorOperation& operation, const Slot* slots, Slot& result) {
  const TensorOperation::Operand& operand = operation.operands[0];
  if (!operand.is_tensor) return run_kernel(operation, slots, result);
  Dims dims = operation.dims;
  if (!operation.is_fixed && !find_dims(operation, slots, dims)) return Fault::Shape;
  TensorObject* of = slots[operand.slot].tensor;
  if (operand.takes && TensorCells::may_be_reused(of)) {
    TensorCells::set_shape(of, of->dtype, dims);
    for (std::size_t i = 1; i < operation.operands.size(); ++i) {
      if (operation.operands[i].takes) cells.release(slots[operation.operands[i].slot].tensor);
    }
    result.tensor = of;
    return Fault::None;
  }
  TensorObject* view = cells.make_view(of, dims);
  if (view == nullptr) return Fault::OutOfMemory;
  let_go(operation, slots);
  result.tensor = view;
  return Fault::None;
}

Fault TensorMachine::run_element(const TensorOperation& operation, const Slot* slots, Slot& result) {
  // Rows may stand in other processes, and kernels may be timed.
  if (rows != nullptr || times_kernels) return run_kernel(operation, slots, result);
  const TensorObject& tensor = *slots[operation.operands[0].slot].tensor;
  const std::optional<std::size_t> index = index_at(operation, 1, tensor, slots);
  if (!index) return Fault::Index;
  const std::size_t bytes = size_of(operation.type.dtype);
  Slot out;
  std::memcpy(&out, tensor.elements + *index * bytes, bytes);
  let_go(operation, slots);
  result = out;
  return Fault::None;
}

Fault TensorMachine::run_size(const TensorOperation& operation, const Slot* slots, Slot& result) {
  Slot size;
  size.i64 = slots[operation.operands[0].slot].tensor->dims[operation.axis];
  let_go(operation, slots);
  result = size;
  return Fault::None;
}

Fault TensorMachine::run_set_element(const TensorOperation& operation, const Slot* slots, Slot& result) {
  TensorObject* tensor = times_kernels ? nullptr : updated(operation, slots);
  if (tensor == nullptr) return run_kernel(operation, slots, result);
  const std::optional<std::size_t> index = index_at(operation, 2, *tensor, slots);
  if (!index) return Fault::Index;
  const std::size_t bytes = size_of(operation.type.dtype);
  std::memcpy(tensor->elements + *index * bytes, &slots[operation.operands[1].slot], bytes);
  result.tensor = tensor;
  return Fault::None;
}

/// Tensors that grow get room for as many rows again, so that each row is moved once or twice on the whole;
/// where the memory does not hold that, for one row more.
Fault TensorMachine::run_append(const TensorOperation& operation, const Slot* slots, Slot& result) {
  TensorObject* tensor = slots[operation.operands[0].slot].tensor;
  const TensorArgument row = argument_of(operation.operands[1], slots);
  if (!std::ranges::equal(dims_of(*tensor).subspan(1), row.dims)) return Fault::Shape;
  const std::size_t row_bytes = static_cast<std::size_t>(row.size()) * size_of(row.dtype);
  const std::size_t used = static_cast<std::size_t>(tensor->dims[0]) * row_bytes;
  TensorObject* grown = updated(operation, slots);
  if (grown != nullptr && static_cast<RunTensor*>(grown)->room - used >= row_bytes) {
    ++grown->dims[0];
  } else {
    std::array<int64_t, kMaxRank + 1> dims = tensor->dims;
    ++dims[0];
    for (const std::size_t factor : {2, 1}) {
      grown = cells.make(tensor->dtype, {dims.data(), tensor->rank}, factor * (used + row_bytes));
      if (grown != nullptr) break;
    }
    if (grown == nullptr) return Fault::OutOfMemory;
    std::memcpy(grown->elements, tensor->elements, used);
  }
  std::memcpy(grown->elements + used, row.elements, row_bytes);
  let_go(operation, slots, grown);
  result.tensor = grown;
  return Fault::None;
}

Fault TensorMachine::run_drop_last(const TensorOperation& operation, const Slot* slots, Slot& result) {
  const TensorObject* tensor = slots[operation.operands[0].slot].tensor;
  if (tensor->dims[0] == 0) return Fault::Index;
  TensorObject* shorter = updated(operation, slots);
  if (shorter == nullptr) {
    shorter = cells.make_view(slots[operation.operands[0].slot].tensor, dims_of(*tensor));
    if (shorter == nullptr) return Fault::OutOfMemory;
  }
  --shorter->dims[0];
  let_go(operation, slots, shorter);
  result.tensor = shorter;
  return Fault::None;
}

TensorObject* TensorMachine::updated(const TensorOperation& operation, const Slot* slots) {
  const TensorOperation::Operand& first = operation.operands[0];
  if (!operation.op->may_be_in_place() || !first.takes) return nullptr;
  TensorObject* tensor = slots[first.slot].tensor;
  for (std::size_t i = 1; i < operation.operands.size(); ++i) {
    const TensorOperation::Operand& other = operation.operands[i];
    if (other.is_tensor && slots[other.slot].tensor == tensor) return nullptr;
  }
  return TensorCells::may_be_reused(tensor) ? tensor : nullptr;
}

Fault TensorMachine::run_kernel(const TensorOperation& operation, const Slot* slots, Slot& result) {
  constexpr std::size_t kFew = 4;
  std::array<TensorArgument, kFew> few;
  std::vector<TensorArgument> many;
  const std::size_t count = operation.operands.size();
  if (count > kFew) many.resize(count);
  TensorArgument* arguments = count > kFew ? many.data() : few.data();
  for (std::size_t i = 0; i < count; ++i) arguments[i] = argument_of(operation.operands[i], slots);
  KernelCall call{operation.op, {arguments, count}, {}, operation.attributes, 1, operation.overflow};
  if (operation.type.is_scalar()) {
    // Where only the run knows the operands' shapes, the type rule checks them.
    Dims none;
    if (!operation.is_fixed && !find_dims(operation, slots, none)) return Fault::Shape;
    Slot out;
    call.result = {reinterpret_cast<std::byte*>(&out), {}, operation.type.dtype, 0};
    const Fault fault = timed(call);
    if (fault != Fault::None) return fault;
    let_go(operation, slots);
    result = out;
    return Fault::None;
  }
  Dims dims = operation.dims;
  std::size_t bytes = operation.bytes;
  if (!operation.is_fixed) {
    if (!find_dims(operation, slots, dims)) return Fault::Shape;
    const std::optional<std::size_t> possible = possible_bytes(operation.type.dtype, dims);
    if (!possible) return Fault::OutOfMemory;
    bytes = *possible;
  }
  TensorObject* updated = TensorMachine::updated(operation, slots);
  TensorObject* made = updated != nullptr ? updated : cells.make(operation.type.dtype, dims, bytes);
  if (made == nullptr) return Fault::OutOfMemory;
  call.result = {made->elements, dims_of(*made), operation.type.dtype, 0};
  const Fault fault = timed(call);
  if (fault != Fault::None) {
    if (updated == nullptr) cells.release(made);
    return fault;
  }
  let_go(operation, slots, updated);
  result.tensor = made;
  return Fault::None;
}

Fault TensorMachine::timed(const KernelCall& call) {
  if (!times_kernels) return run_tensor_kernel(call, rows);
  const auto start = std::chrono::steady_clock::now();
  const Fault fault = run_tensor_kernel(call, rows);
  kernel_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return fault;
}

/// The dimensions of the result, as the type rule says; they stay valid until the next call. False: the
/// operands do not go together.
bool TensorMachine::find_dims(const TensorOperation& operation, const Slot* slots, Dims& dims) {
  uint64_t hash = operation.number;
  std::size_t count = 0;
  for (const TensorOperation::Operand& operand : operation.operands) {
    if (!operand.is_tensor) continue;
    for (int64_t dim : dims_of(*slots[operand.slot].tensor)) {
      hash = (hash ^ static_cast<uint64_t>(dim)) * 0x9E3779B97F4A7C15;
      ++count;
    }
  }
  const bool fits = count <= KnownShape::kMostDims;
  if (shapes_ == nullptr) shapes_ = std::make_unique<KnownShapes>();
  ShapeSet& set = (*shapes_)[hash >> 57];
  if (fits) {
    for (std::size_t i = 0; i < ShapeSet::kSize; ++i) {
      if (set.hashes[i] != hash || !is_of(set.shapes[i], operation, slots, count)) continue;
      dims = {set.shapes[i].dims.data(), set.shapes[i].rank};
      return true;
    }
  }
  std::vector<Type> types;
  for (const TensorOperation::Operand& operand : operation.operands) {
    if (!operand.is_tensor) {
      types.emplace_back(operand.dtype);
      continue;
    }
    const Dims of = dims_of(*slots[operand.slot].tensor);
    types.push_back(tensor_type(operand.dtype, {of.begin(), of.end()}));
  }
  Type type;
  try {
    type = operation.op->type_rule.value({types, operation.attributes, &operation.type});
  } catch (const ProgramError&) {
    return false;
  }
  if (!is_fixed(type) || type.shape.size() > kMaxRank) return false;
  const uint32_t place = set.next++ % ShapeSet::kSize;
  KnownShape& found = fits ? set.shapes[place] : not_kept_;
  found.rank = static_cast<uint8_t>(type.shape.size());
  for (std::size_t i = 0; i < type.shape.size(); ++i) found.dims[i] = type.shape[i].size;
  dims = {found.dims.data(), found.rank};
  if (!fits) return true;
  set.hashes[place] = hash;
  found.operation = operation.number;
  found.count = static_cast<uint8_t>(count);
  int64_t* to = found.operands.data();
  for (const TensorOperation::Operand& operand : operation.operands) {
    if (operand.is_tensor) to = std::ranges::copy(dims_of(*slots[operand.slot].tensor), to).out;
  }
  return true;
}

bool TensorMachine::is_of(const KnownShape& known, const TensorOperation& operation, const Slot* slots,
                          std::size_t count) {
  if (known.operation != operation.number || known.count != count) return false;
  const int64_t* expected = known.operands.data();
  for (const TensorOperation::Operand& operand : operation.operands) {
    if (!operand.is_tensor) continue;
    for (int64_t dim : dims_of(*slots[operand.slot].tensor)) {
      if (dim != *expected++) return false;
    }
  }
  return true;
}

void TensorMachine::let_go(const TensorOperation& operation, const Slot* slots, const TensorObject* kept) {
  for (const TensorOperation::Operand& operand : operation.operands) {
    if (operand.takes && slots[operand.slot].tensor != kept) cells.release(slots[operand.slot].tensor);
  }
}

}  // namespace hiaton::exec::direct
