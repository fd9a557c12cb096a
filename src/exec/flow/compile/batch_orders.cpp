// Whose batches the batches of a region follow.
#include <map>
#include <utility>

#include "exec/flow/compile/flow_passes.h"

namespace hiaton::exec::flow {
namespace {

/// By slot of a function: the region whose batches make it, one instance for each frame.
std::map<uint32_t, const Region*> makers_of(const Plan& plan, std::size_t function) {
  std::map<uint32_t, const Region*> makers;
  for (const Region& region : plan.regions) {
    if (region.function != function || !region.batched) continue;
    for (const Step& step : region.steps) {
      if (step.slot && !step.shared && plan.functions[function].slots[*step.slot] == SlotKind::Tensor)
        makers[*step.slot] = &region;
    }
  }
  return makers;
}

/// Keeping frames in order takes about as long as copying so many bytes for each.
constexpr std::size_t kWorthAnOrder = 1024;

/// A slot from where most of what the region reads comes. A recursive region follows recursive ones alone:
/// all frames of others would have to come first.
std::optional<uint32_t> order_of(const Region& region, const std::map<uint32_t, const Region*>& makers,
                                 const std::vector<Type>& slot_types) {
  std::map<const Region*, std::pair<std::size_t, uint32_t>> found;  // how many bytes, and the first slot
  for (uint32_t slot : region.inputs) {
    const auto maker = makers.find(slot);
    if (maker == makers.end() || (region.recursive && !maker->second->recursive)) continue;
    const std::size_t bytes = bytes_of(slot_types[slot]);
    if (bytes == 0) continue;  // its instances all stand at one place
    found.emplace(maker->second, std::pair(0, slot)).first->second.first += bytes;
  }
  std::optional<uint32_t> order;
  std::size_t most = kWorthAnOrder;
  for (const auto& [maker, slots] : found) {
    const auto& [bytes, slot] = slots;
    if (bytes < most || (bytes == most && order && slot > *order)) continue;
    most = bytes;
    order = slot;
  }
  return order;
}

}  // namespace

void choose_orders(Plan& plan) {
  for (std::size_t f = 0; f < plan.functions.size(); ++f) {
    const std::map<uint32_t, const Region*> makers = makers_of(plan, f);
    for (Region& region : plan.regions) {
      if (region.function == f && region.batched && region.fixed_shapes)
        region.order = order_of(region, makers, plan.functions[f].slot_types);
    }
  }
}

}  // namespace hiaton::exec::flow
