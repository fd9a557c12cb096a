#include "exec/flow/run/flow_run.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <new>
#include <optional>

#include "base/borrowed_pool.h"
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

std::size_t part_count(const Examples& examples, const RunOptions& options) {
  const auto parts = static_cast<std::size_t>(options.parts > 0 ? options.parts : options.workers);
  return std::max<std::size_t>(1, std::min(parts, examples.size()));
}

/// A run: its parts, and the workers that run them. Parts are the same for any number of workers, and their
/// gradients are added up along the tree over the parts, then those of members that did something for others.
/// An open run has one part, and its members keep their workers, and so their frames, while it rests.
class FlowRun {
 public:
  FlowRun(const graph::Graph& graph, const std::shared_ptr<const flow::Plan>& plan, flow::Workers& resting,
          const RunOptions& options, std::vector<Part> parts)
      : graph_(graph),
        plan_(plan),
        resting_(resting),
        options_(options),
        workers_(static_cast<std::size_t>(options.workers)),
        count_(parts.size()),
        parts_(std::move(parts)),
        members_(workers_),
        tracks_(std::min(workers_, count_)) {
    parts_.resize(count_ + workers_);  // behind them, what members do for others
    for (std::size_t i = 0; i < tracks_.size() && options.trace != nullptr; ++i) {
      tracks_[i] = &options.trace->worker(i);
    }
  }

  void run() {
    begin();
    run_members();
    if (options_.stats != nullptr) {
      tell_stats();
      options_.stats->seconds = seconds_since(start_);
      if (options_.time_kernels) options_.stats->kernel_seconds += packing_seconds_;
    }
    const std::exception_ptr error = first_error();
    give_back(error == nullptr);
    if (error != nullptr) std::rethrow_exception(error);
  }

  // Open runs: begin, then go_on() as often as phases come, then close.
  void begin() {
    start_ = Clock::now();
    pool_ = options_.pool;
    if (pool_ == nullptr && workers_ > 1) pool_ = own_pool_.emplace(options_.workers).get();
    packed_ = resting_.take_packed(*plan_);
    const auto packing = Clock::now();
    packed_->update(options_.parameters, pool_);
    packing_seconds_ = seconds_since(packing);
  }

  /// Throws RunError; nothing goes on then.
  void go_on(std::span<const std::vector<Value>> phases) {
    phases_ = phases;
    is_open_ = true;
    start_ = Clock::now() - spent_;
    run_members();
    spent_ = Clock::now() - start_;
    if (const std::exception_ptr error = first_error()) std::rethrow_exception(error);
  }

  const flow::Worker& first_member() const { return *members_[0]; }

  /// Gives what it did, and lets go of all that it holds. `adds_gradients`: it has come to its end.
  RunStats close(bool adds_gradients) {
    RunStats stats;
    for (std::size_t i = 0; i < workers_; ++i) {
      if (members_[i] == nullptr) continue;
      RunStats part;
      members_[i]->add_to(part);
      add(stats, part);
      if (adds_gradients) stats.frames_live_at_end += part.frames_live_at_end;
      members_[i]->close();
    }
    stats.seconds = std::chrono::duration<double>(spent_).count();
    if (options_.time_kernels) stats.kernel_seconds += packing_seconds_;
    give_back(adds_gradients);
    return stats;
  }

 private:
  void run_members() {
    use_.emplace(options_);
    team_.emplace(options_.workers, count_, sharing());
    next_helper_ = 1;
    for (uint32_t i = 0; i < workers_; ++i) {
      if (members_[i] == nullptr) continue;
      members_[i]->tell_resting(*use_);
      team_->set_worker(i, members_[i].get());
    }
    const auto work = [this](std::size_t) { take_part_in_run(); };
    if (workers_ > 1) {
      pool_of_members().run(workers_, work);
    } else {
      work(0);
    }
  }

  /// Each member that holds frames needs a thread, at once: others wait for what it sends. A pool that is
  /// busy for somebody else has none.
  ThreadPool& pool_of_members() {
    const auto holds_frames = [](const auto& member) { return member != nullptr && member->holds_frames(); };
    if (std::none_of(members_.begin() + 1, members_.end(), holds_frames)) return *pool_;
    if (!own_pool_) own_pool_.emplace(options_.workers);
    return *own_pool_->get();
  }

  /// The bits of gradients must not depend on who ran what where `deterministic` is asked for.
  flow::Sharing sharing() const {
    const bool in_one_order = options_.parts > 0 && options_.gradients != nullptr;
    if (workers_ < 2 || workers_ > UINT16_MAX || in_one_order) return flow::Sharing::Launches;
    return options_.share_every_call ? flow::Sharing::EveryCall : flow::Sharing::Calls;
  }

  /// What each thread of the run does.
  void take_part_in_run() {
    uint32_t number = team_->join();
    const std::optional<std::size_t> taken = team_->take_part();
    if (is_open_)
      number = taken ? 0 : next_helper_.fetch_add(1);  // the first one has the frame of the program
    try {
      run_member(number, taken);
    } catch (...) {  // outside of a run of its worker
      parts_[count_ + number].error = std::current_exception();
      team_->stop();
    }
  }

