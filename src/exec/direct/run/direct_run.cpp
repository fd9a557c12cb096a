#include "exec/direct/run/direct_run.h"

#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "base/borrowed_pool.h"
#include "base/check.h"
#include "exec/budget.h"
#include "exec/direct/run/call_chain.h"
#include "exec/direct/run/direct_worker.h"
#include "exec/direct/run/interpret.h"
#include "exec/direct/run/remote_calls.h"
#include "exec/direct/run/sent_calls.h"
#include "exec/fault.h"
#include "exec/graph_names.h"
#include "exec/run_watch.h"
#include "hiaton/thread_pool.h"
#include "tensor/reference_check.h"

namespace hiaton::exec::direct {

namespace {

using Clock = std::chrono::steady_clock;

class DirectRun : private RemoteCalls::Owner, private SentCalls::Owner {
 public:
  DirectRun(const Graph& graph, const Plan& plan, std::span<const Value> arguments, const RunOptions& options,
            LastRun& last)
      : graph_(graph),
        plan_(plan),
        arguments_(arguments),
        options_(options),
        last_(last),
        root_slots_(frame_bytes(plan.result_count) / sizeof(Slot)) {
    budget_.begin(options);
    // Without groups of calls there is nothing that one worker could take from another, but for a part of a
    // large launch.
    const bool is_parallel = plan.entry[-1].target == plan.entry && !plan.groups.empty();
    const bool is_placed = !plan.sent.empty();
    const bool has_workers = (is_parallel || plan.has_tensors) && !is_placed;
    const int workers = has_workers ? std::max(1, options.workers) : 1;
    const bool is_alone = options.processes == nullptr || options.processes->size() == 1;
    if (is_alone && !options.share_every_call) state_.fork_room = fork_room_for(workers - 1);
    if (plan.has_data) {
      const auto take_bytes = [this](std::size_t bytes) { return budget_.take_bytes(bytes); };
      // A test of all that may happen sees a cell exchanged wherever it can be.
      heap_ = options.share_every_call ? KeptHeap::Lent(DataHeap::make(take_bytes, {0, 0}))
                                       : last.heap.take(take_bytes);
    }
    if (plan.has_tensors) {
      tensor_heap_.emplace([this](std::size_t bytes) { return budget_.take_bytes(bytes); },
                           [this](std::size_t bytes) { budget_.give_bytes(bytes); });
    }
    for (int i = 0; i < workers; ++i) {
      TensorHeap* tensors = tensor_heap_ ? &*tensor_heap_ : nullptr;
      state_.workers.push_back(std::make_unique<Worker>(state_, plan, budget_, heap_.get(), tensors));
      state_.workers.back()->parameters = options.parameters;
      state_.workers.back()->options = &options;
      if (tensors != nullptr) {
        state_.workers.back()->tensors->times_kernels = options.time_kernels;
        state_.workers.back()->tensors->rows = options.rows;
      }
    }
    state_.share_launches(plan);
    if (is_placed) {
      sent_.emplace(*options.processes, state_, plan, budget_, root(), static_cast<SentCalls::Owner&>(*this));
      state_.sent = &*sent_;
    } else if (options.processes != nullptr && is_parallel)
      remote_.emplace(*options.processes, state_, plan, budget_, static_cast<RemoteCalls::Owner&>(*this));
    state_.remote = remote_ ? &*remote_ : nullptr;
    state_.shares_every_call = options.share_every_call && is_parallel && (workers > 1 || remote_);
    if (options.trace != nullptr) draw_in(*options.trace);
  }

  RunResult run() {
    if (!is_first() && !remote_ && !sent_) return {};  // there is nothing to be shared
    start_ = Clock::now();
    work();
    for (Trace::Track* track : tracks_) track->count(0, 0);
    const bool has_results = state_.finished.load() && !error_ && !state_.stopping.load();
    std::vector<Value> values = has_results && is_first() ? results() : std::vector<Value>();
    const uint64_t unexplained = has_results ? 0 : find_unexplained();
    if (heap_ != nullptr && !has_results) heap_->forget_values();
    const Clock::duration time = Clock::now() - start_;
    last_.took(time);
    RunStats stats = collect(std::chrono::duration<double>(time).count(), has_results);
    stats.values_live_at_end += unexplained;
    if (remote_) remote_->finish(stats);
    if (sent_) sent_->finish(stats);
    if (options_.stats != nullptr) *options_.stats = stats;
    state_.throw_kept();
    if (!is_first()) return {{}, std::move(stats)};
    if (error_) throw RunError(*error_);
    if (state_.stopping.load()) throw_without_place();
    HIATON_CHECK(state_.finished.load());
    if (!options_.share_every_call) heap_.get_deleter().keeper = &last_.heap;
    return {std::move(values), std::move(stats)};
  }

