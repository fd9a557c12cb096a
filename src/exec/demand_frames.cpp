#include "exec/demand_frames.h"

namespace hiaton::exec {

FrameHandle DemandFrames::make(FrameHandle outer, const TagLabel& label) {
  auto frame = std::make_unique<DemandFrame>();
  DemandFrame* const made = frame.get();
  made->all = this;
  made->outer = std::move(outer);
  made->label = label;
  frames_.emplace(made, std::move(frame));
  ++ever_made_;
  return FrameHandle(made);
}

void DemandFrames::drop(DemandFrame* frame) {
  if (is_clearing_ || --frame->references > 0) return;
  const auto entry = frames_.find(frame);
  dropped_.push_back(std::move(entry->second));
  frames_.erase(entry);
  if (is_freeing_) return;
  is_freeing_ = true;
  while (!dropped_.empty()) {
    const std::unique_ptr<DemandFrame> next = std::move(dropped_.back());
    dropped_.pop_back();
    cells_ -= next->cells.size();
  }
  is_freeing_ = false;
}

void DemandFrames::clear() {
  is_clearing_ = true;
  for (const auto& [frame, owned] : frames_) {  // as long as all frames that they refer to are there
    frame->cells.clear();
    frame->calls.clear();
    frame->loops.clear();
    frame->outer = FrameHandle();
    frame->before = FrameHandle();
  }
  frames_.clear();
  cells_ = 0;
  is_clearing_ = false;
}

}  // namespace hiaton::exec
