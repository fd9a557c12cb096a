#include "exec/direct/run/direct_caller.h"

#include <algorithm>
#include <chrono>

#include "base/check.h"
#include "exec/budget.h"
#include "exec/direct/run/call_chain.h"
#include "exec/direct/run/interpret.h"
#include "tensor/reference_check.h"

namespace hiaton::exec::direct {
namespace {

std::size_t most_results(const graph::Graph& graph) {
  std::size_t most = 0;
  for (const graph::Function& function : graph.functions()) most = std::max(most, function.results.size());
  return most;
}

}  // namespace

DirectCaller::DirectCaller(const graph::Graph& graph, std::shared_ptr<const Plan> plan)
    : graph_(&graph),
      plan_(std::move(plan)),
      root_slots_(frame_bytes(most_results(graph)) / sizeof(Slot)),
      lengths_(graph.functions().size()) {
  if (plan_->has_data) {
    heap_.reset(DataHeap::make([this](std::size_t bytes) { return budget_.take_bytes(bytes); }));
  }
  if (plan_->has_tensors) {
    tensor_heap_ =
        std::make_unique<TensorHeap>([this](std::size_t bytes) { return budget_.take_bytes(bytes); },
                                     [this](std::size_t bytes) { budget_.give_bytes(bytes); });
  }
}

DirectCaller::~DirectCaller() {
  if (failed_ != nullptr) failed_->unwind();
}

DirectCaller::Within::Within(DirectCaller& caller, Budget& budget) : caller_(caller) {
  caller_.budget_.begin_within(budget);
}

DirectCaller::Within::~Within() {
  caller_.most_bytes_ = std::max(caller_.most_bytes_, caller_.budget_.most_bytes());
  caller_.budget_.leave();
}

void DirectCaller::begin(const graph::Graph& graph, const RunOptions& options) {
  graph_ = &graph;
  const std::size_t workers = plan_->groups.empty() ? 1 : static_cast<std::size_t>(options.workers);
  while (state_.workers.size() < workers) {
    TensorHeap* tensors = tensor_heap_.get();
    state_.workers.push_back(std::make_unique<Worker>(state_, *plan_, budget_, heap_.get(), tensors));
    if (state_.workers.size() == workers) state_.share_launches(*plan_);
  }
  if (failed_ != nullptr) failed_->unwind();
  failed_ = nullptr;
  if (stop_fault_.load() != Fault::None) {
    if (heap_ != nullptr) heap_->forget_values();
    if (tensor_heap_ != nullptr) tensor_heap_->forget_tensors();
  }
  stop_fault_.store(Fault::None);
  state_.stopping.store(false);
  state_.shares_every_call = options.share_every_call && workers > 1;
  calls_ = 0;
  checks_counts_ = options.checks_counts;
  for (const std::unique_ptr<Worker>& worker : state_.workers) {
    worker->parameters = options.parameters;
    worker->options = &options;
    worker->poll.store(false);
    worker->frame = nullptr;
    worker->fault = Fault::None;
    worker->hungry = 0;
    if (worker->tensors != nullptr) {
      worker->tensors->times_kernels = options.time_kernels;
      worker->tensors->rows = options.rows;
      worker->tensors->kernel_seconds = 0;
    }
    worker->steps_left = Worker::kMostSteps;
    worker->steals = worker->atomic_operations = 0;
    worker->region_firings.assign(worker->region_firings.size(), 0);
  }
  held_before_ = most_bytes_ = budget_.bytes();
}

/// Another thread needs some microseconds to come. Who has not been run yet may take long.
bool DirectCaller::is_worth_sharing(const Length& length) const {
  constexpr double kLong = 50e-6;
  return !length.is_known || length.seconds > kLong || state_.shares_every_call;
}

Fault DirectCaller::call(graph::FunctionId function, std::span<const Slot> arguments,
                         std::span<Slot> results) {
  ++calls_;
  const Instruction* entry = plan_->entries[function.index()];
  kernels::LaunchHelpers* helpers = state_.workers.size() > 1 ? kernels::launch_helpers() : nullptr;
  Fault fault = Fault::None;
  if (helpers == nullptr || (helpers->idle(kernels::kWorthWaking) == 0 && !state_.shares_every_call)) {
    fault = run_alone(entry, arguments);
  } else {
    using Clock = std::chrono::steady_clock;
    Length& length = lengths_[function.index()];
    const Clock::time_point start = Clock::now();
    const bool shares = is_worth_sharing(length);
    fault = shares ? run_shared(*helpers, entry, arguments) : run_alone(entry, arguments);
    length = {true, std::chrono::duration<double>(Clock::now() - start).count()};
  }
  if (fault != Fault::None) {
    stop_fault_.store(fault);
    state_.throw_kept();
    return fault;
  }
  const std::vector<graph::OutPort>& ports = (*graph_)[function].results;
  data_.clear();
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i] = root()->slots[i];
    const Type& type = (*graph_)[ports[i].node].type;
    if (type.is_data()) data_.push_back(results[i]);
    if (type.is_tensor()) TensorHeap::give_out(results[i].tensor);
  }
  if (!data_.empty()) heap_->give_out(data_);
  return Fault::None;
}

Outcome DirectCaller::start(Worker& worker, const Instruction* entry, std::span<const Slot> arguments) {
  Frame* frame = worker.start_chain(root(), plan_->halt, entry[-1].d);
  if (frame == nullptr) {
    worker.frame = nullptr;
    worker.fault = worker.pool.failure();
    return Outcome::Failed;
  }
  std::copy(arguments.begin(), arguments.end(), frame->slots);
  return interpret(worker, frame, entry);
}

