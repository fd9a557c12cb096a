// What a worker says when something goes wrong or runs out, and what it counted.
#include <algorithm>

#include "exec/fault.h"
#include "exec/flow/worker.h"

namespace hiaton::exec::flow {
namespace {

/// The calls around a frame.
class FrameChain : public CallChain {
 public:
  FrameChain(const Plan& plan, const std::vector<FramePool>& pools, Frame* frame)
      : plan_(plan), pools_(pools), start_(frame) {
    FrameChain::rewind();
  }

  void rewind() override { at_ = start_; }
  bool at_call() const override { return at_ != nullptr && at_->parent != nullptr; }
  void go_outward() override { at_ = at_->parent; }
  graph::CallSite site() const override { return graph::CallSite(at_->label); }
  std::vector<std::optional<Value>> arguments() const override {
    const Function& function = plan_.functions[at_->function];
    const FrameLayout& layout = pools_[at_->function].layout();
    std::vector<std::optional<Value>> values;
    for (uint32_t slot : function.params) {
      const bool scalar = function.slots[slot] == SlotKind::Scalar;
      const Cell cell = layout.load(at_, slot);
      const bool is_there = scalar || cell.slot.bits != 0;
      values.push_back(is_there ? std::optional(to_value(cell, function.slot_types[slot])) : std::nullopt);
    }
    return values;
  }

 private:
  const Plan& plan_;
  const std::vector<FramePool>& pools_;
  Frame* start_;
  Frame* at_ = nullptr;
};

}  // namespace

void Worker::fail(Frame* frame, const Step& step, Fault fault) {
  watch_->allow_all();
  std::vector<Value> operands;
  if (plan_.regions[region_of(step)].batched) {
    operands = batches_.failed_operands();
  } else {
    for (std::size_t i = 0; i < step.operands.size(); ++i) operands.push_back(fetch_operand(frame, step, i));
  }
  FrameChain chain(plan_, pools_, frame);
  throw operation_error({*graph_, started_[frame->root].arguments, chain}, step.node, operands, fault);
}

std::size_t Worker::region_of(const Step& step) const {
  for (std::size_t i = 0; i < plan_.regions.size(); ++i) {
    const std::vector<Step>& steps = plan_.regions[i].steps;
    if (&step >= steps.data() && &step < steps.data() + steps.size()) return i;
  }
  return 0;
}

void Worker::look(Frame* frame) {
  Fault fault = watch_->use(frames_, queue_bytes());
  most_bytes_ = watch_->most_bytes();
  if (fault == Fault::None) fault = watch_->poll();
  if (fault != Fault::None) end(frame, fault);
}

void Worker::end(Frame* frame, Fault budget) const {
  watch_->allow_all();
  FrameChain chain(plan_, pools_, frame);
  throw budget_error({*graph_, started_[frame->root].arguments, chain}, *options_, budget, std::nullopt);
}

uint64_t Worker::held_bytes() const {
  uint64_t bytes = batches_.bytes();
  for (const FramePool& pool : pools_) bytes += pool.bytes();
  return bytes;
}

/// Of what is ready or waits.
uint64_t Worker::queue_bytes() const {
  uint64_t bytes = ready_.capacity() * sizeof(Ready) + batch_.capacity() * sizeof(Frame*);
  for (const Waiting& waiting : waiting_) bytes += waiting.bytes();
  return bytes;
}

void Worker::add_to(RunStats& stats) const {
  stats.calls += calls_;
  stats.frames_live_most += most_frames_;
  stats.bytes += most_bytes_;
  stats.kernel_seconds += batches_.kernel_seconds();
  for (const FramePool& pool : pools_) {
    stats.frames_allocated += pool.made();
    stats.frames_live_at_end += pool.live();
  }
  stats.regions.resize(plan_.regions.size());
  for (std::size_t i = 0; i < plan_.regions.size(); ++i) {
    const Region& region = plan_.regions[i];
    stats.regions[i].function = graph_->functions()[region.function].name;
    stats.regions[i].name = region.name;
    stats.regions[i].firings += firings_[i];
    stats.regions[i].launches += launches_[i];
  }
}

}  // namespace hiaton::exec::flow
