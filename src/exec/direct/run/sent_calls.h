// Calls between the processes that the functions of a program are placed on.
//
// Each process has one worker, which speaks with the others itself. A call of a function of another process
// is a call of a body here that sends the arguments (emit_sent.cpp): its frame waits until the results come,
// and its chain with it. The calls of the worker that are free to be stolen then become work of the worker
// itself, each on a chain of its own, so that the frame is not waited for as long as there is anything else
// to do: work of others comes first, then that of the worker, the latest first, so that few frames wait at
// once. Where the program itself is placed elsewhere, process 0 calls it. A function may have copies on
// several processes: each process sends its calls to the copy where the fewest of them are under way, and one
// that has a copy itself sends others few. So calls may go to and fro between processes as deep as memory
// allows, and none waits for a thread.
//
//   Call, name    a function of the receiver, its arguments; the caller keeps its frame by this name
//   Refuse, name  its memory is short, and it has other work: the arguments come back
//   Again, name   the same call as before
//   Taken, name   the answer to that, unless it is refused again
//   Return, name  the results
//   Fault, name   it failed: the error, to which the caller adds its own chain of calls
//   End           from process 0: the run has its results or an error
//   Done          to process 0: this process has ended the run, and sends nothing more; its statistics
//
// sent_protocol.h has the names, and when a process refuses. What waits to be sent, for credit or since it
// was refused, counts in the byte budget, and a process with much of it, with much that may come back, or
// with little memory left, begins no more calls of its own that it could leave alone for now. Each message
// holds the number of the run; those of a run that is over are dropped.
#pragma once

#include <chrono>
#include <deque>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/spinning.h"
#include "exec/direct/run/direct_worker.h"
#include "exec/direct/run/remote_messages.h"
#include "exec/direct/run/sent_protocol.h"
#include "hiaton/error.h"
#include "net/transport.h"
#include "net/values.h"

namespace hiaton::exec::direct {

/// The calls between processes of one run, as one of the processes sees them. The run tells its worker where
/// it finds it: RunState::sent.
class SentCalls {
 public:
  /// What the run does for it.
  class Owner {
   public:
    virtual ~Owner() = default;
    /// The error of a call that was sent from this frame, with the calls around the frame.
    virtual RunError with_calls_around(const RunError& error, const Frame* frame, const Instruction* pc) = 0;
    /// The outermost call around an instruction of a frame, of `called`, as errors show it.
    virtual CallRecord outermost_call(const Frame* frame, const Instruction* pc,
                                      graph::FunctionId called) = 0;
    /// Takes an error with all calls around it, at process 0.
    virtual void take_error(const RunError& error) = 0;
    /// A stretch of interpretation has ended the run: the program has returned, or the worker says why not.
    virtual void settle(Outcome outcome) = 0;
  };

  /// `main_root` is the frame that the program returns to.
  SentCalls(net::Transport& transport, RunState& state, const Plan& plan, Budget& budget,
            const Frame* main_root, Owner& owner);
  ~SentCalls();
  SentCalls(const SentCalls&) = delete;
  SentCalls& operator=(const SentCalls&) = delete;

  /// Runs what others send, and at process 0, first, what `start` begins, until all processes have ended.
  void run(const std::function<Outcome()>& start);
  /// For the worker while it computes: lets go what it has sent, and takes what has come.
  void look();
  /// Where this process has a copy of the function, and goes on with that instead of sending the call: the
  /// entry of the copy. Null: the call is sent.
  const Instruction* entry_here(std::size_t function) const;
  /// Wakes the process where it waits, from any thread.
  void wake() { transport_.wake(); }
  /// The run has failed in this process, at an instruction of `frame`, which is null where that is not known.
  void report(const RunError& error, const Frame* frame, const Instruction* pc);
  /// Calls `visit` with the slots that hold what it keeps of calls, once a run has ended by an error and
  /// run() has returned.
  void visit_slots(const std::function<void(std::span<const Slot>)>& visit) const;
  /// After run(). Adds up the statistics at process 0. Throws what ended the connection.
  void finish(RunStats& stats);

 private:
  static constexpr uint64_t kNoSentCall = ~uint64_t{0};
  static constexpr std::chrono::microseconds kSentLook{100};

  enum class Kind : uint8_t { Call, Again, Refuse, Taken, Return, Fault, End, Done };

