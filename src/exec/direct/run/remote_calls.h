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
//   Return, name  the results of the call, and how long it took
//   Fault, name   it failed: the error, to which the giver adds its own chain of calls. So an error goes to
//   the
//                 process that gave the call, from there to who gave the call around it, and so on to process
//                 0
//   End           from process 0: the run has its results or an error
//   Done          to process 0: this process has ended the run, and sends nothing more; its statistics
//
// Each message holds the number of the run. Those of a run that is over are dropped; a question of a process
// that is in the next run already is refused. A name is never used twice in a run.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <list>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "exec/direct/run/worker.h"
#include "hiaton/error.h"
#include "net/transport.h"

namespace hiaton::exec::direct {

/// Of one run in one process. The run tells its workers where they find it: RunState::remote.
class RemoteCalls {
 public:
  /// What the run does for it, on the agent's thread.
  class Owner {
   public:
    virtual ~Owner() = default;
    /// The error of a call that was given away from this frame, with the calls around the frame.
    virtual RunError with_calls_around(const RunError& error, const Frame* frame,
                                       const Group::Call& call) = 0;
    /// Takes an error with all calls around it, at process 0.
    virtual void take_error(const RunError& error) = 0;
  };

  RemoteCalls(net::Transport& transport, RunState& state, const Plan& plan, FrameBudget& budget,
              Owner& owner);
  ~RemoteCalls();
  RemoteCalls(const RemoteCalls&) = delete;
  RemoteCalls& operator=(const RemoteCalls&) = delete;

  bool is_first() const { return transport_.self() == 0; }

  // What workers ask.
  /// Whether the call of a worker may go to another process.
  bool may_give(const Group::Call& call) const;
  /// Whether something waits for a worker.
  bool has_waiting() const { return waiting_count_.load(std::memory_order_relaxed) > 0; }
  /// Takes something that waits for a worker, and runs it. Nothing where nothing waits any more.
  std::optional<Outcome> run_waiting(Worker& worker);
  /// For runs that share every call: whether another process waits for one, and whether all have asked once.
  bool is_asked() const { return asked_count_.load() > 0; }
  bool have_all_asked() const { return met_count_.load() == transport_.size() - 1; }
  /// A worker has nothing to do.
  void want();
  /// A stretch has halted in Worker::frame. False: main has returned there. Otherwise the results of a call
  /// that was taken go back.
  bool take_results(Worker& worker);

  // What the run asks.
  /// What the agent does until the run is over.
  void serve();
  /// The run has failed in this process; `frame` is where, or null where that is not known. Before its
  /// workers are stopped.
  void report(const RunError& error, const Frame* frame);
  /// Called when no worker runs any more, after serve(). Adds up the statistics at process 0. Throws what
  /// ended the connection.
  void finish(RunStats& stats);
  const FramePool& pool() const { return agent_.pool; }

 private:
  enum class Kind : uint8_t { Ask, Refuse, Gift, Return, Fault, End, Done };
  using Clock = std::chrono::steady_clock;

  /// A call of this process that runs in another one.
  struct Given {
    Frame* frame;
    const Group* group;
    uint32_t call;
    int to;
    Clock::duration cost{0};  ///< of giving it
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
    std::vector<Slot> arguments;
    std::vector<Slot> root;  ///< the frame that it returns to, with its results
    Clock::time_point began{};
  };
  /// What waits for a worker: a frame to go on with, or a call that was taken.
  struct Waiting {
    Frame* frame = nullptr;
    const Instruction* pc = nullptr;
    Frame* anchor = nullptr;
    TakenCall* taken = nullptr;  ///< null: the frame
  };
  struct Report {
    RunError error;
    Name to;
  };
  struct Result {
    Name to;
    net::ByteWriter body;
  };
  /// What calls to one function or task cost and bring.
  struct Worth {
    Clock::duration cost{0};
    Clock::duration took{0};
    uint64_t calls = 0;
  };

  static Frame* root_of(TakenCall& taken) { return reinterpret_cast<Frame*>(taken.root.data()); }
  void send(Name to, Kind kind, const net::ByteWriter& body);
  void send_in(uint32_t run, Name to, Kind kind, const net::ByteWriter& body);
  void step();
  void take(int from, const net::Header& header, std::span<const std::byte> payload);
  void send_results();
  void send_errors();
  void take_question(int from);
  void answer_asked();
  bool give(int to);
  void take_gift(Name name, net::ByteReader& in);
  void take_return(Name name, net::ByteReader& in);
  void take_fault(Name name, net::ByteReader& in);
  void take_done(net::ByteReader& in);
  void refused();
  Given& given(Name name, net::ByteReader& in);
  void put_waiting(const Waiting& one, bool first);
  void ask_if_idle();
  void wait();
  void unwind_all();
  void unwind(Frame* frame, const Instruction* pc);
  Name name_of_call_around(const Frame* frame);
  bool is_over() const { return state_.finished.load() || state_.stopping.load(); }

  net::Transport& transport_;
  const uint32_t run_;
  RunState& state_;
  const Plan& plan_;
  Owner& owner_;
  Worker agent_;  ///< steals on behalf of other processes; runs nothing
  std::unordered_map<const Group*, uint32_t> group_numbers_;
  std::unordered_map<const Instruction*, Worth> worth_;  ///< by entry

  // The agent alone touches what follows.
  std::unordered_map<uint64_t, Given> given_;  ///< by name
  uint64_t next_name_ = 0;
  std::deque<int> asked_;  ///< processes that wait for an answer
  std::vector<bool> met_;  ///< processes that have asked
  bool asks_ = false;      ///< this process waits for one
  int next_victim_ = 0;
  int refusals_ = 0;  ///< in a row
  Clock::time_point asks_again_{};
  Clock::duration pause_{0};
  bool has_ended_ = false;  ///< End has come, or was sent
  int done_ = 0;            ///< processes that have said Done
  RunStats others_;         ///< what they said
  uint64_t bytes_sent_ = 0;
  uint64_t calls_taken_ = 0;

  std::atomic<int> asked_count_{0};
  std::atomic<int> met_count_{0};
  std::atomic<bool> is_wanted_{false};
  std::atomic<int> waiting_count_{0};
  std::atomic<bool> has_reported_{false};  ///< an error of the run
  std::atomic<bool> has_error_{false};     ///< the owner has one: at process 0
  std::mutex mutex_;                       ///< of what follows
  std::condition_variable wakes_;
  std::deque<Waiting> waiting_;
  std::list<TakenCall> taken_;
  std::vector<Result> results_;  ///< to be sent
  std::vector<Report> errors_;   ///< to be sent
  std::exception_ptr failure_;   ///< of the connection
};

}  // namespace hiaton::exec::direct
