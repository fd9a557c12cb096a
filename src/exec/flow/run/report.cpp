// What a worker says when something goes wrong or runs out, and what it counted.
#include <algorithm>
#include <functional>

#include "exec/flow/run/flow_worker.h"
#include "exec/frame_chain.h"

namespace hiaton::exec::flow {
namespace {

/// The calls around a frame, also where other workers have given them away.
class FlowChain : public FrameChain<Frame*> {
 public:
  /// Gives the frame whose call the caller stands for.
  using FindCaller = std::function<Frame*(const RemoteCaller&)>;

  FlowChain(const Plan& plan, const std::vector<FramePool>& pools, Frame* frame,
            const FindCaller& find_caller)
      : FrameChain(found(frame, find_caller)), plan_(plan), pools_(pools), find_caller_(find_caller) {}

  bool at_call() const override { return at() != nullptr && at()->parent != nullptr; }
  graph::CallSite site() const override { return graph::CallSite(at()->label); }
  std::vector<std::optional<Value>> arguments() const override {
    const Function& function = plan_.functions[at()->function];
    const FrameLayout& layout = pools_[at()->function].layout();
    std::vector<std::optional<Value>> values;
    for (uint32_t slot : function.params) {
      const bool scalar = function.slots[slot] == SlotKind::Scalar;
      const Cell cell = layout.load(at(), slot);
      const bool is_there = scalar || cell.slot.bits != 0;
      values.push_back(is_there ? std::optional(to_value(cell, function.slot_types[slot])) : std::nullopt);
    }
    return values;
  }

 private:
  Frame* around(Frame* const& frame) const override { return found(frame->parent, find_caller_); }
  static Frame* found(Frame* frame, const FindCaller& find_caller) {
    const bool is_elsewhere = frame != nullptr && frame->function == kElsewhere;
    return is_elsewhere ? find_caller(static_cast<const RemoteCaller&>(*frame)) : frame;
  }

  const Plan& plan_;
  const std::vector<FramePool>& pools_;
  const FindCaller find_caller_;
};

}  // namespace

/// The operands are fetched here: they may stand in memory that goes with the exception.
void Worker::fail(Frame* frame, const Step& step, Fault fault) {
  watch_->allow_all();
  Failure failure{frame, &step, fault};
  if (plan_.regions[region_of(step)].batched) {
    failure.operands = batches_.failed_operands();
  } else {
    for (std::size_t i = 0; i < step.operands.size(); ++i)
      failure.operands.push_back(fetch_operand(frame, step, i));
  }
  throw failure;
}

RunError Worker::error_of(const Failure& failure) const {
  const Worker* owner = this;  // of the frame where the search is
  const auto find_caller = [&](const RemoteCaller& caller) {
    owner = team_->worker(caller.name.caller);
    return owner->remote_calls_[caller.name.slot].caller;
  };
  const Frame* outermost = failure.frame;
  while (outermost->parent != nullptr || outermost->function == kElsewhere) {
    outermost = outermost->function == kElsewhere ? find_caller(static_cast<const RemoteCaller&>(*outermost))
                                                  : outermost->parent;
  }
  const std::vector<Value> arguments = owner->started_[outermost->root].arguments;
  FlowChain chain(plan_, pools_, failure.frame, find_caller);
  if (failure.direct != nullptr) {
    const graph::CallSite site = plan_.functions[failure.frame->function].sites[failure.direct->site].site;
    const std::unique_ptr<CallChain> whole = direct_->chain(site, chain);
    const RunPlace place{*graph_, arguments, *whole};
    const graph::NodeId failed = direct_->failed();
    return failed.valid() ? operation_error(place, failed, failure.operands, failure.fault)
                          : budget_error(place, *options_, failure.fault);
  }
  const RunPlace place{*graph_, arguments, chain};
  if (failure.step == nullptr) return budget_error(place, *options_, failure.fault, std::nullopt);
  return operation_error(place, failure.step->node, failure.operands, failure.fault);
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

uint64_t Worker::held_bytes() const {
  uint64_t bytes = batches_.bytes() + (direct_ != nullptr ? direct_->bytes() : 0);
  for (const FramePool& pool : pools_) bytes += pool.bytes();
  return bytes;
}

/// The bytes that lists of ready and waiting items take.
uint64_t Worker::queue_bytes() const {
  uint64_t bytes = ready_.bytes() + batch_.capacity() * sizeof(Frame*);
  for (const Waiting& waiting : waiting_) bytes += waiting.bytes();
  return bytes;
}

void Worker::add_to(RunStats& stats) const {
  stats.calls += calls_;
  stats.steals += steals_;
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
  if (direct_ != nullptr) direct_->add_to(stats);
}

}  // namespace hiaton::exec::flow
