// A run that all processes take part in until none of them has anything left to do, or one has failed.
//
//   Wave, Report  whether all is over: net/ending.h
//   Fault, name   to process 0, or on the way there: what has failed
//   End           from process 0: all is over, or has failed
//   Done          to process 0: the statistics of a process that sends nothing more
//
// What else they say to each other is the run's own. Each message holds the number of the run; those of a run
// that is over are dropped, and those of no run, for who goes on after it, are put back when it is over.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/spinning.h"
#include "exec/direct/run/remote_messages.h"
#include "hiaton/error.h"
#include "hiaton/run.h"
#include "net/ending.h"
#include "net/transport.h"

namespace hiaton::exec {

class CommonRun {
 public:
  /// The channel of messages that are no run's own, and of all messages of runs that take turns with other
  /// work of the processes (net/rounds.h).
  static constexpr uint32_t kChannel = 2;

  CommonRun(const CommonRun&) = delete;
  CommonRun& operator=(const CommonRun&) = delete;

 protected:
  /// The name of an error that comes from no call.
  static constexpr uint64_t kNoCall = ~uint64_t{0};
  /// The least kind of the messages that are the run's own; at most kMostKinds of them.
  static constexpr uint8_t kFirstOwnKind = 8;

  explicit CommonRun(net::Transport& transport)
      : transport_(transport), number_(transport.next_run() & kMostCommonRuns), waves_(transport.size()) {}
  virtual ~CommonRun() = default;

  // What the run says of this process.
  virtual bool has_work() const = 0;
  /// How many messages of its own it has sent.
  virtual uint64_t sent() const = 0;
  /// Takes a message of its own, whose kind is at least kFirstOwnKind. Throws ProgramError where it is none.
  virtual void take(int from, uint8_t kind, const net::Header& header,
                    std::span<const std::byte> payload) = 0;
  /// Throws RunError where process 0 has waited for too long.
  virtual void require_time() = 0;
  /// An error has come by the name of a call of this process.
  virtual void take_fault(const RunError& error, uint64_t /*name*/) { fail(error); }

  net::Transport& transport() const { return transport_; }
  std::size_t self() const { return static_cast<std::size_t>(transport_.self()); }
  bool is_first() const { return transport_.self() == 0; }
  /// Header::aux of a message of this kind.
  uint32_t aux(uint8_t kind) const { return number_ << kBitsOfCommonKind | kind; }

  /// Takes what comes until there is something to do. False: the run is over, or has failed.
  bool wait_for_work();
  /// Takes what has come.
  void poll();
  /// This process goes no further. The error goes to `to`, which knows the call of that name; process 0 keeps
  /// one that it sends to itself.
  void fail(const RunError& error, int to = 0, uint64_t name = kNoCall);
  /// This process, or the run.
  bool has_failed() const { return has_failed_; }
  bool has_ended() const { return has_ended_; }
  /// At process 0.
  const std::optional<RunError>& error() const { return error_; }
  /// Adds up the statistics at process 0, whose regions those of all are like.
  void add_up(RunStats& stats);

 private:
  enum class Kind : uint8_t { Wave, Report, Fault, End, Done };
  static constexpr uint32_t kBitsOfCommonKind = 4;
  static constexpr uint32_t kMostCommonRuns = ~uint32_t{0} >> kBitsOfCommonKind;

  void rest();
  void begin_wave();
  void end(bool failed);
  void send(int to, Kind kind, const net::ByteWriter& body, uint64_t name = kNoCall);
  void send_all(Kind kind, const net::ByteWriter& body);
  void take_any(int from, const net::Header& header, std::span<const std::byte> payload);

  net::Transport& transport_;
  const uint32_t number_;
  net::EndingWaves waves_;
  net::EndingAnswers answers_;
  uint64_t handled_ = 0;  ///< messages of the run's own
  bool has_ended_ = false;
  bool has_failed_ = false;
  std::optional<RunError> error_;
  net::HeldMessages held_;  ///< messages of no run
  Spinning spinning_;
  std::vector<RegionStats> regions_;
  direct::StatsOfOthers others_;
};

}  // namespace hiaton::exec
