#include "ops/family.h"
#include "ops/lines.h"

namespace hiaton::ops {
namespace {

/// So many elements are read and written at once: a call for each would take longer than most operations.
constexpr int64_t kBlock = 64;

/// Some elements of an array, `step` apart: 0 for one that is broadcast.
struct Elements {
  std::byte* elements;
  int64_t begin;
  int64_t step;
};

/// Reads `count` elements into every `stride`th slot.
template <class T>
void load_as(const Elements& from, int64_t count, Slot* to, std::size_t stride) {
  const T* read = reinterpret_cast<const T*>(from.elements) + from.begin;
  for (int64_t i = 0; i < count; ++i, read += from.step, to += stride) *to = make_slot(*read);
}
template <class T>
void store_as(const Slot* from, int64_t count, std::byte* elements, int64_t begin) {
  T* to = reinterpret_cast<T*>(elements) + begin;
  for (int64_t i = 0; i < count; ++i) to[i] = get<T>(from[i]);
}

using Load = void (*)(const Elements& from, int64_t count, Slot* to, std::size_t stride);
using Store = void (*)(const Slot* from, int64_t count, std::byte* elements, int64_t begin);

// By element type.
constexpr Load kLoad[] = {load_as<bool>,  load_as<int32_t>, load_as<int64_t>,
                          load_as<float>, load_as<double>,  load_as<uint8_t>};
constexpr Store kStore[] = {store_as<bool>,  store_as<int32_t>, store_as<int64_t>,
                            store_as<float>, store_as<double>,  store_as<uint8_t>};

}  // namespace

Fault pointwise(const KernelCall& call) {
  const KernelVariant* variant = call.op->find_kernel(call.operands[0].dtype);
  const Kernel kernel = call.overflow == OverflowMode::Trap ? variant->trap : variant->wrap;
  const std::size_t operands = call.operands.size();
  const Store store = kStore[static_cast<std::size_t>(call.result.dtype)];
  return Lines(call).for_each([&](const Line& line) {
    std::array<Slot, kMostElementwiseOperands * kBlock> in;
    std::array<Slot, kBlock> out;
    for (int64_t begin = 0; begin < line.length; begin += kBlock) {
      const int64_t count = std::min(kBlock, line.length - begin);
      for (std::size_t k = 0; k < operands; ++k) {
        const TensorArgument& operand = call.operands[k];
        kLoad[static_cast<std::size_t>(operand.dtype)](
            {operand.elements, line.begin[k] + begin * line.step[k], line.step[k]}, count, &in[k], operands);
      }
      for (int64_t i = 0; i < count; ++i) {
        const Fault fault =
            kernel(&in[static_cast<std::size_t>(i) * operands], &out[static_cast<std::size_t>(i)]);
        if (fault != Fault::None) return fault;
      }
      store(out.data(), count, call.result.elements, line.out + begin);
    }
    return Fault::None;
  });
}

}  // namespace hiaton::ops
