// Calls of flow between processes: those of functions that are placed on another one, or, where nothing is
// placed, those that a process with nothing to do asks the others for.
//
// Each process has one worker. A call that another process runs goes there as one message for each
// phase, and its results come back likewise: messages.h. Its frame here waits as any frame does, while all
// others go on and gather to batches. Messages may overtake each other: a later phase that comes before the
// first one waits for it, and a call is over when as many results have come as were sent.
//
//   Call, name     the calling function, which call of it, the function that is called, the arguments
//   Return, name   which phase, how many Returns there are if it is the last, the results
//   Ask            how many frames the sender has, which wants a call; whoever gets it sends one, once,
//                  when it has one to give and as many frames: what it has not begun is more than its share
//
// Messages of the same call site or phase that leave one after the other, as batches make them, are one: it
// says how many they are, and the name and the values of each further one follow.
#pragma once

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "exec/common_run.h"
#include "exec/flow/flow_plan.h"
#include "exec/flow/run/messages.h"
#include "net/values.h"

namespace hiaton::exec::flow {

class Worker;

/// Which calls another process may run.
enum class CallsThatLeave : uint8_t {
  Placed,  ///< those of functions that are at home there, or have copies
  Shared,  ///< all, which every process can run
};

/// How the arguments and results of calls that leave their process are written.
class CallCodecs {
 public:
  /// Codecs for the calls whose function is at home elsewhere, or for all calls that one worker gives
  /// another.
  CallCodecs(const Plan& plan, CallsThatLeave calls);

  /// Writes the arguments of a call of the function that is sent.
  const net::ValueCodec& arguments(uint32_t function, uint32_t call) const {
    return *arguments_[function][call];
  }
  /// Writes the results that a caller has slots for.
  const net::ValueCodec& results(uint32_t function, uint32_t site, uint32_t phase) const {
    return *results_[function][site][phase];
  }

 private:
  using Codec = std::optional<net::ValueCodec>;
  std::vector<std::vector<Codec>> arguments_;             ///< by function and call
  std::vector<std::vector<std::vector<Codec>>> results_;  ///< by function, call site and phase
};

/// How many processes run a program together: all, or those of a replica. Throws ProgramError where the
/// processes are no multiple of the replicas.
int group_size(const RunOptions& options);

/// One run, as one of the processes sees it.
class ProcessCalls : private CommonRun {
 public:
  ProcessCalls(const Plan& plan, const CallCodecs& codecs, CallsThatLeave calls,
               std::span<const Value> arguments, const RunOptions& options);

  int self() const { return transport().self(); }
  /// Whether this process begins examples: it is the first one of its group.
  bool begins_examples() const { return self() == first_of_group_; }
  /// The process that runs the function for this one: of the same group.
  int home_of(uint32_t function) const { return first_of_group_ + plan_.homes[function]; }
  std::span<const Value> arguments() const { return arguments_; }
  bool shares_calls() const { return calls_ == CallsThatLeave::Shared; }
  /// Asks all others for calls, by a process that has so many frames; none: it has nothing to do. Not those
  /// that it has asked before, unless they have given one since, or it has nothing to do now. Whether it has
  /// asked.
  bool ask(uint64_t frames);
  /// A process that wants a call, which gets one now: one that has no more frames than this one.
  std::optional<uint32_t> take_asking(uint64_t frames);
  /// Whether there is such a process.
  bool is_asked_with(uint64_t frames) const { return find_asking(frames) != asking_.end(); }
  bool is_asked() const { return !asking_.empty(); }
  /// For tests: each call goes to another process, if there is one.
  bool shares_every_call() const { return shares_every_call_; }
  /// For tests: another process, each in turn.
  uint32_t somebody_else();
  /// Sends messages that go_together().
  void send(uint32_t to, std::span<const Message* const> messages);
  static bool go_together(const Message& a, const Message& b);
  /// Lets go what was sent, and takes what has come. Throws Stopped where the run is over, and what taking a
  /// message throws. Whether something has come.
  bool look(Worker& worker);
  /// Takes what comes until the worker has work. False: the run is over, or has failed.
  bool wait_for_work(Worker& worker);
  /// The run has failed here, in a frame that works for that call of another process, or for the program.
  void report(const RunError& error, std::optional<ReturnName> around);
  /// After a run of the worker that has ended with an error: waits for the end of the run.
  void wait_for_end(Worker& worker);
  using CommonRun::add_up;
  using CommonRun::error;
  using CommonRun::has_failed;
  uint64_t waiting_bytes() const { return transport().waiting_bytes(); }
  uint64_t calls_taken() const { return calls_taken_; }
  uint64_t bytes_sent() const { return bytes_sent_; }

 private:
  struct Asking {
    uint32_t process;
    uint64_t frames;
  };
  static constexpr uint8_t kCall = kFirstOwnKind;
  static constexpr uint8_t kReturn = kFirstOwnKind + 1;
  static constexpr uint8_t kAsk = kFirstOwnKind + 2;

  bool has_work() const override;
  uint64_t sent() const override { return sent_; }
  void require_time() override;
  void take(int from, uint8_t kind, const net::Header& header, std::span<const std::byte> payload) override;
  void take_fault(const RunError& error, uint64_t name) override;

  std::vector<Asking>::const_iterator find_asking(uint64_t frames) const {
    return std::ranges::find_if(asking_, [frames](const Asking& one) { return one.frames <= frames; });
  }
  void take_ask(net::ByteReader& in, int from);
  void take_calls(net::ByteReader& in, ReturnName name);
  void take_returns(net::ByteReader& in, int from, ReturnName name);
  void take(Message& message);
  Message read_call(net::ByteReader& in) const;
  bool can_run(const Call& call, uint64_t function) const;
  const RemoteCall& remote_call(net::ByteReader& in, int from, ReturnName name) const;
  static uint64_t read_count(net::ByteReader& in);
  void rethrow();

  const Plan& plan_;
  const CallCodecs& codecs_;
  const CallsThatLeave calls_;
  const bool shares_every_call_;
  const std::span<const Value> arguments_;
  const int first_of_group_;
  Worker* worker_ = nullptr;
  net::ByteWriter body_;
  std::vector<net::ValueCodec::Written> written_;  ///< the values of the message that is sent
  uint64_t sent_ = 0;
  uint64_t taken_ = 0;
  uint64_t calls_taken_ = 0;
  uint64_t bytes_sent_ = 0;
  uint32_t next_other_ = 0;
  std::vector<std::optional<uint64_t>> asked_;  ///< by process: with how many frames it has been asked
  std::vector<Asking> asking_;                  ///< processes that want a call
  std::exception_ptr thrown_;                   ///< by a message, while the transport handed it on
};

}  // namespace hiaton::exec::flow