Fault DirectCaller::run_alone(const Instruction* entry, std::span<const Slot> arguments) {
  Worker& worker = *state_.workers[0];
  settle(worker, start(worker, entry, arguments));
  return fault_of_run();
}

Fault DirectCaller::run_shared(kernels::LaunchHelpers& helpers, const Instruction* entry,
                               std::span<const Slot> arguments) {
  const std::size_t others =
      state_.shares_every_call
          ? state_.workers.size() - 1
          : std::min<std::size_t>(state_.workers.size() - 1,
                                  static_cast<std::size_t>(std::max(helpers.idle(kernels::kWorthWaking), 1)));
  state_.finished.store(false);
  state_.idle.store(0);
  std::atomic<std::size_t> next{0};
  helpers.run(others + 1, [&](std::size_t) {
    const std::size_t number = next.fetch_add(1);
    Worker& worker = *state_.workers[number];
    if (number == 0) {
      settle(worker, worker.begin([&] { return start(worker, entry[-1].target, arguments); }));
    }
    if (!state_.finished.load() && !state_.stopping.load()) settle(worker, worker.help());
  });
  return fault_of_run();
}

/// What follows from the end of a stretch of interpretation.
void DirectCaller::settle(Worker& worker, Outcome outcome) {
  HIATON_CHECK(outcome != Outcome::Sends);
  if (outcome == Outcome::Parked) return;
  if (outcome == Outcome::Halted) {
    worker.leave_chain();
    worker.frame = nullptr;  // a poll leaves where it was answered
    state_.finished.store(true);
    return;
  }
  if (outcome == Outcome::Failed) {
    Fault none = Fault::None;
    stop_fault_.compare_exchange_strong(none, worker.fault);
  }
  state_.stop();
  {
    const std::lock_guard lock(mutex_);
    if (failed_ == nullptr && worker.frame != nullptr) {
      failed_ = &worker;
      return;
    }
  }
  worker.unwind();
}

/// Fault::None: it gave its results.
Fault DirectCaller::fault_of_run() const {
  if (!state_.stopping.load()) return Fault::None;
  if (stop_fault_.load() != Fault::None) return stop_fault_.load();
  for (const std::unique_ptr<Worker>& worker : state_.workers) {
    if (worker->fault != Fault::None) return worker->fault;
  }
  return Fault::None;
}

void DirectCaller::stop(Fault fault) {
  Fault none = Fault::None;
  stop_fault_.compare_exchange_strong(none, fault);
  state_.stop();
}

void DirectCaller::add_to(RunStats& stats) const {
  const std::size_t first = stats.regions.size();
  for (const RegionStats& region : plan_->regions) stats.regions.push_back(region);
  stats.bytes += most_bytes_ - held_before_;  // flow has counted what was held before
  uint64_t bodies = 0;
  for (const std::unique_ptr<Worker>& worker : state_.workers) {
    stats.steals += worker->steals;
    stats.atomic_operations += worker->atomic_operations;
    if (worker->tensors != nullptr) stats.kernel_seconds += worker->tensors->kernel_seconds;
    for (std::size_t i = 0; i < worker->region_firings.size(); ++i) {
      stats.regions[first + i].firings += worker->region_firings[i];
      if (plan_->region_is_body[i]) bodies += worker->region_firings[i];
    }
  }
  if (!plan_->regions.empty()) stats.calls += bodies - calls_;  // flow has counted those that it made
  if (stop_fault_.load() != Fault::None) {                      // begin() forgets what is left
    if (checks_counts_) stats.values_live_at_end += find_unexplained();
    return;
  }
  if (!checks_counts_) return;
  if (heap_ != nullptr) stats.values_live_at_end += heap_->count_values();
  if (tensor_heap_ != nullptr) stats.values_live_at_end += tensor_heap_->count_tensors();
}

/// Values whose counts nothing explains, after a call that gave a fault.
uint64_t DirectCaller::find_unexplained() const {
  const auto visit_slots = [this](const auto& visit) {
    visit(root_slots_);
    for (const std::unique_ptr<Worker>& worker : state_.workers) worker->visit_slots(visit);
    if (failed_ == nullptr) return;
    // Its frames are not unwound yet. All others wait for it, and lie on the way outwards, or are unwound:
    // also those that a call was given away from, inside of the frame that waits for its results.
    const Frame* inner = nullptr;
    for (const Frame* frame = failed_->frame; frame != nullptr; inner = frame, frame = frame->parent) {
      if (frame == reinterpret_cast<const Frame*>(root_slots_.data())) return;
      visit(std::span(frame->slots, frame->capacity));
      if (frame->child == inner) continue;
      for (const Frame* left = frame->child; left != &no_frame; left = left->child) {
        if (left->resume == nullptr) visit(std::span(left->slots, left->capacity));
      }
    }
  };
  try {
    return count_unexplained(heap_.get(), tensor_heap_.get(), visit_slots);
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

graph::NodeId DirectCaller::failed() const {
  if (failed_ == nullptr || failed_->pc == nullptr || !is_operation_fault(failed_->fault)) return {};
  return plan_->nodes[plan_->index_of(failed_->pc)];
}

std::vector<Value> DirectCaller::operands() const {
  return operands_of_failed(*graph_, *failed_, failed());
}

std::unique_ptr<CallChain> DirectCaller::chain(graph::CallSite site, CallChain& outer) const {
  Frame* frame = failed_ != nullptr ? failed_->frame : nullptr;
  if (frame == nullptr) return std::make_unique<LinkedChain>(std::nullopt, graph::CallSite(), outer);
  return std::make_unique<LinkedChain>(DirectChain(*graph_, *plan_, frame, failed_->pc), site, outer);
}

}  // namespace hiaton::exec::direct
