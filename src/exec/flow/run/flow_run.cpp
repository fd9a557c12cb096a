#include "exec/flow/run/flow_run.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <new>
#include <optional>

#include "base/part_tree.h"
#include "exec/flow/run/flow_worker.h"
#include "exec/flow/run/team.h"
#include "hiaton/thread_pool.h"

namespace hiaton::exec {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Examples that are run and batched by themselves, or what a worker without any does for others.
struct Part {
  flow::ExampleRange examples;
  std::unique_ptr<Gradients> gradients;
  RunStats stats;
  std::exception_ptr error;
  std::optional<flow::Failure> failure;  ///< the error is made of it when no worker runs any more
  const flow::Worker* worker = nullptr;  ///< whose failure it is
};

std::vector<Part> cut(Examples& examples, std::size_t count, const graph::Graph& graph,
                      flow::Workers* gradients) {
  std::vector<Part> parts(count);
  const std::vector<std::size_t> begins = cut_into_parts(examples.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    parts[i].examples = {&examples, begins[i], begins[i + 1]};
    if (gradients != nullptr && i > 0) parts[i].gradients = gradients->take_gradients(graph);
  }
  return parts;
}

void add(RunStats& sum, const RunStats& part) {
  sum.calls += part.calls;
  sum.steals += part.steals;
  sum.frames_allocated += part.frames_allocated;
  sum.frames_live_most += part.frames_live_most;
  sum.values_live_at_end += part.values_live_at_end;
  sum.bytes += part.bytes;
  sum.kernel_seconds += part.kernel_seconds;
  sum.regions.resize(std::max(sum.regions.size(), part.regions.size()));  // none: it did not run
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

namespace {

/// A run: its parts, and the workers that run them. Parts are the same for any number of workers, and their
/// gradients are added up along the tree over the parts, then those of members that did something for others.
class FlowRun {
 public:
  FlowRun(const graph::Graph& graph, const std::shared_ptr<const flow::Plan>& plan, flow::Workers& resting,
          Examples& examples, const RunOptions& options)
      : graph_(graph),
        plan_(plan),
        resting_(resting),
        options_(options),
        workers_(static_cast<std::size_t>(options.workers)),
        count_(std::max<std::size_t>(
            1, std::min(options.parts > 0 ? static_cast<std::size_t>(options.parts) : workers_,
                        examples.size()))),
        parts_(cut(examples, count_, graph, options.gradients != nullptr ? &resting : nullptr)),
        team_(options.workers, count_, sharing()),
        members_(workers_),
        tracks_(std::min(workers_, count_)),
        use_(options),
        start_(Clock::now()) {
    parts_.resize(count_ + workers_);  // behind them, what members do for others
    for (std::size_t i = 0; i < tracks_.size() && options.trace != nullptr; ++i) {
      tracks_[i] = &options.trace->worker(i);
    }
  }

  void run() {
    std::optional<ThreadPool> own;
    ThreadPool* pool = options_.pool;
    if (pool == nullptr && workers_ > 1) pool = &own.emplace(options_.workers);
    packed_ = resting_.take_packed(*plan_);
    const auto packing = Clock::now();
    packed_->update(options_.parameters, pool);
    const double packing_seconds = seconds_since(packing);
    const auto work = [this](std::size_t) { take_part_in_run(); };
    if (workers_ > 1) {
      pool->run(workers_, work);
    } else {
      work(0);
    }
    if (options_.stats != nullptr) {
      tell_stats();
      options_.stats->seconds = seconds_since(start_);
      if (options_.time_kernels) options_.stats->kernel_seconds += packing_seconds;
    }
    resting_.give_back(std::move(packed_));
    end(first_error(), pool);
  }

 private:
  /// The bits of gradients must not depend on who ran what where `deterministic` is asked for.
  flow::Sharing sharing() const {
    const bool in_one_order = options_.parts > 0 && options_.gradients != nullptr;
    if (workers_ < 2 || workers_ > UINT16_MAX || in_one_order) return flow::Sharing::Launches;
    return options_.share_every_call ? flow::Sharing::EveryCall : flow::Sharing::Calls;
  }

  /// What each thread of the run does.
  void take_part_in_run() {
    const uint32_t number = team_.join();
    try {
      run_member(number);
    } catch (...) {  // outside of a run of its worker
      parts_[count_ + number].error = std::current_exception();
      team_.stop();
    }
  }

  /// Runs parts while there are some, then what others send.
  void run_member(uint32_t number) {
    const kernels::HelpedLaunches helped(workers_ > 1 ? &team_ : nullptr);
    std::optional<std::size_t> taken = team_.take_part();
    bool at_work = taken.has_value();
    Trace::Track* track = nullptr;
    while (true) {
      flow::Membership membership{start_, team_.shares_calls() ? &team_ : nullptr, number};
      membership.is_whole_run = workers_ == 1 && count_ == 1;
      if (!taken) {
        membership.mail = team_.rest(number, at_work);
        if (membership.mail.empty()) return;
      }
      Part& part = parts_[taken ? *taken : count_ + number];
      if (!taken && options_.gradients != nullptr) part.gradients = resting_.take_gradients(graph_);
      if (members_[number] == nullptr) {
        members_[number] = take_worker();
        team_.set_worker(number, members_[number].get());
        track = take_track();
      }
      run_part(*members_[number], part, track, std::move(membership));
      if (team_.shares_calls() && (part.error != nullptr || part.failure)) team_.stop();
      if (team_.is_stopping() || team_.is_over()) return;
      at_work = true;
      taken = team_.take_part();
      if (taken) team_.end_part();
    }
  }

  std::unique_ptr<flow::Worker> take_worker() {
    std::unique_ptr<flow::Worker> worker = resting_.take(graph_, plan_);
    if (has_byte_budget(options_) && worker->held_bytes() > options_.max_bytes / 2) {
      worker = std::make_unique<flow::Worker>(graph_, plan_);  // earlier runs were larger
    }
    return worker;
  }

  Trace::Track* take_track() {
    if (options_.trace == nullptr) return nullptr;
    const std::size_t number = next_track_.fetch_add(1);
    return number < tracks_.size() ? tracks_[number] : &options_.trace->worker(number);
  }

  void run_part(flow::Worker& worker, Part& part, Trace::Track* track, flow::Membership membership) {
    const auto keep_error = [&](const auto& work) {
      try {
        work();
      } catch (...) {
        if (part.error == nullptr) part.error = std::current_exception();
      }
    };
    keep_error([&] {
      try {
        if (part.gradients != nullptr) part.gradients->clear();
        worker.run(graph_, part.examples, options_, *packed_, use_,
                   part.gradients != nullptr ? part.gradients.get() : options_.gradients, track,
                   std::move(membership));
      } catch (const flow::Stopped&) {  // another worker has an error
      } catch (flow::Failure& failure) {
        if (!team_.shares_calls()) throw worker.error_of(failure);
        part.failure = std::move(failure);
        part.worker = &worker;
      }
    });
    if (track != nullptr) track->end_all();
    if (options_.stats != nullptr) keep_error([&] { worker.add_to(part.stats); });
  }

  void tell_stats() {
    RunStats& stats = *options_.stats = {};
    for (Part& part : parts_) add(stats, part.stats);
  }

  std::exception_ptr first_error() const {
    for (const Part& part : parts_) {
      if (part.error != nullptr) return part.error;
      if (part.failure) return std::make_exception_ptr(part.worker->error_of(*part.failure));
    }
    return nullptr;
  }

  /// Adds the gradients, unless the run failed, and gives back what serves the next run.
  void end(const std::exception_ptr& error, ThreadPool* pool) {
    if (error == nullptr && options_.gradients != nullptr) {
      const auto join = [&](std::size_t left, std::size_t right) {
        Gradients& sums = left == 0 ? *options_.gradients : *parts_[left].gradients;
        sums.add(*parts_[right].gradients, pool);
      };
      join_parts({0, count_}, join);
      for (std::size_t i = count_; i < parts_.size(); ++i) {
        if (parts_[i].gradients != nullptr) join(0, i);
      }
    }
    for (Part& part : parts_) {
      if (part.gradients != nullptr) resting_.give_back(std::move(part.gradients));
    }
    // The first to come takes the one that is given back last: the same one again, which is in its caches.
    for (auto member = members_.rbegin(); member != members_.rend(); ++member) {
      if (*member != nullptr) resting_.give_back(std::move(*member));
    }
    if (error != nullptr) std::rethrow_exception(error);
  }

  const graph::Graph& graph_;
  const std::shared_ptr<const flow::Plan>& plan_;
  flow::Workers& resting_;
  const RunOptions& options_;
  const std::size_t workers_;
  const std::size_t count_;  ///< how many parts the examples were cut into
  std::vector<Part> parts_;
  flow::Team team_;
  std::vector<std::unique_ptr<flow::Worker>> members_;  ///< by number
  std::vector<Trace::Track*> tracks_;
  std::atomic<std::size_t> next_track_{0};
  Budget use_;
  const Clock::time_point start_;
  std::unique_ptr<flow::PackedParameters> packed_;
};

}  // namespace

void run_flow(const graph::Graph& graph, const std::shared_ptr<const flow::Plan>& plan,
              flow::Workers& resting, Examples& examples, const RunOptions& options) {
  FlowRun(graph, plan, resting, examples, options).run();
}

}  // namespace hiaton::exec
