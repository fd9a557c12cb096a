// Calls that the processes of a run give each other.
//
// A call that one process gives another is the same thing as one that a worker steals: its frame has a join
// record, the thief runs it on a chain of its own, and whoever comes back last goes on with the frame.
// Between processes the arguments go out in a message, and the results come back in one. In each process one
// thread, the agent, speaks with the others: it steals from the workers of its process on behalf of those
// that ask, and has calls for the workers that find nothing to steal.
//
//   Ask           a process without work asks another one, one after the other
//   Refuse        it has no call that it could give
//   Gift, name    a call: which one of the plan, and its arguments; the giver keeps its frame by this name
//   Return, name  how long the call took, how long it took to read its arguments and to write its results,
//                 and the results
//   Fault, name   it failed: the error, to which the giver adds its own chain of calls. So an error goes to
//                 the process that gave the call, from there to who gave the call around it, and so on to
//                 process 0
//   End           from process 0: the run has its results or an error
//   Done          to process 0: this process has ended the run, and sends nothing more; its statistics
//
// Each message holds the number of the run. Those of a run that is over are dropped; a question of a process
// that is in the next run already is refused. A name is never used twice in a run.
//
// Arguments and results of any type go as net::ValueCodec writes them. The worker that gives a call writes
// its arguments, the one that runs it reads them and writes the results, and one of the giver's reads these:
// so what a worker makes is freed by workers, and data values stay counted by plain operations.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "exec/direct/run/call_worth.h"
#include "exec/direct/run/direct_worker.h"
#include "exec/direct/run/gift_protocol.h"
#include "exec/direct/run/remote_messages.h"
#include "hiaton/error.h"
#include "net/transport.h"
#include "net/values.h"

namespace hiaton::exec::direct {

/// The calls of one run that processes give each other, as one of them sees them. The run tells its workers
/// where they find it: RunState::remote.
class RemoteCalls {
 public:
  /// What the run does for it, on the agent's thread.
  class Owner {
   public:
    virtual ~Owner() = default;
    /// The error of a call that was given away from this frame, with the calls around the frame.
    virtual RunError with_calls_around(const RunError& error, const Frame* frame,
                                       const Group::Call& call) = 0;
    /// The outermost call around an instruction of a frame, that of the site, as errors show it.
    virtual CallRecord outermost_call(const Frame* frame, const Instruction* pc, graph::CallSite site) = 0;
    /// Takes an error with all calls around it, at process 0.
    virtual void take_error(const RunError& error) = 0;
  };

  RemoteCalls(net::Transport& transport, RunState& state, const Plan& plan, Budget& budget, Owner& owner);
  ~RemoteCalls();
  RemoteCalls(const RemoteCalls&) = delete;
  RemoteCalls& operator=(const RemoteCalls&) = delete;

  bool is_first() const { return transport_.self() == 0; }

  // What workers ask.
  /// Whether calls like this one bring more than it costs to send them, as far as that is known. On the
  /// thread of a worker that the agent has asked and waits for, as the next one.
  bool is_worth(const Group::Call& call) const;
  /// Writes the newest call of the entry for another process, and lets go of what the call takes over. False,
  /// and nothing is changed: there is no memory for that, or no message holds so much.
  bool write_call(const ForkEntry& entry, Worker& giver);
  /// Whether something waits for a worker.
  bool has_waiting() const { return waiting_count_.load(std::memory_order_relaxed) > 0; }
  /// Takes something that waits for a worker, and runs it. Nothing where nothing waits any more.
  std::optional<Outcome> run_waiting(Worker& worker);
  /// For runs that share every call: whether another process waits for one, and whether all have asked once.
  bool is_asked() const { return asked_count_.load() > 0; }
  bool have_all_asked() const { return met_count_.load() == transport_.size() - 1; }
  /// A worker has nothing to do.
  void want();
  /// Waits until something waits for a worker, at most for so long.
  void wait_for_work(std::chrono::nanoseconds most);
  /// The agent is to look at the state of the run.
  void wake();
  /// A stretch has halted in Worker::frame. Halted: main has returned there. Parked: a call that was taken
  /// has, and its results go back. Failed: there is no memory for that.
  Outcome end_taken(Worker& worker);

  // What the run asks.
  /// What the agent does until the run is over.
  void serve();
  /// The run has failed in this process, at an instruction of `frame`, which is null where that is not known.
  /// Before its workers are stopped.
  void report(const RunError& error, const Frame* frame, const Instruction* pc);
  /// Called when no worker runs any more, after serve(). Adds up the statistics at process 0. Throws what
  /// ended the connection.
  void finish(RunStats& stats);
  const FramePool& pool() const { return agent_.pool; }
  /// Calls `visit` with the slots that hold what it keeps of calls, once a run has ended by an error and
  /// serve() has returned.
  void visit_slots(const std::function<void(std::span<const Slot>)>& visit) const;

 private:
  enum class Kind : uint8_t { Ask, Refuse, Gift, Return, Fault, End, Done };
  using Clock = std::chrono::steady_clock;

