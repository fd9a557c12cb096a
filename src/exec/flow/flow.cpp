#include "exec/flow/flow.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <new>
#include <optional>

#include "exec/flow/team.h"
#include "exec/flow/worker.h"
#include "hiaton/thread_pool.h"

namespace hiaton::exec {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Examples that are run and batched by themselves.
struct Part {
  flow::ExampleRange examples;
  std::unique_ptr<Gradients> gradients;
  RunStats stats;
  std::exception_ptr error;
};

std::vector<Part> cut(Examples& examples, std::size_t count, const graph::Graph& graph,
                      flow::Workers* gradients) {
  std::vector<Part> parts(count);
  for (std::size_t i = 0; i < count; ++i) {
    parts[i].examples = {&examples, examples.size() * i / count, examples.size() * (i + 1) / count};
    if (gradients != nullptr && i > 0) parts[i].gradients = gradients->take_gradients(graph);
  }
  return parts;
}

void run_part(const graph::Graph& graph, flow::Worker& worker, const RunOptions& options,
              const flow::PackedParameters& packed, SharedUse& use, Part& part, Trace::Track* track) {
  const auto keep_error = [&part](const auto& work) {
    try {
      work();
    } catch (...) {
      if (part.error == nullptr) part.error = std::current_exception();
    }
  };
  if (part.gradients != nullptr) part.gradients->clear();
  keep_error([&] {
    worker.run(graph, part.examples, options, packed, use,
               part.gradients != nullptr ? part.gradients.get() : options.gradients, track);
  });
  if (part.error != nullptr && track != nullptr) track->end_all();
  if (options.stats != nullptr) keep_error([&] { worker.add_to(part.stats); });
}

void add(RunStats& sum, const RunStats& part) {
  sum.calls += part.calls;
  sum.frames_allocated += part.frames_allocated;
  sum.frames_live_most += part.frames_live_most;
  sum.bytes += part.bytes;
  sum.kernel_seconds += part.kernel_seconds;
  sum.regions.resize(part.regions.size());
  for (std::size_t i = 0; i < part.regions.size(); ++i) {
    sum.regions[i].function = part.regions[i].function;
    sum.regions[i].name = part.regions[i].name;
    sum.regions[i].firings += part.regions[i].firings;
    sum.regions[i].launches += part.regions[i].launches;
  }
}

}  // namespace

namespace flow {

Workers::Workers() = default;
Workers::~Workers() = default;

template <class T>
std::unique_ptr<T> Workers::take_from(std::vector<std::unique_ptr<T>>& resting) {
  const std::lock_guard lock(mutex_);
  if (resting.empty()) return nullptr;
  std::unique_ptr<T> one = std::move(resting.back());
  resting.pop_back();
  return one;
}

/// Keeps it for later runs, or, where there is no memory for that, lets go of it.
template <class T>
void Workers::keep_in(std::vector<std::unique_ptr<T>>& resting, std::unique_ptr<T> one) {
  const std::lock_guard lock(mutex_);
  try {
    resting.push_back(std::move(one));
  } catch (const std::bad_alloc&) {  // `one` goes
  }
}

std::unique_ptr<Worker> Workers::take(const graph::Graph& graph, const std::shared_ptr<const Plan>& plan) {
  std::unique_ptr<Worker> rested = take_from(workers_);
  return rested != nullptr ? std::move(rested) : std::make_unique<Worker>(graph, plan);
}

void Workers::give_back(std::unique_ptr<Worker> worker) {
  keep_in(workers_, std::move(worker));
}

std::unique_ptr<PackedParameters> Workers::take_packed(const Plan& plan) {
  std::unique_ptr<PackedParameters> rested = take_from(packed_);
  return rested != nullptr ? std::move(rested) : std::make_unique<PackedParameters>(plan);
}

void Workers::give_back(std::unique_ptr<PackedParameters> packed) {
  keep_in(packed_, std::move(packed));
}

std::unique_ptr<Gradients> Workers::take_gradients(const graph::Graph& graph) {
  std::unique_ptr<Gradients> rested = take_from(gradients_);
  return rested != nullptr ? std::move(rested) : std::make_unique<Gradients>(graph.parameters());
}

void Workers::give_back(std::unique_ptr<Gradients> gradients) {
  keep_in(gradients_, std::move(gradients));
}

}  // namespace flow