  /// Where results and errors of a call go.
  struct Name {
    int process;
    uint64_t number;
  };
  /// A call that was sent: the frame that waits for it. With a null frame, a free place.
  struct Waiting {
    Frame* frame = nullptr;
    Frame* anchor = nullptr;
    const Instruction* pc = nullptr;
    uint32_t function = 0;    ///< it went to
    uint64_t bytes = 0;       ///< bytes of its arguments
    bool is_refused = false;  ///< it was sent back, and is not known to be taken since
  };
  /// A call that came back, with its arguments.
  struct Refused {
    Name to;
    uint32_t function;
    net::ByteWriter arguments;
  };
  /// A call of another process that runs here. Behind it stands the frame that it returns to, and behind that
  /// the arguments that this process holds for as long as the call runs.
  struct Taken {
    Name name;
    uint32_t function;
    Taken* before;
    Taken* behind;
  };
  /// A frame to go on with, or to begin with.
  struct Runnable {
    Frame* frame;
    Frame* anchor;
    const Instruction* pc;
    const Taken* begins;  ///< the call of another process that begins here; null: the frame goes on
  };
  /// A call of this process that its worker has made work for itself.
  struct Free {
    Frame* frame;
    const Group* group;
    uint32_t call;
  };
  struct Codecs {
    net::ValueCodec arguments;
    net::ValueCodec results;
    bool holds_arguments;  ///< some are held while the call runs
  };

  bool is_over() const { return state_.finished.load() || state_.stopping.load(); }
  Worker& worker() { return *state_.workers[0]; }
  void send(Name to, Kind kind, uint32_t function, const net::ByteWriter& body);
  void poll();
  void take(int from, const net::Header& header, std::span<const std::byte> payload);
  void take_call(Name name, uint32_t function, net::ByteReader& in);
  void take_return(Name name, net::ByteReader& in);
  void take_fault(Name name, net::ByteReader& in);
  Waiting& waiting(Name name, net::ByteReader& in);
  void take_refusal(Name name, Waiting& place, std::span<const std::byte> arguments);
  void note_taken(Waiting& place);
  void send_refused();
  void count_waiting();
  /// Whether memory is short for `bytes` more and what becomes of them.
  bool is_short(std::size_t bytes = 0) const;
  bool is_busy() const { return is_looking_ || !runnable_.empty() || !free_.empty(); }
  bool holds_back() const { return must_wait() || is_short(); }
  bool must_wait() const;
  void free_place(Waiting& place);
  bool run_next();
  void wait_for_others();
  void settle(Outcome outcome);
  void draw(const Runnable& next);
  uint64_t arrow_of(int caller, uint64_t name) const;
  uint32_t choose_copy(std::size_t function);
  void send_call();
  void free_calls();
  Outcome run_free();
  void return_results();
  void fail(Fault fault);
  void unwind_all();
  void unwind(Frame* frame, Frame* anchor, const Instruction* pc);

  static Frame* root_of(Taken& taken) { return reinterpret_cast<Frame*>(&taken + 1); }
  Slot* held_by(Taken& taken) const {
    return root_of(taken)->slots + plan_.sent[taken.function].result_types.size();
  }
  std::size_t slots_of_root(uint32_t function) const;
  static Taken& taken_with(Frame* root) { return reinterpret_cast<Taken*>(root)[-1]; }
  void drop(Taken* taken);
  Taken* call_around(const Frame* frame);
  /// Whether the function is the program itself, which process 0 calls where its place is elsewhere.
  static bool is_of_program(uint32_t function) { return function == 0; }

  net::Transport& transport_;
  const uint32_t run_;
  RunState& state_;
  const Plan& plan_;
  Budget& budget_;
  const uint64_t room_;  ///< what the budget leaves when the run begins
  const Frame* const main_root_;
  Owner& owner_;
  std::jthread ticks_;
  std::vector<Codecs> codecs_;  ///< by function; of one that nobody sends calls to, of no values
  net::ByteWriter body_;
  CallNames names_;
  std::vector<Waiting> waiting_;  ///< by place of names_
  std::deque<Refused> refused_;
  uint64_t refused_bytes_ = 0;
  std::size_t refused_under_way_ = 0;
  uint64_t counted_bytes_ = 0;  ///< bytes of what waits to be sent, as the budget counts them
  std::size_t under_way_ = 0;
  uint64_t under_way_bytes_ = 0;        ///< bytes of their arguments, which may come back
  std::vector<uint32_t> under_way_in_;  ///< by function, of the calls that went to it
  std::vector<std::size_t> turns_;      ///< by function with copies: the one that is next
  std::deque<Runnable> runnable_;
  std::vector<Free> free_;
  std::vector<Slot> free_arguments_;
  Taken* newest_ = nullptr;
  uint32_t begun_since_look_ = 0;  ///< calls of its own
  bool is_looking_ = false;        ///< the worker computes
  bool has_reported_ = false;
  bool has_error_ = false;
  bool has_ended_ = false;     ///< End has come, or was sent
  Fault fault_ = Fault::None;  ///< what a message says has failed
  StatsOfOthers others_;
  uint64_t bytes_sent_ = 0;
  uint64_t calls_taken_ = 0;
  Spinning spinning_;
  std::exception_ptr failure_;
};

}  // namespace hiaton::exec::direct
