// What a worker says when something goes wrong or runs out, and what it counted.
#include <algorithm>
#include <functional>

#include "exec/direct/run/call_chain.h"
#include "exec/flow/run/flow_worker.h"
#include "exec/frame_chain.h"
#include "net/transport.h"

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

  /// Another process knows the calls around what it has sent, and the call itself.
  static Frame* outermost(Frame* frame, const FindCaller& find_caller) {
    while (Frame* const next = outward(frame, find_caller)) frame = next;
    return frame;
  }

  bool at_call() const override { return at() != nullptr && outward(at(), find_caller_) != nullptr; }
  graph::CallSite site() const override { return graph::CallSite(at()->label); }
  graph::FunctionId function() const override { return graph::FunctionId(at()->function); }
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
  Frame* around(Frame* const& frame) const override { return outward(frame, find_caller_); }
  /// Gives the frame around this one, as far as it is known.
  static Frame* outward(Frame* frame, const FindCaller& find_caller) {
    return found(frame->function == kElsewhere ? frame : frame->parent, find_caller);
  }
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
  const Worker* owner = this;  // who has the frame where the search is
  const FlowChain::FindCaller find_caller = [&](const RemoteCaller& caller) -> Frame* {
    if (processes_ != nullptr) return nullptr;  // another process knows it
    owner = team_->worker(caller.name.caller);
    return owner->remote_calls_[caller.name.slot].caller;
  };
  Frame* const outermost = FlowChain::outermost(failure.frame, find_caller);
  const bool is_of_program = outermost->function != kElsewhere && outermost->parent == nullptr;
  const std::span<const Value> arguments =
      is_of_program ? std::span<const Value>(owner->started_[outermost->root].arguments)
                    : processes_->arguments();
  FlowChain chain(plan_, pools_, failure.frame, find_caller);
  std::unique_ptr<CallChain> with_direct;
  if (failure.direct != nullptr) {
    const graph::CallSite site = plan_.functions[failure.frame->function].sites[failure.direct->site].site;
    with_direct = direct_->chain(site, chain);
  }
  const RunPlace place{*graph_, arguments, with_direct != nullptr ? *with_direct : chain};
  const graph::NodeId failed = failure.direct != nullptr ? direct_->failed()
                               : failure.step != nullptr ? failure.step->node
                                                         : graph::NodeId();
  const RunError error = failed.valid() ? operation_error(place, failed, failure.operands, failure.fault)
                                        : budget_error(place, *options_, failure.fault);
  if (processes_ == nullptr) return error;
  const int self = processes_->self();
  return for_caller(on_process(error, self, options_->processes->host(self)), outermost);
}

/// The program ends the chain here, and is not around the call of another process: instead of it goes what
/// the call got. The caller knows the rest.
RunError Worker::for_caller(const RunError& error, Frame* outermost) const {
  if (!call_around(outermost) || error.chain().empty()) return error;
  std::vector<CallRecord> records = error.chain();
  records.back() = {};
  if (outermost->function != kElsewhere) {
    const FlowChain chain(plan_, pools_, outermost, nullptr);
    const graph::FunctionId function(outermost->function);
    records.back() = shown_call(*graph_, function, function, chain.arguments());
  }
  return {error, error.message(), std::move(records), error.chain_length() - 1};
}

RunError Worker::with_calls_around(const RunError& error, const RemoteCall& call) const {
  const FlowChain::FindCaller unknown = [](const RemoteCaller&) -> Frame* { return nullptr; };
  FlowChain outer(plan_, pools_, call.caller, unknown);
  direct::LinkedChain chain(std::nullopt, graph::CallSite(call_label(call)), outer);
  return for_caller(exec::with_calls_around({*graph_, processes_->arguments(), chain}, error),
                    FlowChain::outermost(call.caller, unknown));
}

RunError Worker::error_without_place(Fault fault) const {
  FlowChain nowhere(plan_, pools_, nullptr, nullptr);
  return budget_error({*graph_, processes_->arguments(), nowhere}, *options_, fault);
}

uint32_t Worker::call_label(const RemoteCall& call) const {
  return static_cast<uint32_t>(function(call.caller).sites[call.caller_site].site.index());
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
  if (processes_ != nullptr) bytes += processes_->waiting_bytes();
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
