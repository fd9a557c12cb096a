#include "exec/literal_run.h"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "exec/common_run.h"
#include "exec/counted_run.h"
#include "exec/process_run.h"
#include "exec/run_checks.h"
#include "hiaton/error.h"

namespace hiaton::exec {
namespace {

/// A process computes for so many steps before it looks at what has come.
constexpr int kStepsALook = 256;

class LiteralRun : private CommonRun {
 public:
  LiteralRun(const graph::Graph& graph, const partition::Partition& parts, std::span<const Value> arguments,
             const RunOptions& options)
      : CommonRun(*options.processes),
        options_{.run = options, .order = {}, .names_hosts = true, .aux_of_messages = aux(kFirstOwnKind)},
        program_{graph, parts, arguments, codecs_of(parts)},
        budget_(options_.run),
        processes_(parts.parts.size()) {
    options_.run.on_token = nullptr;
    processes_[self()] = std::make_unique<ProcessRun>(program_, transport().self(), options_,
                                                      is_first() ? arguments : std::span<const Value>(),
                                                      budget_, transport(), processes_);
  }

  /// What process 0 gets; nothing elsewhere. Throws RunError at process 0.
  std::vector<Value> run() {
    const auto in_place = [this](auto work) {
      try {
        with_errors_of_the_system(options_.run, work);
      } catch (const RunError& error) {
        fail(error);
      }
    };
    in_place([this] { own().start(); });
    while (wait_for_work()) in_place([this] { work(); });
    if (error()) throw RunError(*error());
    return is_first() && !has_failed() ? own().take_results() : std::vector<Value>();
  }

  RunStats finish() {
    RunStats stats = own().finish();
    add_up(stats);
    return stats;
  }

 private:
  ProcessRun& own() const { return *processes_[self()]; }
  bool has_work() const override { return own().has_tokens(); }
  uint64_t sent() const override { return own().tokens_sent(); }
  void require_time() override { own().require_time(); }

  void work() {
    for (int step = 0; step < kStepsALook && !has_failed() && has_work(); ++step) own().step();
  }

  void take(int from, uint8_t kind, const net::Header& header, std::span<const std::byte> payload) override {
    const std::string& sender = transport().name(from);
    const net::ByteReader in(payload, sender);
    if (kind != kFirstOwnKind) in.fail(fmt::format("expected a kind of message, found number {}", kind));
    if (header.channel >= program_.partition.channels.size() ||
        program_.partition.channels[header.channel].to != transport().self())
      in.fail(fmt::format("expected the number of a channel to process {}, found {}", transport().self(),
                          header.channel));
    own().on_message(header, payload);
  }

  PartitionedRunOptions options_;
  const PartitionedProgram program_;
  ReferenceBudget budget_;
  std::vector<std::unique_ptr<ProcessRun>> processes_;  ///< by number; this one alone is there
};

}  // namespace

RunResult run_literal(const graph::Graph& graph, const partition::Partition& parts,
                      std::span<const Value> arguments, const RunOptions& options) {
  require_runnable(graph, arguments, options);
  if (options.gradients != nullptr)
    throw ProgramError(
        "expected a run without gradients of learned parameters, where a program places something on several "
        "processes, found one");
  LiteralRun run(graph, parts, arguments, options);
  return run_counted(run, options, [] {});
}

}  // namespace hiaton::exec
