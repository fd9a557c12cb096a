#include "exec/production.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>

#include "base/borrowed_pool.h"
#include "exec/counted_run.h"
#include "exec/direct/run/call_chain.h"
#include "exec/direct/run/direct_run.h"
#include "exec/fault.h"
#include "exec/flow/run/flow_run.h"
#include "exec/flow/run/placed_run.h"
#include "exec/graph_names.h"
#include "exec/listed_examples.h"
#include "exec/literal_run.h"
#include "exec/place_program.h"
#include "exec/reference.h"
#include "hiaton/error.h"
#include "hiaton/thread_pool.h"
#include "net/transport.h"

namespace hiaton::exec {

namespace {

using Clock = std::chrono::steady_clock;

direct::PlanOptions direct_options(const RunOptions& options) {
  const bool forking = options.workers > 1 || options.processes != nullptr;
  return {options.overflow, forking, options.count_regions, options.trace != nullptr,
          forking ? options.parallel_iterations : 1};
}

partition::Places places_of(const RunOptions& options) {
  partition::Places places{flow::group_size(options), options.places, {}};
  if (options.place_parameters) places.most_bytes = options.max_bytes;
  return places;
}

/// Whether parts of the program are on different processes.
bool is_spread(const Graph& graph, const RunOptions& options) {
  return options.processes != nullptr && flow::group_size(options) > 1 &&
         has_places(graph, places_of(options));
}

/// `run` takes a list of argument lists: the one that is given, where it is this process that has it.
template <class Run>
RunResult run_listed(std::span<const Value> arguments, const RunOptions& options, bool is_here, Run run) {
  std::vector<std::vector<Value>> lists(is_here ? 1 : 0);
  if (is_here) lists[0].assign(arguments.begin(), arguments.end());
  ListedExamples examples(lists);
  RunResult result;
  RunOptions own = options;
  own.stats = &result.stats;
  const auto report = [&] {
    if (options.stats != nullptr) *options.stats = result.stats;
  };
  try {
    run(examples, own);
  } catch (...) {
    report();
    throw;
  }
  report();
  if (is_here) result.values = std::move(examples.take_all()[0]);
  return result;
}

RunResult run_placed(const Graph& graph, std::span<const Value> arguments, const RunOptions& options,
                     PlanCache& plans) {
  const PlanCache::PlacedEntry& entry = plans.get_placed(graph, direct_options(options), places_of(options),
                                                         kind_of_run(options.batching, 1, 1));
  if (entry.flow_plan != nullptr) {
    if (options.gradients != nullptr)
      throw ProgramError(
          "expected a run without gradients of learned parameters, where a program places something on "
          "several processes, found one");
    const bool is_first = options.processes->self() == 0;
    return run_listed(arguments, options, is_first, [&](Examples& example, const RunOptions& own) {
      run_placed_flow(*entry.graph, entry.flow_plan, *entry.codecs, entry.workers, example, arguments, own);
    });
  }
  if (entry.plan == nullptr) {
    return run_with_fallback(options, entry.reason,
                             [&] { return run_literal(graph, *entry.parts, arguments, options); });
  }
  return direct::run_plan(*entry.graph, *entry.plan, arguments, options, entry.last_run);
}

/// The plan of a program all of which is direct in such a run, or why it has none: its Switch and Merge nodes
/// do not nest, or a frame would be too large. Null where main is in flow.
const PlanCache::Entry* direct_entry(const Graph& graph, const FunctionSet& direct, const RunOptions& options,
                                     PlanCache& plans) {
  return direct[graph.main().index()] ? &plans.get(graph, direct, direct_options(options)) : nullptr;
}

const PlanCache::FlowEntry& flow_entry(const Graph& graph, const FunctionSet& direct,
                                       const RunOptions& options, PlanCache& plans) {
  direct::PlanOptions below_flow = direct_options(options);
  below_flow.traced = false;
  return plans.get_flow(graph, direct, below_flow);
}

/// Whether processes give each other calls of the plan. Gradients of learned parameters are sums of one
/// process.
bool is_shared(const PlanCache::FlowEntry& entry, const RunOptions& options) {
  return options.processes != nullptr && entry.plan != nullptr && options.gradients == nullptr;
}

/// Nothing where processes do not give each other calls of the program, in which these functions are direct.
std::optional<RunResult> run_shared(const Graph& graph, std::span<const Value> arguments,
                                    const FunctionSet& direct, const RunOptions& options, PlanCache& plans) {
  if (options.processes == nullptr || is_spread(graph, options)) return std::nullopt;
  const PlanCache::FlowEntry& entry = flow_entry(graph, direct, options, plans);
  if (!is_shared(entry, options)) return std::nullopt;
  const bool is_first = options.processes->self() == 0;
  return run_listed(arguments, options, is_first, [&](Examples& example, const RunOptions& own) {
    run_shared_flow(entry.planned(graph), entry.plan, plans.shared_codecs(entry), entry.workers, example,
                    arguments, own);
  });
}

}  // namespace

RunResult run_production(const Graph& graph, std::span<const Value> arguments, const RunOptions& options,
                         PlanCache& plans) {
  if (options.replicas > 1 && options.processes != nullptr)
    throw ProgramError(
        fmt::format("expected one replica in a run of one argument list, found {}", options.replicas));
  if (is_spread(graph, options)) return run_placed(graph, arguments, options, plans);
  const FunctionSet& functions =
      plans.direct_functions(graph, kind_of_run(options.batching, 1, options.workers));
  const PlanCache::Entry* direct = direct_entry(graph, functions, options, plans);
  if (options.processes != nullptr && (direct == nullptr || direct->plan == nullptr)) {
    if (auto shared = run_shared(graph, arguments, functions, options, plans)) return std::move(*shared);
    if (options.processes->self() != 0) return {};
  }
  return direct != nullptr && direct->plan != nullptr
             ? direct::run_plan(direct->planned(graph), *direct->plan, arguments, options, direct->last_run)
             : run_as_example(graph, arguments, options, plans);
}

RunResult run_as_example(const Graph& graph, std::span<const Value> arguments, const RunOptions& options,
                         PlanCache& plans) {
  if (options.executor == Executor::Flow) {
    if (auto shared = run_shared(graph, arguments, plans.no_functions(graph), options, plans))
      return std::move(*shared);
  }
  const bool is_here = options.processes == nullptr || options.processes->self() == 0;
  return run_listed(arguments, options, is_here, [&](Examples& example, const RunOptions& own) {
    run_production_all(graph, example, own, plans);
  });
}

namespace {

/// Adds what a run did to what the runs before it did, one after the other.
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

