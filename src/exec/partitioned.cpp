#include "exec/partitioned.h"

#include <chrono>
#include <deque>
#include <memory>
#include <utility>

#include "exec/counted_run.h"
#include "exec/process_run.h"
#include "exec/run_checks.h"
#include "net/transport.h"

namespace hiaton::exec {
namespace {

constexpr uint64_t kMostSteps = 8;  ///< what a process does in its turn

/// Time passes by a microsecond with each packet, and nobody is lost.
net::Transport::Options transport_options() {
  net::Transport::Options options;
  options.longest_silence = std::chrono::hours(1'000'000);
  return options;
}

class PartitionedRun {
 public:
  PartitionedRun(const graph::Graph& graph, const partition::Partition& partition,
                 std::span<const Value> arguments, const PartitionedRunOptions& options)
      : program_{graph, partition, arguments, codecs_of(partition)},
        order_(options.order),
        state_(options.order.seed),
        budget_(options.run),
        network_(static_cast<int>(partition.parts.size()), options.order.delivery, options.order.seed) {
    const int count = static_cast<int>(partition.parts.size());
    for (int process = 0; process < count; ++process) {
      PartitionedRunOptions& own = options_.emplace_back(options);
      if (options.on_token)
        own.run.on_token = [&options, process](const TokenEvent& event) { options.on_token(process, event); };
      links_.push_back(network_.link(process));
      transports_.push_back(std::make_unique<net::Transport>(*links_.back(), transport_options()));
      processes_.push_back(std::make_unique<ProcessRun>(program_, process, own,
                                                        process == 0 ? arguments : std::span<const Value>(),
                                                        budget_, *transports_.back(), processes_));
    }
  }

  std::vector<Value> run() {
    join();
    for (const auto& process : processes_) process->start();
    while (take_turns() || deliver_all()) {
    }
    return processes_[0]->take_results();
  }

  std::vector<PartLeftover> leftovers() const {
    std::vector<PartLeftover> all;
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      for (WaitingNode& node : processes_[i]->waiting())
        all.push_back({static_cast<int>(i), std::move(node)});
    }
    return all;
  }

  RunStats finish() {
    RunStats all = processes_[0]->finish();
    for (std::size_t i = 1; i < processes_.size(); ++i) {
      const RunStats one = processes_[i]->finish();
      all.calls += one.calls;
      all.frames_allocated += one.frames_allocated;
      all.frames_live_at_end += one.frames_live_at_end;
      all.remote_tokens += one.remote_tokens;
      all.remote_bytes += one.remote_bytes;
    }
    return all;
  }

 private:
  /// SplitMix64.
  uint64_t random(uint64_t below) {
    if (order_.seed == 0) return 0;
    state_ += 0x9E3779B97F4A7C15;
    uint64_t bits = state_;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB;
    return (bits ^ (bits >> 31)) % below;
  }

  void join() {
    for (const auto& transport : transports_)
      transport->introduce(net::identity_for("the parts of one graph"));
    for (std::size_t joined = 0; joined < transports_.size();) {
      network_.deliver();
      joined = 0;
      for (const auto& transport : transports_) joined += transport->try_join() ? 1 : 0;
    }
  }

  /// Each process works a little, or is skipped, and some packets arrive. Returns whether anything happened.
  bool take_turns() {
    bool happened = false;
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      if (random(3) == 2) continue;
      happened |= work(i, 1 + random(kMostSteps));
      for (uint64_t packets = random(3); packets > 0; --packets) happened |= deliver();
    }
    return happened;
  }

  bool work(std::size_t process, uint64_t steps) {
    ProcessRun& run = *processes_[process];
    const bool works = run.has_tokens();
    for (; steps > 0 && run.has_tokens(); --steps) run.step();
    transports_[process]->flush();
    return works;
  }

  bool deliver() {
    const std::optional<int> to = network_.deliver();
    if (to) poll(static_cast<std::size_t>(*to));
    return to.has_value();
  }

  bool poll(std::size_t process) {
    return transports_[process]->poll(
               [&](int, const net::Header& header, std::span<const std::byte> payload) {
                 processes_[process]->on_message(header, payload);
               }) > 0;
  }

  /// Where no process was seen to have work: returns whether there is any.
  bool deliver_all() {
    bool happened = false;
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      transports_[i]->flush();
      happened |= poll(i) || processes_[i]->has_tokens();
    }
    return deliver() || happened;
  }

  const PartitionedProgram program_;
  const PartitionedOrder order_;
  uint64_t state_;
  ReferenceBudget budget_;
  net::SimulatedNetwork network_;
  std::deque<PartitionedRunOptions> options_;  ///< by process
  std::vector<std::unique_ptr<net::Link>> links_;
  std::vector<std::unique_ptr<net::Transport>> transports_;
  std::vector<std::unique_ptr<ProcessRun>> processes_;
};

}  // namespace

RunResult run_partitioned(const graph::Graph& graph, const partition::Partition& partition,
                          std::span<const Value> arguments, const PartitionedRunOptions& options,
                          std::vector<PartLeftover>* leftovers) {
  require_runnable(graph, arguments, options.run);
  PartitionedRunOptions own = options;
  own.run.on_token = nullptr;
  return with_errors_of_the_system(own.run, [&] {
    PartitionedRun run(graph, partition, arguments, own);
    return run_counted(run, own.run, [&] {
      if (leftovers != nullptr) *leftovers = run.leftovers();
    });
  });
}

}  // namespace hiaton::exec
