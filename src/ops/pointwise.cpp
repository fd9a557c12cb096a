#include "ops/family.h"
#include "ops/lines.h"

namespace hiaton::ops {
namespace {

template <class T>
Slot load_as(const std::byte* elements, int64_t index) {
  return make_slot(reinterpret_cast<const T*>(elements)[index]);
}
template <class T>
void store_as(std::byte* elements, int64_t index, const Slot& slot) {
  reinterpret_cast<T*>(elements)[index] = get<T>(slot);
}

using Load = Slot (*)(const std::byte* elements, int64_t index);
using Store = void (*)(std::byte* elements, int64_t index, const Slot& slot);

// By element type.
constexpr Load kLoad[] = {load_as<bool>,  load_as<int32_t>, load_as<int64_t>,
                          load_as<float>, load_as<double>,  load_as<uint8_t>};
constexpr Store kStore[] = {store_as<bool>,  store_as<int32_t>, store_as<int64_t>,
                            store_as<float>, store_as<double>,  store_as<uint8_t>};

}  // namespace

Fault pointwise(const KernelCall& call) {
  const KernelVariant* variant = call.op->find_kernel(call.operands[0].dtype);
  const Kernel kernel = call.overflow == OverflowMode::Trap ? variant->trap : variant->wrap;
  const std::size_t count = call.operands.size();
  std::array<Load, kMostElementwiseOperands> load;
  for (std::size_t k = 0; k < count; ++k) load[k] = kLoad[static_cast<std::size_t>(call.operands[k].dtype)];
  const Store store = kStore[static_cast<std::size_t>(call.result.dtype)];
  return Lines(call).for_each([&](const Line& line) {
    std::array<Slot, kMostElementwiseOperands> operands;
    for (int64_t i = 0; i < line.length; ++i) {
      for (std::size_t k = 0; k < count; ++k) {
        operands[k] = load[k](call.operands[k].elements, line.begin[k] + i * line.step[k]);
      }
      Slot out;
      if (const Fault fault = kernel(operands.data(), &out); fault != Fault::None) return fault;
      store(call.result.elements, line.out + i, out);
    }
    return Fault::None;
  });
}

}  // namespace hiaton::ops
