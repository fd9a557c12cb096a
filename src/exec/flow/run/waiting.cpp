#include "exec/flow/run/waiting.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hiaton::exec::flow {

void Waiting::take(const Region& region, const FrameLayout& layout, std::vector<Frame*>& now) {
  now.clear();
  if (!region.order) return std::swap(now, fresh_);
  for (Frame* frame : fresh_) {
    const Cell cell = layout.load(frame, *region.order);
    if (cell.owner == nullptr || !cell.owner->is_batch) {
      now.push_back(frame);
    } else {
      hold(frame, cell, now);
    }
  }
  fresh_.clear();
}

void Waiting::hold(Frame* frame, const Cell& cell, std::vector<Frame*>& complete) {
  const TensorObject& block = *cell.owner;
  const auto instances = static_cast<std::size_t>(block.dims[0]);
  const auto [place, is_new] = group_of_.try_emplace(&block, groups_.size());
  if (is_new) {
    groups_.push_back({std::vector<Frame*>(instances), instances});
    group_bytes_ += instances * sizeof(Frame*);
  }
  Group& group = groups_[place->second];
  std::size_t bytes = size_of(block.dtype);
  for (int64_t dim : cell.dims()) bytes *= static_cast<std::size_t>(dim);
  group.frames[static_cast<std::size_t>(cell.elements() - block.elements) / bytes] = frame;
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
