#include <array>

#include "ops/family.h"

namespace hiaton::ops {
namespace {

Slot load(const std::byte* elements, DType dtype, int64_t index) {
  switch (dtype) {
    case DType::Bool:
      return make_slot(reinterpret_cast<const bool*>(elements)[index]);
    case DType::I32:
      return make_slot(reinterpret_cast<const int32_t*>(elements)[index]);
    case DType::I64:
      return make_slot(reinterpret_cast<const int64_t*>(elements)[index]);
    case DType::F32:
      return make_slot(reinterpret_cast<const float*>(elements)[index]);
    case DType::F64:
      return make_slot(reinterpret_cast<const double*>(elements)[index]);
  }
  return Slot();
}

void store(std::byte* elements, DType dtype, int64_t index, const Slot& slot) {
  switch (dtype) {
    case DType::Bool:
      reinterpret_cast<bool*>(elements)[index] = slot.boolean;
      return;
    case DType::I32:
      reinterpret_cast<int32_t*>(elements)[index] = slot.i32;
      return;
    case DType::I64:
      reinterpret_cast<int64_t*>(elements)[index] = slot.i64;
      return;
    case DType::F32:
      reinterpret_cast<float*>(elements)[index] = slot.f32;
      return;
    case DType::F64:
      reinterpret_cast<double*>(elements)[index] = slot.f64;
      return;
  }
}

/// Where an operand's element for the result's element number `index` stands.
int64_t broadcast_index(const TensorArgument& operand, std::span<const int64_t> result, int64_t index) {
  const std::size_t skipped = result.size() - operand.dims.size();
  int64_t found = 0;
  int64_t step = 1;
  for (std::size_t i = result.size(); i-- > skipped;) {
    const int64_t coordinate = index % result[i];
    index /= result[i];
    const int64_t size = operand.dims[i - skipped];
    if (size > 1) found += coordinate * step;
    step *= size;
  }
  return found;
}

}  // namespace

Fault pointwise(const KernelCall& call) {
  constexpr std::size_t kMostOperands = 8;
  std::array<Slot, kMostOperands> operands;
  const KernelVariant* variant = call.op->find_kernel(call.operands[0].dtype);
  const Kernel kernel = call.overflow == OverflowMode::Trap ? variant->trap : variant->wrap;
  const int64_t size = call.result.size();
  for (int64_t instance = 0; instance < call.batch; ++instance) {
    for (int64_t i = 0; i < size; ++i) {
      for (std::size_t k = 0; k < call.operands.size(); ++k) {
        const TensorArgument& operand = call.operands[k];
        operands[k] = load(operand.elements, operand.dtype,
                           instance * operand.stride + broadcast_index(operand, call.result.dims, i));
      }
      Slot out;
      if (const Fault fault = kernel(operands.data(), &out); fault != Fault::None) return fault;
      store(call.result.elements, call.result.dtype, instance * call.result.stride + i, out);
    }
  }
  return Fault::None;
}

}  // namespace hiaton::ops
