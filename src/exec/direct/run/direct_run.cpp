#include "exec/direct/run/direct_run.h"

#include <mutex>
#include <new>
#include <optional>
#include <thread>

#include "base/check.h"
#include "exec/budget.h"
#include "exec/direct/run/call_chain.h"
#include "exec/direct/run/interpret.h"
#include "exec/direct/run/worker.h"
#include "exec/fault.h"
#include "exec/run_watch.h"

namespace hiaton::exec::direct {

using graph::Graph;
using graph::NodeId;

namespace {

using Clock = std::chrono::steady_clock;

class DirectRun {
 public:
  DirectRun(const Graph& graph, const Plan& plan, std::span<const Value> arguments, const RunOptions& options)
      : graph_(graph),
        plan_(plan),
        arguments_(arguments),
        options_(options),
        root_slots_(frame_bytes(plan.result_count) / sizeof(Slot)) {
    budget_.max_frames = options.max_frames;
    budget_.max_bytes = byte_limit(options);
    // Without groups of calls there is nothing that one worker could take from another.
    const bool is_parallel = plan.entry[-1].target == plan.entry && !plan.groups.empty();
    const int workers = is_parallel ? std::max(1, options.workers) : 1;
    if (plan.has_data) {
      heap_.reset(DataHeap::make([this](std::size_t bytes) { return budget_.take_bytes(bytes); }));
    }
    if (plan.has_tensors) {
      tensor_heap_.emplace([this](std::size_t bytes) { return budget_.take_bytes(bytes); },
                           [this](std::size_t bytes) { budget_.give_bytes(bytes); });
    }
    for (int i = 0; i < workers; ++i) {
      TensorHeap* tensors = tensor_heap_ ? &*tensor_heap_ : nullptr;
      state_.workers.push_back(std::make_unique<Worker>(state_, plan, budget_, heap_.get(), tensors));
      state_.workers.back()->parameters = options.parameters;
      if (tensors != nullptr) state_.workers.back()->tensors->times_kernels = options.time_kernels;
    }
    state_.shares_every_call = options.share_every_call && workers > 1;
    if (options.trace != nullptr) draw_in(*options.trace);
  }

  RunResult run() {
    const Clock::time_point start = Clock::now();
    work(start);
    for (Trace::Track* track : tracks_) track->count(0, 0);
    const bool has_results = state_.finished.load() && !error_ && !state_.stopping.load();
    std::vector<Value> values = has_results ? results() : std::vector<Value>();
    if (heap_ != nullptr && !has_results) heap_->forget_values();
    RunStats stats = collect(std::chrono::duration<double>(Clock::now() - start).count(), has_results);
    if (options_.stats != nullptr) *options_.stats = stats;
    if (error_) throw RunError(*error_);
    if (state_.stopping.load()) throw_without_place();
    HIATON_CHECK(state_.finished.load());
    return {std::move(values), std::move(stats)};
  }

 private:
  void draw_in(Trace& trace) {
    kinds_.emplace(trace, graph_);
    for (std::size_t i = 0; i < state_.workers.size(); ++i) {
      tracks_.push_back(&trace.worker(i));
      state_.workers[i]->calls.turn_on(*kinds_, trace, *tracks_[i]);
    }
  }

  /// All threads have ended when it returns or throws.
  void work(Clock::time_point start) {
    std::vector<std::jthread> threads;
    threads.reserve(state_.workers.size());
    std::optional<RunWatch> watch;
    try {
      for (std::size_t i = 1; i < state_.workers.size(); ++i) {
        threads.emplace_back([this, i] { settle(*state_.workers[i], state_.workers[i]->help()); });
      }
      if (RunWatch::is_needed(options_)) {
        watch.emplace(options_, start, [this](Fault fault) {
          stop_fault_.store(fault);
          state_.stop();
        });
      }
    } catch (...) {
      state_.stop();
      throw;
    }
    Worker& first = *state_.workers[0];
    if (state_.shares_every_call) first.wait_for_others();
    settle(first, first.begin([&] { return start_main(first); }));
    if (!is_over()) settle(first, first.help());
  }

  Frame* root() { return reinterpret_cast<Frame*>(root_slots_.data()); }
  bool is_over() const { return state_.finished.load() || state_.stopping.load(); }

  Outcome start_main(Worker& worker) {
    Frame* frame = worker.start_chain(root(), plan_.halt, plan_.entry[-1].d);
    if (frame == nullptr) {
      worker.fault = worker.pool.failure();
      return Outcome::Failed;
    }
    for (std::size_t i = 0; i < arguments_.size(); ++i) frame->slots[i] = arguments_[i].slot();
    if (worker.calls.is_on()) worker.calls.begin_program(arguments_);
    return interpret(worker, frame, plan_.entry);
  }

  /// What follows from the end of a stretch of interpretation.
  void settle(Worker& worker, Outcome outcome) {
    switch (outcome) {
      case Outcome::Parked:
        return;
      case Outcome::Halted:
        worker.leave_chain();
        state_.finished.store(true);
        return;
      case Outcome::Stopped:
        report(worker, stop_fault_.load());
        break;
      case Outcome::Failed:
        report(worker, worker.fault);
        break;
    }
    state_.stop();
    worker.unwind();
  }

