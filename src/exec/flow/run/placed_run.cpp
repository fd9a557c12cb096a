#include "exec/flow/run/placed_run.h"

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "exec/counted_run.h"
#include "exec/flow/run/flow_worker.h"
#include "exec/flow/run/packed_parameters.h"
#include "exec/run_checks.h"
#include "net/transport.h"

namespace hiaton::exec {
namespace {

using Clock = std::chrono::steady_clock;

class PlacedFlowRun {
 public:
  PlacedFlowRun(const graph::Graph& graph, const std::shared_ptr<const flow::Plan>& plan,
                const flow::CallCodecs& codecs, flow::CallsThatLeave calls, flow::Workers& resting,
                Examples& examples, std::span<const Value> arguments, const RunOptions& options)
      : graph_(graph),
        plan_(plan),
        resting_(resting),
        examples_(examples),
        options_(options),
        calls_(*plan, codecs, calls, arguments, options),
        use_(options),
        worker_(resting.take(graph, plan)),
        track_(options.trace != nullptr ? &options.trace->worker(0) : nullptr) {}

  /// The results go to the examples. Throws RunError at process 0.
  std::vector<Value> run() {
    const net::KeptAlive alive(*options_.processes);
    try {
      with_errors_of_the_system(options_, [this] { work(); });
    } catch (const flow::Stopped&) {  // another process has an error
    } catch (const flow::Failure& failure) {
      calls_.report(worker_->error_of(failure), flow::Worker::call_around(failure.frame));
    } catch (const RunError& error) {
      calls_.report(error, std::nullopt);
    }
    if (track_ != nullptr) track_->end_all();
    calls_.wait_for_end(*worker_);
    if (calls_.error()) throw RunError(*calls_.error());
    return {};
  }

  RunStats finish() {
    RunStats stats;
    worker_->add_to(stats);
    stats.steals = 0;
    stats.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    stats.remote_calls = calls_.calls_taken();
    stats.remote_bytes = calls_.bytes_sent();
    if (calls_.has_failed()) stats.frames_live_at_end = 0;  // the next run of the worker forgets them
    calls_.add_up(stats);
    resting_.give_back(std::move(worker_));
    return stats;
  }

 private:
  void work() {
    std::unique_ptr<flow::PackedParameters> packed = resting_.take_packed(*plan_);
    packed->update(options_.parameters, options_.pool);
    const auto self = static_cast<uint32_t>(calls_.self());
    const std::size_t count = calls_.begins_examples() ? examples_.size() : 0;
    worker_->run(graph_, {&examples_, 0, count}, options_, *packed, use_, options_.gradients, track_,
                 {start_, nullptr, self, {}, &calls_});
    resting_.give_back(std::move(packed));
  }

  const graph::Graph& graph_;
  const std::shared_ptr<const flow::Plan>& plan_;
  flow::Workers& resting_;
  Examples& examples_;
  const RunOptions& options_;
  flow::ProcessCalls calls_;
  Budget use_;
  std::unique_ptr<flow::Worker> worker_;
  Trace::Track* const track_;  ///< null: the run is not drawn
  const Clock::time_point start_ = Clock::now();
};

}  // namespace

namespace {

void run_by_processes(const graph::Graph& graph, const std::shared_ptr<const flow::Plan>& plan,
                      const flow::CallCodecs& codecs, flow::CallsThatLeave calls, flow::Workers& resting,
                      Examples& examples, std::span<const Value> arguments, const RunOptions& options) {
  RunOptions own = options;
  own.workers = 1;
  PlacedFlowRun run(graph, plan, codecs, calls, resting, examples, arguments, own);
  run_counted(run, options, [] {});
}

}  // namespace

void run_placed_flow(const graph::Graph& graph, const std::shared_ptr<const flow::Plan>& plan,
                     const flow::CallCodecs& codecs, flow::Workers& resting, Examples& examples,
                     std::span<const Value> arguments, const RunOptions& options) {
  run_by_processes(graph, plan, codecs, flow::CallsThatLeave::Placed, resting, examples, arguments, options);
}

void run_shared_flow(const graph::Graph& graph, const std::shared_ptr<const flow::Plan>& plan,
                     const flow::CallCodecs& codecs, flow::Workers& resting, Examples& examples,
                     std::span<const Value> arguments, const RunOptions& options) {
  run_by_processes(graph, plan, codecs, flow::CallsThatLeave::Shared, resting, examples, arguments, options);
}

}  // namespace hiaton::exec
