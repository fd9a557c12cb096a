#include "exec/production.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <optional>
#include <thread>

#include "base/check.h"
#include "exec/budget.h"
#include "exec/direct_functions.h"
#include "exec/fault.h"
#include "exec/flow/flow.h"
#include "exec/listed_examples.h"
#include "exec/reference.h"
#include "exec/run_watch.h"
#include "exec/scalar/call_chain.h"
#include "exec/scalar/interpret.h"
#include "exec/scalar/kernel_table.h"
#include "exec/scalar/worker.h"
#include "hiaton/thread_pool.h"

namespace hiaton::exec {

using graph::Graph;
using graph::NodeId;

namespace {

using Clock = std::chrono::steady_clock;

/// A heap that is left at the end of a run, where it has one.
struct LeaveHeap {
  void operator()(DataHeap* heap) const { heap->leave(); }
};

class ProductionRun {
 public:
  ProductionRun(const Graph& graph, const Plan& plan, std::span<const Value> arguments,
                const RunOptions& options)
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
    for (int i = 0; i < workers; ++i) {
      crew_.workers.push_back(std::make_unique<Worker>(crew_, plan, budget_, heap_.get()));
    }
    if (options.trace != nullptr) draw_in(*options.trace);
  }

  RunResult run() {
    const Clock::time_point start = Clock::now();
    work(start);
    for (Trace::Track* track : tracks_) track->count(0, 0);
    const bool has_results = crew_.finished.load() && !error_ && !crew_.stopping.load();
    std::vector<Value> values = has_results ? results() : std::vector<Value>();
    if (heap_ != nullptr && !has_results) heap_->forget_values();
    RunStats stats = collect(std::chrono::duration<double>(Clock::now() - start).count());
    if (options_.stats != nullptr) *options_.stats = stats;
    if (error_) throw RunError(*error_);
    if (crew_.stopping.load()) throw_without_place();
    HIATON_CHECK(crew_.finished.load());
    return {std::move(values), std::move(stats)};
  }

 private:
  void draw_in(Trace& trace) {
    kinds_.emplace(trace, graph_);
    for (std::size_t i = 0; i < crew_.workers.size(); ++i) {
      tracks_.push_back(&trace.worker(i));
      crew_.workers[i]->calls.turn_on(*kinds_, trace, *tracks_[i]);
    }
  }

  /// All threads have ended when it returns or throws.
  void work(Clock::time_point start) {
    std::vector<std::jthread> threads;
    threads.reserve(crew_.workers.size());
    std::optional<RunWatch> watch;
    try {
      for (std::size_t i = 1; i < crew_.workers.size(); ++i) {
        threads.emplace_back([this, i] { settle(*crew_.workers[i], crew_.workers[i]->help()); });
      }
      if (RunWatch::is_needed(options_)) {
        watch.emplace(options_, start, [this](Fault fault) {
          stop_fault_.store(fault);
          crew_.stop();
        });
      }
    } catch (...) {
      crew_.stop();
      throw;
    }
    Worker& first = *crew_.workers[0];
    settle(first, first.begin([&] { return start_main(first); }));
    if (!is_over()) settle(first, first.help());
  }