bool needs_flow(const graph::Graph& graph) {
  if (!graph.parameters().empty()) return true;
  const auto several_phases = [](const graph::Function& function) { return function.phases.size() > 1; };
  if (std::any_of(graph.functions().begin(), graph.functions().end(), several_phases)) return true;
  return std::any_of(graph.nodes().begin(), graph.nodes().end(),
                     [](const graph::Node& node) { return !node.type.is_scalar(); });
}

/// The parts are the same for any number of workers, and their gradients are added in their order.
void run_flow(const graph::Graph& graph, const std::shared_ptr<const flow::Plan>& plan,
              flow::Workers& resting, Examples& examples, const RunOptions& options) {
  const auto start = Clock::now();
  const auto workers = static_cast<std::size_t>(options.workers);
  const std::size_t wish = options.parts > 0 ? static_cast<std::size_t>(options.parts) : workers;
  const std::size_t count = std::max<std::size_t>(1, std::min(wish, examples.size()));
  std::vector<Part> parts = cut(examples, count, graph, options.gradients != nullptr ? &resting : nullptr);
  std::atomic<std::size_t> next = 0;
  std::vector<Trace::Track*> tracks(std::min(workers, count));
  for (std::size_t i = 0; i < tracks.size() && options.trace != nullptr; ++i) {
    tracks[i] = &options.trace->worker(i);
  }
  std::atomic<std::size_t> next_track = 0;
  flow::Team team(options.workers, count);
  std::vector<std::exception_ptr> errors(workers);
  SharedUse use(options);
  std::optional<ThreadPool> own;
  ThreadPool* pool = options.pool;
  if (pool == nullptr && workers > 1) pool = &own.emplace(options.workers);
  std::unique_ptr<flow::PackedParameters> packed = resting.take_packed(*plan);
  const auto packing = Clock::now();
  packed->update(options.parameters, pool);
  const double packing_seconds = seconds_since(packing);
  /// As many as it gets; an exception comes before the first one has begun.
  const auto run_parts = [&] {
    std::size_t i = next.fetch_add(1);
    if (i >= parts.size()) return;
    std::unique_ptr<flow::Worker> worker = resting.take(graph, plan);
    if (has_byte_budget(options) && worker->held_bytes() > options.max_bytes / 2) {
      worker = std::make_unique<flow::Worker>(graph, plan);  // earlier runs were larger
    }
    const kernels::HelpedLaunches helped(workers > 1 ? &team : nullptr);
    Trace::Track* const track = tracks[next_track.fetch_add(1)];
    for (; i < parts.size(); i = next.fetch_add(1)) {
      run_part(graph, *worker, options, *packed, use, parts[i], track);
      team.end_part();
    }
    team.become_idle();
    resting.give_back(std::move(worker));
  };
  const auto work = [&](std::size_t number) {
    try {
      run_parts();
    } catch (...) {
      errors[number] = std::current_exception();
      team.end_part();  // the one that it had taken
    }
    if (next.load() >= parts.size()) team.rest();  // else one thread makes all calls of this, one by one
  };
  if (workers > 1) {
    pool->run(workers, std::ref(work));
  } else {
    work(0);
  }
  if (options.stats != nullptr) {
    RunStats& stats = *options.stats = {};
    for (Part& part : parts) add(stats, part.stats);
    stats.seconds = seconds_since(start);
    if (options.time_kernels) stats.kernel_seconds += packing_seconds;
  }
  resting.give_back(std::move(packed));
  std::exception_ptr error;
  for (const std::exception_ptr& one : errors) {
    if (error == nullptr) error = one;
  }
  for (Part& part : parts) {
    if (part.error != nullptr && error == nullptr) error = part.error;
    if (part.gradients != nullptr) {
      if (error == nullptr) options.gradients->add(*part.gradients, pool);
      resting.give_back(std::move(part.gradients));
    }
  }
  if (error != nullptr) std::rethrow_exception(error);
}

}  // namespace hiaton::exec