  /// Runs parts while there are some, then what others send.
  void run_member(uint32_t number, std::optional<std::size_t> taken) {
    const kernels::HelpedLaunches helped(workers_ > 1 ? &*team_ : nullptr);
    bool at_work = taken.has_value();
    Trace::Track* track = nullptr;
    while (true) {
      flow::Membership membership{start_, team_->shares_calls() ? &*team_ : nullptr, number};
      membership.is_whole_run = workers_ == 1 && count_ == 1;
      if (!taken) {
        membership.mail = team_->rest(number, at_work);
        if (membership.mail.empty()) return;
      }
      Part& part = parts_[taken ? *taken : count_ + number];
      if (!taken && options_.gradients != nullptr && part.gradients == nullptr)
        part.gradients = resting_.take_gradients(graph_);
      if (members_[number] == nullptr) {
        members_[number] = take_worker();
        team_->set_worker(number, members_[number].get());
        if (is_open_) {
          open(*members_[number], part);
        } else {
          track = take_track();
        }
      }
      if (is_open_ && options_.trace != nullptr) track = &options_.trace->worker(number);
      run_part(*members_[number], part, track, std::move(membership));
      if (team_->shares_calls() && (part.error != nullptr || part.failure)) team_->stop();
      if (team_->is_stopping() || team_->is_over()) return;
      at_work = true;
      taken = team_->take_part();
      if (taken) team_->end_part();
    }
  }

  void open(flow::Worker& worker, const Part& part) {
    if (part.gradients != nullptr) part.gradients->clear();
    worker.open(graph_, options_, *packed_, gradients_of(part));
    worker.tell_resting(*use_);
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
        if (is_open_) {
          const bool is_first = &part == parts_.data();
          worker.go_on(*use_, std::move(membership), is_first ? phases_ : decltype(phases_)(), track);
        } else {
          if (part.gradients != nullptr) part.gradients->clear();
          worker.run(graph_, part.examples, options_, *packed_, *use_, gradients_of(part), track,
                     std::move(membership));
        }
      } catch (const flow::Stopped&) {  // another worker has an error
      } catch (flow::Failure& failure) {
        if (!team_->shares_calls()) throw worker.error_of(failure);
        part.failure = std::move(failure);
        part.worker = &worker;
      }
    });
    if (track != nullptr) track->end_all();
    if (options_.stats != nullptr && !is_open_) keep_error([&] { worker.add_to(part.stats); });
  }

  Gradients* gradients_of(const Part& part) const {
    return part.gradients != nullptr ? part.gradients.get() : options_.gradients;
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

  /// Adds the gradients, where they are to be, and gives back what serves the next run.
  void give_back(bool adds_gradients) {
    resting_.give_back(std::move(packed_));
    if (adds_gradients && options_.gradients != nullptr) {
      const auto join = [&](std::size_t left, std::size_t right) {
        Gradients& sums = left == 0 ? *options_.gradients : *parts_[left].gradients;
        sums.add(*parts_[right].gradients, pool_);
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
  }

  const graph::Graph& graph_;
  const std::shared_ptr<const flow::Plan>& plan_;
  flow::Workers& resting_;
  const RunOptions& options_;
  const std::size_t workers_;
  const std::size_t count_;  ///< how many parts the examples were cut into
  std::vector<Part> parts_;
  std::optional<BorrowedPool> own_pool_;
  ThreadPool* pool_ = nullptr;
  std::optional<flow::Team> team_;
  std::vector<std::unique_ptr<flow::Worker>> members_;  ///< by number
  std::vector<Trace::Track*> tracks_;
  std::atomic<std::size_t> next_track_{0};
  std::optional<Budget> use_;
  Clock::time_point start_;
  std::unique_ptr<flow::PackedParameters> packed_;
  double packing_seconds_ = 0;
  // What an open run needs besides.
  bool is_open_ = false;
  std::span<const std::vector<Value>> phases_;  ///< the arguments of those that have just come
  std::atomic<uint32_t> next_helper_{1};
  Clock::duration spent_{};  ///< while it did not rest
};

class OpenFlowRun : public PhasedRun {
 public:
  OpenFlowRun(const graph::Graph& graph, const std::shared_ptr<const flow::Plan>& plan,
              flow::Workers& resting, const RunOptions& options)
      : run_(graph, plan, resting, options, std::vector<Part>(1)) {}

  void go_on(std::span<const std::vector<Value>> phases) override {
    if (!has_begun_) run_.begin();
    has_begun_ = true;
    run_.go_on(phases);
  }
  std::span<const Value> results() const override { return run_.first_member().results(); }
  std::size_t results_to_come() const override { return run_.first_member().results_to_come(); }
  RunStats close(bool has_ended) override { return has_begun_ ? run_.close(has_ended) : RunStats(); }

 private:
  FlowRun run_;
  bool has_begun_ = false;
};

}  // namespace

void run_flow(const graph::Graph& graph, const std::shared_ptr<const flow::Plan>& plan,
              flow::Workers& resting, Examples& examples, const RunOptions& options) {
  const std::size_t count = part_count(examples, options);
  flow::Workers* const gradients = options.gradients != nullptr ? &resting : nullptr;
  FlowRun(graph, plan, resting, options, cut(examples, count, graph, gradients)).run();
}

std::unique_ptr<PhasedRun> open_flow(const graph::Graph& graph, const std::shared_ptr<const flow::Plan>& plan,
                                     flow::Workers& resting, const RunOptions& options) {
  return std::make_unique<OpenFlowRun>(graph, plan, resting, options);
}

}  // namespace hiaton::exec