 private:
  bool is_first() const { return options_.processes == nullptr || options_.processes->self() == 0; }

  void draw_in(Trace& trace) {
    kinds_.emplace(trace, graph_);
    for (std::size_t i = 0; i < state_.workers.size(); ++i) {
      tracks_.push_back(&trace.worker(i));
      state_.workers[i]->calls.turn_on(*kinds_, trace, *tracks_[i]);
    }
  }

  /// No other thread works for the run any more when it returns or throws.
  void work() {
    std::jthread remote;
    std::optional<RunWatch> watch;
    try {
      if (remote_) remote = std::jthread([this] { remote_->serve(); });
      if (is_first() && RunWatch::is_needed(options_)) {
        watch.emplace(options_, start_, [this](Fault fault) {
          stop_fault_.store(fault);
          state_.stop();
          if (sent_) sent_->wake();
        });
      }
      if (remote_) begin_others();
    } catch (...) {
      if (remote_ && !is_first()) remote_->report(error_without_place(Fault::OutOfMemory), nullptr, nullptr);
      state_.stop();
      throw;
    }
    Worker& first = *state_.workers[0];
    if (sent_) return sent_->run([&] { return start_main(first); });
    if (state_.shares_every_call && is_first()) {
      if (!remote_) begin_others();
      first.wait_for_others();
    } else if (state_.workers.size() > 1 && !remote_) {
      first.fork_room = 0;
      state_.call_others = [this] { return call_others(); };
    }
    if (is_first()) settle(first, first.begin([&] { return start_main(first); }));
    if (!is_over()) settle(first, first.help());
    helpers_.end();
    if (remote_) remote_->wake();
  }

  void begin_others() {
    if (state_.workers.size() == 1) return;
    helpers_.begin(remote_ ? nullptr : options_.pool, state_.workers.size() - 1, [this](std::size_t i) {
      if (!is_over()) settle(*state_.workers[i + 1], state_.workers[i + 1]->help());
    });
  }

  /// A run that is as short as others are to come is better off alone. The last one tells, and where that was
  /// short, this one when it takes longer.
  bool call_others() {
    constexpr uint32_t kForksALook = 32;
    constexpr std::chrono::microseconds kToWake{50};
    if (last_.was_below(kToWake)) {
      if (++early_forks_ % kForksALook != 0 || Clock::now() - start_ < kToWake) return false;
    }
    try {
      begin_others();
    } catch (...) {
      state_.stop_for(std::current_exception());
    }
    return true;
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
      case Outcome::Sends:
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

  /// Keeps the first error of this process. The chain is read before any frame is given back: those further
  /// out belong to nobody else as long as this worker has not come back to them.
  void keep_error(Worker& worker, Fault fault) {
    if (fault == Fault::None || (worker.frame == nullptr && is_first())) return;
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(has_failed_, true)) return;
    }
    const RunError error = worker.frame == nullptr ? error_without_place(fault) : error_at(worker, fault);
    if (remote_) return remote_->report(of_this_process(error), worker.frame, worker.pc);
    if (sent_) return sent_->report(of_this_process(error), worker.frame, worker.pc);
    take_error(error);
  }

  RunError of_this_process(const RunError& error) const {
    const net::Transport& processes = *options_.processes;
    if (processes.size() == 1) return error;
    return on_process(error, processes.self(), processes.host(processes.self()));
  }

  RunError error_at(const Worker& worker, Fault fault) const {
    DirectChain chain(graph_, plan_, worker.frame, worker.pc);
    const RunPlace place{graph_, arguments_, chain};
    const NodeId node = worker.pc == nullptr ? NodeId() : plan_.nodes[plan_.index_of(worker.pc)];
    if (worker.fault != Fault::None && node.valid() && is_operation_fault(fault))
      return operation_error(place, node, operands_of_failed(graph_, worker, node), fault);
    return budget_error(place, options_, fault);
  }

  RunError with_calls_around(const RunError& error, const Frame* frame, const Group::Call& call) override {
    const Instruction* at = call.resume - 1;
    DirectChain outer(graph_, plan_, frame, at);
    LinkedChain chain(std::nullopt, plan_.sites[plan_.index_of(at)], outer);
    return exec::with_calls_around({graph_, arguments_, chain}, error);
  }