  Frame* root() { return reinterpret_cast<Frame*>(root_slots_.data()); }
  bool is_over() const { return crew_.finished.load() || crew_.stopping.load(); }

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
        crew_.finished.store(true);
        return;
      case Outcome::Stopped:
        report(worker, stop_fault_.load());
        break;
      case Outcome::Failed:
        report(worker, worker.fault);
        break;
    }
    crew_.stop();
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
    for (const std::unique_ptr<Worker>& worker : crew_.workers) {
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
    }
    if (heap_ != nullptr) heap_->give_out(data);
    std::vector<Value> values;
    for (std::size_t i = 0; i < plan_.result_count; ++i) {
      const Slot slot = root()->slots[i];
      values.push_back(type_of(i).is_data() ? Value(Data::adopt(slot.data)) : Value(type_of(i).dtype, slot));
    }
    return values;
  }

  RunStats collect(double seconds) const {
    RunStats stats;
    stats.seconds = seconds;
    stats.bytes = budget_.bytes.load();
    stats.regions = plan_.regions;
    uint64_t idle = 0;
    for (const std::unique_ptr<Worker>& worker : crew_.workers) {
      stats.frames_allocated += worker->pool.carved();
      idle += worker->pool.count_idle();
      stats.steals += worker->steals;
      stats.atomic_operations += worker->atomic_operations;
      for (std::size_t i = 0; i < stats.regions.size(); ++i)
        stats.regions[i].firings += worker->region_firings[i];
    }
    if (heap_ != nullptr && options_.stats != nullptr) stats.values_live_at_end = heap_->count_values();
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
  Crew crew_;
  std::vector<Slot> root_slots_;  ///< the frame that main returns to
  std::mutex mutex_;
  std::optional<RunError> error_;
  std::atomic<Fault> stop_fault_{Fault::None};
};

}  // namespace

RunResult run_plan(const Graph& graph, const Plan& plan, std::span<const Value> arguments,
                   const RunOptions& options) {
  return ProductionRun(graph, plan, arguments, options).run();
}

namespace {

RunResult run_as_reference(const Graph& graph, std::span<const Value> arguments, const RunOptions& options,
                           const std::string& reason) {
  const auto tell = [&] {
    if (options.stats != nullptr) options.stats->fallback = reason;
  };
  try {
    RunResult result = run_reference(graph, arguments, options);
    result.stats.fallback = reason;
    tell();
    return result;
  } catch (...) {
    tell();
    throw;
  }
}

}  // namespace

namespace {

/// The plan of a program that begins with a direct function, or why it has none: its Switch and Merge nodes
/// do not nest, or a frame would be too large. Null where the program does not begin so.
const PlanCache::Entry* direct_entry(const Graph& graph, const RunOptions& options, PlanCache& plans) {
  if (!is_direct(graph)) return nullptr;
  const bool forking = options.workers > 1;
  const PlanOptions plan_options{options.overflow, forking, options.count_regions, options.trace != nullptr,
                                 forking ? options.parallel_iterations : 1};
  return &plans.get(graph, plan_options);
}

}  // namespace

RunResult run_production(const Graph& graph, std::span<const Value> arguments, const RunOptions& options,
                         PlanCache& plans) {
  const PlanCache::Entry* direct = direct_entry(graph, options, plans);
  return direct != nullptr && direct->plan != nullptr ? run_plan(graph, *direct->plan, arguments, options)
                                                      : run_as_example(graph, arguments, options, plans);
}

RunResult run_as_example(const Graph& graph, std::span<const Value> arguments, const RunOptions& options,
                         PlanCache& plans) {
  const std::vector<Value> list(arguments.begin(), arguments.end());
  ListedExamples example({&list, 1});
  RunResult result;
  RunOptions own = options;
  own.stats = &result.stats;
  const auto report = [&] {
    if (options.stats != nullptr) *options.stats = result.stats;
  };
  try {
    run_production_all(graph, example, own, plans);
  } catch (...) {
    report();
    throw;
  }
  report();
  result.values = std::move(example.take_all()[0]);
  return result;
}

namespace {

/// Of runs one after the other.
void add_run(RunStats& all, const RunStats& run) {
  all.seconds += run.seconds;
  all.calls += run.calls;
  all.steals += run.steals;
  all.atomic_operations += run.atomic_operations;
  all.frames_allocated = std::max(all.frames_allocated, run.frames_allocated);
  all.frames_live_most = std::max(all.frames_live_most, run.frames_live_most);
  all.bytes = std::max(all.bytes, run.bytes);
  all.frames_live_at_end += run.frames_live_at_end;
  all.values_live_at_end += run.values_live_at_end;
  all.regions.resize(run.regions.size());
  for (std::size_t i = 0; i < run.regions.size(); ++i) {
    all.regions[i].function = run.regions[i].function;
    all.regions[i].name = run.regions[i].name;
    all.regions[i].firings += run.regions[i].firings;
  }
}

/// The runs of a program that begins with a direct function. Where there are enough of them, each worker runs
/// some by itself; otherwise they run one after the other, each on all workers.
class DirectRuns {
 public:
  DirectRuns(const Graph& graph, Examples& examples, const RunOptions& options)
      : graph_(graph), examples_(examples), options_(options), start_(Clock::now()) {
    if (options.stats != nullptr) *options.stats = {};
  }

