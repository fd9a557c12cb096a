#include "exec/literal_run.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "exec/counted_run.h"
#include "exec/direct/run/remote_messages.h"
#include "exec/process_run.h"
#include "exec/run_checks.h"
#include "hiaton/error.h"
#include "net/ending.h"
#include "net/transport.h"

namespace hiaton::exec {
namespace {

/// A process computes for so many steps before it looks at what has come.
constexpr int kStepsALook = 256;
constexpr std::chrono::microseconds kLiteralSleep{200};

class LiteralRun {
 public:
  LiteralRun(const graph::Graph& graph, const partition::Partition& parts, std::span<const Value> arguments,
             const RunOptions& options)
      : transport_(*options.processes),
        number_(transport_.next_run() & kMostLiteralRuns),
        options_{.run = options, .order = {}, .names_hosts = true, .aux_of_messages = aux(Kind::Token)},
        program_{graph, parts, arguments, codecs_of(parts)},
        budget_(options_.run),
        waves_(transport_.size()),
        processes_(parts.parts.size()) {
    options_.run.on_token = nullptr;
    processes_[self()] = std::make_unique<ProcessRun>(program_, transport_.self(), options_,
                                                      is_first() ? arguments : std::span<const Value>(),
                                                      budget_, transport_, processes_);
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
    while (!has_ended_) {
      in_place([this] { work(); });
      poll();
      if (!has_ended_ && !has_work()) rest();
    }
    transport_.flush();
    if (error_) throw RunError(*error_);
    return is_first() && !has_failed_ ? own().take_results() : std::vector<Value>();
  }

  RunStats finish() {
    RunStats stats = own().finish();
    if (!is_first()) {
      net::ByteWriter body;
      direct::write_stats(stats, body);
      send(0, Kind::Done, body);
      transport_.flush();
      return stats;
    }
    while (others_.count() < transport_.size() - 1) {
      poll();
      transport_.flush();
      transport_.wait(kLiteralSleep);
    }
    others_.add_to(stats);
    return stats;
  }

 private:
  enum class Kind : uint8_t { Token, Wave, Report, Fault, End, Done };
  static constexpr uint32_t kBitsOfKind = 4;
  static constexpr uint32_t kMostLiteralRuns = ~uint32_t{0} >> kBitsOfKind;

  std::size_t self() const { return static_cast<std::size_t>(transport_.self()); }
  bool is_first() const { return transport_.self() == 0; }
  ProcessRun& own() { return *processes_[self()]; }
  uint32_t aux(Kind kind) const { return number_ << kBitsOfKind | static_cast<uint32_t>(kind); }
  /// After an error it does nothing more.
  bool has_work() { return !has_failed_ && own().has_tokens(); }

  void work() {
    for (int step = 0; step < kStepsALook && has_work(); ++step) own().step();
  }

  /// Nothing is left to do here, unless something comes.
  void rest() {
    transport_.flush();
    if (is_first()) {
      if (!has_failed_) {
        try {
          own().require_time();
        } catch (const RunError& error) {
          return fail(error);
        }
      }
      begin_wave();
    } else if (const std::optional<net::EndingReport> report = ending_report()) {
      net::ByteWriter body;
      body.number(report->wave);
      body.number(report->sent);
      body.number(report->handled);
      send(0, Kind::Report, body);
      transport_.flush();
    }
    if (!has_ended_) transport_.wait(kLiteralSleep);
  }

  /// A process that has failed reports nothing any more: messages may overtake each other, and without its
  /// report process 0 cannot find that all is over before it has the error.
  std::optional<net::EndingReport> ending_report() {
    return has_failed_ ? std::nullopt : answers_.answer(sent(), handled_);
  }

  void begin_wave() {
    const std::optional<uint32_t> wave = waves_.next_wave();
    if (!wave) return;
    net::ByteWriter body;
    body.number(*wave);
    send_all(Kind::Wave, body);
    if (waves_.take({*wave, sent(), handled_})) end(false);
    transport_.flush();
  }

  /// At process 0: nobody has anything left to do, or one has failed.
  void end(bool failed) {
    if (has_ended_) return;
    net::ByteWriter body;
    body.number(static_cast<uint8_t>(failed));
    send_all(Kind::End, body);
    has_ended_ = true;
    has_failed_ = has_failed_ || failed;
  }

  /// This process goes no further.
  void fail(const RunError& error) {
    has_failed_ = true;
    if (is_first()) {
      if (!error_) error_ = error;
      return end(true);
    }
    net::ByteWriter body;
    direct::write_error(error, body);
    send(0, Kind::Fault, body);
    transport_.flush();
  }

  uint64_t sent() { return own().tokens_sent(); }
  void send(int to, Kind kind, const net::ByteWriter& body) {
    transport_.send(to, {.channel = 0, .aux = aux(kind)}, body.bytes());
  }
  void send_all(Kind kind, const net::ByteWriter& body) {
    for (int i = 0; i < transport_.size(); ++i) {
      if (i != transport_.self()) send(i, kind, body);
    }
  }

  void poll() {
    transport_.poll([this](int from, const net::Header& header, std::span<const std::byte> payload) {
      take(from, header, payload);
    });
  }

  void take(int from, const net::Header& header, std::span<const std::byte> payload) {
    if (header.aux >> kBitsOfKind != number_) return;
    const uint32_t kind = header.aux & ((1u << kBitsOfKind) - 1);
    net::ByteReader in(payload, "a message from " + transport_.name(from));
    switch (static_cast<Kind>(kind)) {
      case Kind::Token:
        ++handled_;
        if (has_failed_ || has_ended_) return;
        if (header.channel >= program_.partition.channels.size() ||
            program_.partition.channels[header.channel].to != transport_.self())
          in.fail(fmt::format("expected the number of a channel to process {}, found {}", transport_.self(),
                              header.channel));
        return own().on_message(header, payload);
      case Kind::Wave:
        return answers_.asked(in.number<uint32_t>());
      case Kind::Report: {
        net::EndingReport report;
        report.wave = in.number<uint32_t>();
        report.sent = in.number<uint64_t>();
        report.handled = in.number<uint64_t>();
        in.require_end();
        if (has_ended_) return;
        if (!waves_.is_expected(report)) in.fail("expected a report that was asked for, found another");
        if (waves_.take(report)) end(false);
        return transport_.flush();
      }
      case Kind::Fault:
        if (is_first() && !has_ended_) fail(direct::read_error(in));
        return;
      case Kind::End:
        has_ended_ = true;
        has_failed_ = has_failed_ || in.number<uint8_t>() != 0;
        return;
      case Kind::Done:
        return others_.take(from, {}, in);
    }
    in.fail(fmt::format("expected a kind of message, found number {}", kind));
  }

  net::Transport& transport_;
  const uint32_t number_;
  PartitionedRunOptions options_;
  const PartitionedProgram program_;
  ReferenceBudget budget_;
  net::EndingWaves waves_;
  net::EndingAnswers answers_;
  uint64_t handled_ = 0;  ///< tokens
  bool has_ended_ = false;
  bool has_failed_ = false;  ///< this process, or the run
  std::optional<RunError> error_;
  direct::StatsOfOthers others_;
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