  void report(Worker& worker, Fault fault) {
    try {
      keep_error(worker, fault);
    } catch (const std::bad_alloc&) {
      stop_fault_.store(Fault::OutOfMemory);  // also for the message
    }
  }

  /// Keeps the first error of the run. The chain is read before any frame is given back: those further out
  /// belong to nobody else as long as this worker has not come back to them.
  void keep_error(Worker& worker, Fault fault) {
    const std::lock_guard lock(mutex_);
    if (error_ || fault == Fault::None || worker.frame == nullptr) return;
    DirectChain chain(graph_, plan_, worker.frame, worker.pc);
    const RunPlace place{graph_, arguments_, chain};
    const NodeId node = worker.pc == nullptr ? NodeId() : plan_.nodes[plan_.index_of(worker.pc)];
    if (worker.fault != Fault::None && node.valid() && is_operation_fault(fault)) {
      error_ = operation_error(place, node, operands_of_failed(graph_, worker, node), fault);
    } else {
      error_ = budget_error(place, options_, fault);
    }
  }

  /// No worker had a frame when the run was stopped.
  [[noreturn]] void throw_without_place() {
    Fault fault = stop_fault_.load();
    for (const std::unique_ptr<Worker>& worker : state_.workers) {
      if (fault == Fault::None) fault = worker->fault;
    }
    DirectChain chain(graph_, plan_, nullptr, nullptr);
    throw budget_error({graph_, arguments_, chain}, options_, fault);
  }

  std::vector<Value> results() {
    const auto type_of = [&](std::size_t i) -> const Type& { return graph_[graph_.outputs()[i]].type; };
    std::vector<Slot> data;
    for (std::size_t i = 0; i < plan_.result_count; ++i) {
      if (type_of(i).is_data()) data.push_back(root()->slots[i]);
      if (type_of(i).is_tensor()) TensorHeap::give_out(root()->slots[i].tensor);
    }
    if (heap_ != nullptr) heap_->give_out(data);
    std::vector<Value> values;
    for (std::size_t i = 0; i < plan_.result_count; ++i) {
      const Slot slot = root()->slots[i];
      if (type_of(i).is_data()) {
        values.emplace_back(Data::adopt(slot.data));
      } else if (type_of(i).is_tensor()) {
        values.emplace_back(Tensor::adopt(slot.tensor));
      } else {
        values.emplace_back(type_of(i).dtype, slot);
      }
    }
    return values;
  }

  RunStats collect(double seconds, bool has_results) {
    RunStats stats;
    stats.seconds = seconds;
    stats.bytes = budget_.most_bytes();
    stats.regions = plan_.regions;
    uint64_t idle = 0;
    for (const std::unique_ptr<Worker>& worker : state_.workers) {
      stats.frames_allocated += worker->pool.carved();
      idle += worker->pool.count_idle();
      stats.steals += worker->steals;
      if (worker->tensors != nullptr) stats.kernel_seconds += worker->tensors->kernel_seconds;
      stats.atomic_operations += worker->atomic_operations;
      for (std::size_t i = 0; i < stats.regions.size(); ++i)
        stats.regions[i].firings += worker->region_firings[i];
    }
    if (heap_ != nullptr && options_.stats != nullptr) stats.values_live_at_end = heap_->count_values();
    // After a run that failed its tensors are all forgotten with the heap.
    if (tensor_heap_ && options_.stats != nullptr && has_results) {
      stats.values_live_at_end += tensor_heap_->count_tensors();
    }
    stats.frames_live_most = stats.frames_allocated;
    stats.frames_live_at_end = stats.frames_allocated - idle;
    for (std::size_t i = 0; i < stats.regions.size(); ++i) {
      if (plan_.region_is_body[i]) stats.calls += stats.regions[i].firings;
    }
    if (stats.calls > 0) --stats.calls;  // main itself is not called
    return stats;
  }

  const Graph& graph_;
  const Plan& plan_;
  const std::span<const Value> arguments_;
  const RunOptions& options_;
  FrameBudget budget_;
  std::optional<CallKinds> kinds_;             ///< where the run is drawn
  std::vector<Trace::Track*> tracks_{};        ///< by worker; empty: it is not drawn
  std::unique_ptr<DataHeap, LeaveHeap> heap_;  ///< of a plan with data values
  std::optional<TensorHeap> tensor_heap_{};    ///< of a plan with tensors
  RunState state_;
  std::vector<Slot> root_slots_;  ///< the frame that main returns to
  std::mutex mutex_;
  std::optional<RunError> error_;
  std::atomic<Fault> stop_fault_{Fault::None};
};

}  // namespace

RunResult run_plan(const Graph& graph, const Plan& plan, std::span<const Value> arguments,
                   const RunOptions& options) {
  return DirectRun(graph, plan, arguments, options).run();
}

}  // namespace hiaton::exec::direct
