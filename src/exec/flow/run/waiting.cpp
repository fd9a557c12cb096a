#include "exec/flow/run/waiting.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "exec/flow/compile/buffers.h"

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

void Waiting::take(const Region& region, const FrameLayout& layout, std::vector<Frame*>& now) {
  now.clear();
  if (!region.order) return std::swap(now, fresh_);
  for (Frame* frame : fresh_) {
    const Cell cell = layout.load(frame, *region.order);
    if (cell.owner == nullptr || !cell.owner->is_slab) {
      now.push_back(frame);
    } else {
      hold(frame, cell, now);
    }
  }
  fresh_.clear();
}

void Waiting::hold(Frame* frame, const Cell& cell, std::vector<Frame*>& complete) {
  const TensorObject& slab = *cell.owner;
  const auto instances = static_cast<std::size_t>(slab.dims[0]);
  const auto [place, is_new] = group_of_.try_emplace(&slab, groups_.size());
  if (is_new) {
    groups_.push_back({std::vector<Frame*>(instances), instances});
    group_bytes_ += instances * sizeof(Frame*);
  }
  Group& group = groups_[place->second];
  std::size_t bytes = size_of(slab.dtype);
  for (int64_t dim : cell.dims()) bytes *= static_cast<std::size_t>(dim);
  group.frames[static_cast<std::size_t>(cell.elements() - slab.elements) / bytes] = frame;
  ++held_;
  if (--group.to_come > 0) return;
  complete.insert(complete.end(), group.frames.begin(), group.frames.end());
  held_ -= instances;
  group.frames = {};
  group_bytes_ -= instances * sizeof(Frame*);
  group_of_.erase(place);
  if (group_of_.empty()) groups_.clear();
}

void Waiting::take_all(std::vector<Frame*>& all) {
  all.clear();
  for (const Group& group : groups_) {
    std::ranges::copy_if(group.frames, std::back_inserter(all),
                         [](Frame* frame) { return frame != nullptr; });
  }
  all.insert(all.end(), fresh_.begin(), fresh_.end());
  clear();
}

void Waiting::clear() {
  fresh_.clear();
  groups_.clear();
  group_of_.clear();
  held_ = group_bytes_ = 0;
}

}  // namespace hiaton::exec::flow