  void in_turns(const PlanCache::Entry& entry) {
    for (std::size_t i = 0; i < examples_.size(); ++i) run_one(entry, i, options_);
  }

  /// `entry` is that of one worker.
  void shared_out(const PlanCache::Entry& entry) {
    std::optional<BorrowedPool> own;
    ThreadPool* pool = options_.pool;
    if (pool == nullptr) pool = own.emplace(options_.workers).get();
    const auto threads = static_cast<std::size_t>(options_.workers);
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    std::pair<std::size_t, std::exception_ptr> first_error{examples_.size(), nullptr};
    RunOptions alone = options_;
    alone.workers = 1;
    pool->run(threads, [&](std::size_t) {
      for (std::size_t i = next.fetch_add(1); i < examples_.size(); i = next.fetch_add(1)) {
        try {
          run_one(entry, i, alone);
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
  void run_one(const PlanCache::Entry& entry, std::size_t index, const RunOptions& options) {
    std::vector<Value> storage;
    const std::span<const Value> arguments = examples_.view_arguments(index, storage);
    RunStats stats;
    std::optional<RunOptions>
        own;  // where they are not those of all: to copy them takes longer than small runs
    if (options.stats != nullptr) own.emplace(options).stats = &stats;
    if (options.timeout != std::chrono::nanoseconds::max()) {  // that of all runs together
      if (!own) own.emplace(options);
      own->timeout = options.timeout - (Clock::now() - start_);
      if (own->timeout <= std::chrono::nanoseconds::zero()) {
        direct::DirectChain nowhere(entry.planned(graph_), *entry.plan, nullptr, nullptr);
        throw budget_error({graph_, arguments, nowhere}, options, Fault::Timeout);
      }
    }
    RunResult result =
        direct::run_plan(entry.planned(graph_), *entry.plan, arguments, own ? *own : options, entry.last_run);
    examples_.take_results(index, std::move(result.values));
    if (options.stats == nullptr) return;
    const std::lock_guard lock(mutex_);
    add_run(*options_.stats, stats);
  }

  const Graph& graph_;
  Examples& examples_;
  const RunOptions& options_;
  const Clock::time_point start_;
  std::mutex mutex_;  ///< guards the stats
};

}  // namespace

namespace {

void run_placed_all(const Graph& graph, Examples& examples, const RunOptions& options, PlanCache& plans) {
  const PlanCache::PlacedEntry& entry =
      plans.get_placed(graph, direct_options(options), places_of(options), RunKind::OfExamples);
  if (entry.flow_plan == nullptr)
    throw ProgramError(fmt::format(
        "expected a program that runs in batches, where it places something on several processes, found one "
        "that does not{}{}",
        entry.reason.empty() ? "" : ": ", entry.reason));
  run_placed_flow(*entry.graph, entry.flow_plan, *entry.codecs, entry.workers, examples, {}, options);
}

const FunctionSet& direct_functions(const Graph& graph, std::size_t examples, const RunOptions& options,
                                    PlanCache& plans) {
  if (options.executor != Executor::Production) return plans.no_functions(graph);
  // Processes have one plan, whichever of them has the examples.
  if (options.processes != nullptr)
    return plans.direct_functions(graph, kind_of_run(options.batching, 0, options.workers));
  return plans.direct_functions(graph, kind_of_run(options.batching, examples, options.workers));
}

}  // namespace

std::unique_ptr<PhasedRun> open_production(const Graph& graph, const RunOptions& options, PlanCache& plans) {
  const FunctionSet& direct = direct_functions(graph, 1, options, plans);
  const PlanCache::FlowEntry& entry = flow_entry(graph, direct, options, plans);
  if (entry.plan != nullptr) return open_flow(entry.planned(graph), entry.plan, entry.workers, options);
  return open_reference(graph, options, entry.reason);
}

void run_production_all(const Graph& graph, Examples& examples, const RunOptions& options, PlanCache& plans) {
  if (is_spread(graph, options)) return run_placed_all(graph, examples, options, plans);
  const bool shared_out = DirectRuns::are_shared_out(examples, options);
  // Made where it is needed alone: to copy options takes as long as parts of small runs.
  std::optional<RunOptions> alone;
  if (shared_out) alone.emplace(options).workers = 1;
  const FunctionSet& functions = direct_functions(graph, examples.size(), options, plans);
  const PlanCache::Entry* direct = direct_entry(graph, functions, alone ? *alone : options, plans);
  if (direct != nullptr && direct->plan != nullptr) {
    if (options.processes != nullptr) {  // each process runs its own examples
      RunOptions here = options;
      here.processes = nullptr;
      return run_production_all(graph, examples, here, plans);
    }
    DirectRuns runs(graph, examples, options);
    return shared_out ? runs.shared_out(*direct) : runs.in_turns(*direct);
  }
  const PlanCache::FlowEntry& entry = flow_entry(graph, functions, options, plans);
  if (is_shared(entry, options)) {
    return run_shared_flow(entry.planned(graph), entry.plan, plans.shared_codecs(entry), entry.workers,
                           examples, {}, options);
  }
  if (entry.plan != nullptr)
    return run_flow(entry.planned(graph), entry.plan, entry.workers, examples, options);
  if (options.rows != nullptr)
    throw ProgramError(fmt::format(
        "expected a program that the production executor runs, where another process holds parameters, found "
        "one that it does not: {}",
        direct != nullptr ? direct->reason : entry.reason));
  for (std::size_t i = 0; i < examples.size(); ++i) {
    RunResult result = run_with_fallback(options, direct != nullptr ? direct->reason : entry.reason, [&] {
      return run_reference(graph, examples.arguments(i), options);
    });
    examples.take_results(i, std::move(result.values));
  }
}

}  // namespace hiaton::exec