  /// A call of this process that runs in another one.
  struct Given {
    Frame* frame;
    const Group* group;
    uint32_t call;
    int to;
    CallWorth::Given how{};  ///< what giving it took, and when
  };
  /// How the arguments and results of a call are written.
  struct Codecs {
    net::ValueCodec arguments;
    net::ValueCodec results;
  };
  /// The name of a call at the process that gave it, to which results and errors go.
  struct Name {
    int process;
    uint64_t number;
  };
  /// A call of another process that runs, or waits to run, in this one.
  struct TakenCall {
    Name name;
    const Group::Call* call;
    const Codecs* codecs;
    uint64_t arrow;                  ///< from the giver, where the run is drawn
    std::vector<std::byte> message;  ///< its arguments, until it runs
    std::vector<Slot> arguments;
    std::vector<Slot> root;  ///< the frame that it returns to, with its results
    Clock::duration reading{0};
    Clock::time_point began{};
  };
  /// A frame to go on with.
  struct Continuation {
    Frame* frame;
    const Group* group;
    Frame* anchor;
  };
  /// Results of a call that was given away, which need memory.
  struct Returned {
    Given call;
    const Codecs* codecs;
    std::vector<std::byte> message;
  };
  /// What waits for a worker.
  using Waiting = std::variant<Continuation, Returned, TakenCall*>;
  struct Report {
    RunError error;
    Name to;
  };
  struct Result {
    Name to;
    net::ByteWriter body;
  };

  static Frame* root_of(TakenCall& taken) { return reinterpret_cast<Frame*>(taken.root.data()); }
  void send(Name to, Kind kind, const net::ByteWriter& body, uint32_t arrow = 0);
  void send_in(uint32_t run, Name to, Kind kind, const net::ByteWriter& body, uint32_t arrow = 0);
  void step();
  void take(int from, const net::Header& header, std::span<const std::byte> payload);
  void send_results();
  void send_errors();
  void take_question(int from);
  void answer_asked();
  bool take_from_workers();
  bool give(int to);
  void take_gift(Name name, uint32_t arrow, net::ByteReader& in);
  void take_return(Name name, net::ByteReader& in);
  void take_fault(Name name, net::ByteReader& in);
  void refused();
  Given& given(Name name, net::ByteReader& in);
  const Codecs& codecs_of(const Group::Call& call);
  void put_waiting(Waiting one, bool first);
  Outcome run_taken(Worker& worker, TakenCall& taken);
  Outcome go_on_with(Worker& worker, const Continuation& one);
  Outcome take_results(Worker& worker, const Returned& returned);
  template <class Read>
  Outcome read_message(Worker& worker, int from, std::span<const std::byte> message, Read read);
  void rethrow_malformed();
  void ask_if_idle();
  void wait();
  void unwind_all();
  void unwind(Frame* frame, const Instruction* pc);
  TakenCall* call_around(const Frame* frame);
  bool is_over() const { return state_.finished.load() || state_.stopping.load(); }

  net::Transport& transport_;
  const uint32_t run_;
  RunState& state_;
  const Plan& plan_;
  Owner& owner_;
  Worker agent_;  ///< steals on behalf of other processes; runs nothing
  const bool can_be_woken_;
  const Clock::time_point begin_ = Clock::now();
  std::unordered_map<const Group*, uint32_t> group_numbers_;

  // The agent touches what follows, and, while it waits for that, a worker that it has asked for a call.
  std::unordered_map<const Instruction*, CallWorth> worth_;  ///< by entry
  std::unordered_map<const Group::Call*, Codecs> codecs_;
  net::ByteWriter gift_;
  Clock::duration writing_{0};  ///< how long it took to write it

  // The agent alone touches what follows.
  std::unordered_map<uint64_t, Given> given_;  ///< by name
  uint64_t next_name_ = 0;
  std::deque<int> asked_;  ///< processes that wait for an answer
  std::vector<bool> met_;  ///< processes that have asked
  Questions questions_;    ///< questions of this process
  Clock::time_point asks_again_{};
  Clock::duration pause_{0};
  Clock::duration nap_{0};  ///< the latest
  bool has_ended_ = false;  ///< End has come, or was sent
  StatsOfOthers others_;
  uint64_t bytes_sent_ = 0;
  uint64_t calls_taken_ = 0;

  std::atomic<int> asked_count_{0};
  std::atomic<int> met_count_{0};
  std::atomic<bool> is_wanted_{false};
  std::atomic<int> waiting_count_{0};
  std::atomic<bool> has_reported_{false};  ///< an error of the run
  std::atomic<bool> has_error_{false};     ///< the owner has one: at process 0
  std::mutex mutex_;                       ///< guards what follows
  std::condition_variable wakes_;          ///< the agent
  std::condition_variable has_work_;       ///< wakes workers
  std::deque<Waiting> waiting_;
  std::list<TakenCall> taken_;
  std::vector<Result> results_;   ///< to be sent
  std::vector<Report> errors_;    ///< to be sent
  std::exception_ptr malformed_;  ///< what a worker says of a message
  std::exception_ptr failure_;    ///< how the connection failed
};

}  // namespace hiaton::exec::direct