  static bool are_shared_out(const Examples& examples, const RunOptions& options) {
    constexpr std::size_t kEach = 4;
    return options.workers > 1 && options.trace == nullptr &&
           examples.size() >= kEach * static_cast<std::size_t>(options.workers);
  }

  void in_turns(const Plan& plan) {
    for (std::size_t i = 0; i < examples_.size(); ++i) run_one(plan, i, options_);
  }

  /// `plan` is that of one worker.
  void shared_out(const Plan& plan) {
    std::optional<ThreadPool> own;
    ThreadPool* pool = options_.pool;
    if (pool == nullptr) pool = &own.emplace(options_.workers);
    const auto threads = static_cast<std::size_t>(options_.workers);
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    std::pair<std::size_t, std::exception_ptr> first_error{examples_.size(), nullptr};
    RunOptions alone = options_;
    alone.workers = 1;
    pool->run(threads, [&](std::size_t) {
      for (std::size_t i = next.fetch_add(1); i < examples_.size(); i = next.fetch_add(1)) {
        try {
          run_one(plan, i, alone);
        } catch (...) {
          const std::lock_guard lock(mutex);
          if (i < first_error.first) first_error = {i, std::current_exception()};
          next.store(examples_.size());
        }
      }
    });
    if (first_error.second != nullptr) std::rethrow_exception(first_error.second);
  }

 private:
  void run_one(const Plan& plan, std::size_t index, const RunOptions& options) {
    RunOptions own = options;
    RunStats stats;
    if (options.stats != nullptr) own.stats = &stats;
    const std::vector<Value> arguments = examples_.arguments(index);
    if (options.timeout != std::chrono::nanoseconds::max()) {  // that of all runs together
      own.timeout = options.timeout - (Clock::now() - start_);
      if (own.timeout <= std::chrono::nanoseconds::zero()) {
        DirectChain nowhere(graph_, plan, nullptr, nullptr);
        throw budget_error({graph_, arguments, nowhere}, options, Fault::Timeout);
      }
    }
    RunResult result = run_plan(graph_, plan, arguments, own);
    examples_.take_results(index, std::move(result.values));
    if (options.stats == nullptr) return;
    const std::lock_guard lock(mutex_);
    add_run(*options_.stats, stats);
  }

  const Graph& graph_;
  Examples& examples_;
  const RunOptions& options_;
  const Clock::time_point start_;
  std::mutex mutex_;  ///< of the stats
};

}  // namespace

void run_production_all(const Graph& graph, Examples& examples, const RunOptions& options, PlanCache& plans) {
  const bool direct_code = options.executor == Executor::Production;
  const bool shared_out = DirectRuns::are_shared_out(examples, options);
  RunOptions each = options;
  if (shared_out) each.workers = 1;
  const PlanCache::Entry* direct = direct_code ? direct_entry(graph, each, plans) : nullptr;
  if (direct != nullptr && direct->plan != nullptr) {
    DirectRuns runs(graph, examples, options);
    return shared_out ? runs.shared_out(*direct->plan) : runs.in_turns(*direct->plan);
  }
  const PlanCache::FlowEntry& entry = plans.get_flow(graph, options.overflow, direct_code);
  if (entry.plan != nullptr) {
    const Graph& planned = entry.outlined != nullptr ? *entry.outlined : graph;
    return run_flow(planned, entry.plan, entry.workers, examples, options);
  }
  for (std::size_t i = 0; i < examples.size(); ++i) {
    RunResult result = run_as_reference(graph, examples.arguments(i), options,
                                        direct != nullptr ? direct->reason : entry.reason);
    examples.take_results(i, std::move(result.values));
  }
}

}  // namespace hiaton::exec