  RunError with_calls_around(const RunError& error, const Frame* frame, const Instruction* pc) override {
    DirectChain chain(graph_, plan_, frame, pc);
    if (chain.at_call()) return exec::with_calls_around({graph_, arguments_, chain}, error);
    // The call has taken over the frame of the program, which ends the chain.
    std::vector<CallRecord> calls = error.chain();
    if (!calls.empty()) calls.back() = {};
    return exec::with_calls_around({graph_, arguments_, chain},
                                   {error.fault(), error.message(), std::move(calls), error.chain_length()});
  }

  CallRecord outermost_call(const Frame* frame, const Instruction* pc, graph::FunctionId called) override {
    DirectChain chain(graph_, plan_, frame, pc);
    while (chain.at_call()) chain.go_outward();
    return shown_call(graph_, called, chain.function(), chain.arguments());
  }

  void settle(Outcome outcome) override { settle(*state_.workers[0], outcome); }

  CallRecord outermost_call(const Frame* frame, const Instruction* pc, graph::CallSite site) override {
    return outermost_call(frame, pc, graph_[site].callee);
  }

  void take_error(const RunError& error) override {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = error;
  }

  RunError error_without_place(Fault fault) const {
    DirectChain chain(graph_, plan_, nullptr, nullptr);
    return budget_error({graph_, arguments_, chain}, options_, fault);
  }

  /// No worker had a frame when the run was stopped.
  [[noreturn]] void throw_without_place() {
    Fault fault = stop_fault_.load();
    for (const std::unique_ptr<Worker>& worker : state_.workers) {
      if (fault == Fault::None) fault = worker->fault;
    }
    const RunError error = error_without_place(fault);
    throw remote_ || sent_ ? of_this_process(error) : error;
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

  /// Values of this process whose counts nothing explains, after an error.
  uint64_t find_unexplained() {
    if (!options_.checks_counts) return 0;
    try {
      return count_unexplained(heap_.get(), tensor_heap_ ? &*tensor_heap_ : nullptr,
                               [this](const auto& visit) {
                                 visit(root_slots_);
                                 for (const std::unique_ptr<Worker>& worker : state_.workers)
                                   worker->visit_slots(visit);
                                 if (remote_) remote_->visit_slots(visit);
                                 if (sent_) sent_->visit_slots(visit);
                               });
    } catch (const std::bad_alloc&) {
      return 0;  // the run has ended for want of memory, and so does the check
    }
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
    if (heap_ != nullptr && options_.checks_counts) stats.values_live_at_end = heap_->count_values();
    // After a run that failed its tensors are all forgotten with the heap.
    if (tensor_heap_ && options_.checks_counts && has_results) {
      stats.values_live_at_end += tensor_heap_->count_tensors();
    }
    if (remote_) idle += remote_->pool().count_idle();
    stats.frames_live_most = stats.frames_allocated;
    stats.frames_live_at_end = stats.frames_allocated - idle;
    for (std::size_t i = 0; i < stats.regions.size(); ++i) {
      if (plan_.region_is_body[i]) stats.calls += stats.regions[i].firings;
    }
    if (stats.calls > 0 && is_first()) --stats.calls;  // main itself is not called
    return stats;
  }

  const Graph& graph_;
  const Plan& plan_;
  const std::span<const Value> arguments_;
  const RunOptions& options_;
  LastRun& last_;
  Clock::time_point start_{};
  Budget budget_;
  std::optional<CallKinds> kinds_;           ///< where the run is drawn
  std::vector<Trace::Track*> tracks_{};      ///< by worker; empty: it is not drawn
  KeptHeap::Lent heap_;                      ///< only where the plan has data values
  std::optional<TensorHeap> tensor_heap_{};  ///< only where the plan has tensors
  RunState state_;
  std::vector<Slot> root_slots_;  ///< the frame that main returns to
  std::mutex mutex_;
  bool has_failed_ = false;  ///< in this process
  std::optional<RunError> error_;
  uint32_t early_forks_ = 0;  ///< forks that found the other workers not called yet
  std::atomic<Fault> stop_fault_{Fault::None};
  std::optional<RemoteCalls> remote_{};  ///< where several processes share the run
  std::optional<SentCalls> sent_{};      ///< where functions are placed on several processes
  Helpers helpers_;                      ///< last: it ends before the rest goes
};

}  // namespace

RunResult run_plan(const Graph& graph, const Plan& plan, std::span<const Value> arguments,
                   const RunOptions& options, LastRun& last) {
  return DirectRun(graph, plan, arguments, options, last).run();
}

}  // namespace hiaton::exec::direct
