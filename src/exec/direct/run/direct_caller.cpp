#include "exec/direct/run/direct_caller.h"

#include <algorithm>

#include "base/check.h"
#include "exec/budget.h"
#include "exec/direct/run/call_chain.h"
#include "exec/direct/run/interpret.h"

namespace hiaton::exec::direct {
namespace {

/// The calls of direct code, the one from flow that began it, and those of flow around that.
class JoinedChain : public CallChain {
 public:
  JoinedChain(DirectChain inner, graph::CallSite site, CallChain& outer)
      : inner_(std::move(inner)), site_(site), outer_(outer) {
    JoinedChain::rewind();
  }

  void rewind() override {
    inner_.rewind();
    outer_.rewind();
    is_outside_ = inner_.is_empty();
  }
  bool at_call() const override { return !is_outside_ || outer_.at_call(); }
  void go_outward() override {
    if (is_outside_) {
      outer_.go_outward();
    } else if (inner_.at_call()) {
      inner_.go_outward();
    } else {
      is_outside_ = true;
    }
  }
  graph::CallSite site() const override {
    return is_outside_ ? outer_.site() : inner_.at_call() ? inner_.site() : site_;
  }
  std::vector<std::optional<Value>> arguments() const override {
    return is_outside_ ? outer_.arguments() : inner_.arguments();
  }

 private:
  DirectChain inner_;
  const graph::CallSite site_;
  CallChain& outer_;
  bool is_outside_ = false;
};

std::size_t most_results(const graph::Graph& graph) {
  std::size_t most = 0;
  for (const graph::Function& function : graph.functions()) most = std::max(most, function.results.size());
  return most;
}

}  // namespace

DirectCaller::DirectCaller(const graph::Graph& graph, std::shared_ptr<const Plan> plan)
    : graph_(graph), plan_(std::move(plan)), root_slots_(frame_bytes(most_results(graph)) / sizeof(Slot)) {
  if (plan_->has_data) {
    heap_.reset(DataHeap::make([this](std::size_t bytes) { return budget_.take_bytes(bytes); }));
  }
  state_.workers.push_back(std::make_unique<Worker>(state_, *plan_, budget_, heap_.get()));
}

DirectCaller::~DirectCaller() = default;

void DirectCaller::begin(const RunOptions& options) {
  budget_.max_frames = options.max_frames;
  budget_.max_bytes = byte_limit(options);
  budget_.is_refused.store(false);
  if (heap_ != nullptr && stop_fault_.load() != Fault::None) heap_->forget_values();
  stop_fault_.store(Fault::None);
  state_.stopping.store(false);
  Worker& worker = *state_.workers[0];
  worker.parameters = options.parameters;
  worker.poll.store(false);
  if (worker.frame != nullptr) worker.unwind();
  worker.frame = nullptr;
  worker.fault = Fault::None;
}

Fault DirectCaller::call(graph::FunctionId function, std::span<const Slot> arguments,
                         std::span<Slot> results) {
  Worker& worker = *state_.workers[0];
  const Instruction* entry = plan_->entries[function.index()];
  Frame* frame = worker.start_chain(root(), plan_->halt, entry[-1].d);
  if (frame == nullptr) {
    stop_fault_.store(worker.pool.failure());
    return worker.pool.failure();
  }
  std::copy(arguments.begin(), arguments.end(), frame->slots);
  const Outcome outcome = interpret(worker, frame, entry);
  if (outcome != Outcome::Halted) {
    if (outcome == Outcome::Failed) stop_fault_.store(worker.fault);
    return stop_fault_.load();
  }
  worker.leave_chain();
  worker.frame = nullptr;  // a poll leaves where it was answered
  const std::vector<graph::OutPort>& ports = graph_[function].results;
  data_.clear();
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i] = root()->slots[i];
    if (graph_[ports[i].node].type.is_data()) data_.push_back(results[i]);
  }
  if (!data_.empty()) heap_->give_out(data_);
  return Fault::None;
}

void DirectCaller::stop(Fault fault) {
  stop_fault_.store(fault);
  state_.stop();
}

graph::NodeId DirectCaller::failed() const {
  const Worker& worker = *state_.workers[0];
  if (worker.frame == nullptr || worker.pc == nullptr || !is_operation_fault(worker.fault)) return {};
  return plan_->nodes[plan_->index_of(worker.pc)];
}

std::vector<Value> DirectCaller::operands() const {
  return operands_of_failed(graph_, *state_.workers[0], failed());
}

std::unique_ptr<CallChain> DirectCaller::chain(graph::CallSite site, CallChain& outer) const {
  const Worker& worker = *state_.workers[0];
  return std::make_unique<JoinedChain>(DirectChain(graph_, *plan_, worker.frame, worker.pc), site, outer);
}

}  // namespace hiaton::exec::direct
