// Calls between the processes that the functions of a program are placed on.
//
// Each process has one worker, which speaks with the others itself. A call of a function of another process
// is a call of a body here that sends the arguments (emit_sent.cpp): its frame waits until the results come,
// and its chain with it. The calls of the worker that are free to be stolen then become work of the worker
// itself, each on a chain of its own, so that the frame is not waited for as long as there is anything else
// to do: work of others comes first, then that of the worker, the latest first, so that few frames wait at
// once. So calls may go to and fro between processes as deep as memory allows, and none waits for a thread.
//
//   Call, name    a function of the receiver, its arguments; the caller keeps its frame by this name
//   Return, name  the results
//   Fault, name   it failed: the error, to which the caller adds its own chain of calls
//   End           from process 0: the run has its results or an error
//   Done          to process 0: this process has ended the run, and sends nothing more; its statistics
//
// A name is a place in a table of the caller, and how often it was used. Each message holds the number of the
// run; those of a run that is over are dropped.
#pragma once

#include <deque>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "exec/direct/run/remote_messages.h"
#include "exec/direct/run/worker.h"
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
    /// The arguments of the outermost call around an instruction of a frame, as errors show them.
    virtual std::vector<std::string> arguments_of_outermost(const Frame* frame, const Instruction* pc,
                                                            graph::FunctionId function) = 0;
    /// Takes an error with all calls around it, at process 0.
    virtual void take_error(const RunError& error) = 0;
    /// A stretch of interpretation has ended the run: the program has returned, or the worker says why not.
    virtual void settle(Outcome outcome) = 0;
  };

  /// `main_root` is the frame that the program returns to.
  SentCalls(net::Transport& transport, RunState& state, const Plan& plan, const Frame* main_root,
            Owner& owner);
  ~SentCalls();
  SentCalls(const SentCalls&) = delete;
  SentCalls& operator=(const SentCalls&) = delete;

  /// Runs what others send, and at process 0, first, what `start` begins, until all processes have ended.
  void run(const std::function<Outcome()>& start);
  /// For the worker while it computes: lets go what it has sent, and takes what has come.
  void look();
  /// Wakes the process where it waits, from any thread.
  void wake() { transport_.wake(); }
  /// The run has failed in this process, at an instruction of `frame`, which is null where that is not known.
  void report(const RunError& error, const Frame* frame, const Instruction* pc);
  /// After run(). Adds up the statistics at process 0. Throws what ended the connection.
  void finish(RunStats& stats);

 private:
  enum class Kind : uint8_t { Call, Return, Fault, End, Done };

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
    uint32_t generation = 0;
    uint32_t next_free = 0;
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
  void free_place(Waiting& place);
  bool run_next();
  void wait_for_others();
  void settle(Outcome outcome);
  void draw(const Runnable& next);
  uint64_t arrow_of(int caller, uint64_t name) const;
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
  static Taken& taken_with(Frame* root) { return reinterpret_cast<Taken*>(root)[-1]; }
  void drop(Taken* taken);
  Taken* call_around(const Frame* frame);

  net::Transport& transport_;
  const uint32_t run_;
  RunState& state_;
  const Plan& plan_;
  const Frame* const main_root_;
  Owner& owner_;
  std::jthread ticks_;
  std::vector<Codecs> codecs_;  ///< by function; of one that nobody sends calls to, of no values
  net::ByteWriter body_;
  std::vector<Waiting> waiting_;
  uint32_t first_free_ = 0;  ///< as many as waiting_: none
  std::size_t under_way_ = 0;
  std::deque<Runnable> runnable_;
  std::vector<Free> free_;
  std::vector<Slot> free_arguments_;
  Taken* newest_ = nullptr;
  bool has_reported_ = false;
  bool has_error_ = false;
  bool has_ended_ = false;     ///< End has come, or was sent
  Fault fault_ = Fault::None;  ///< of a message
  StatsOfOthers others_;
  uint64_t bytes_sent_ = 0;
  uint64_t calls_taken_ = 0;
  std::exception_ptr failure_;
};

}  // namespace hiaton::exec::direct
