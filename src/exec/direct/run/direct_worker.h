// A worker: one thread's share of a run of direct code, and how workers take calls from each other.
//
// A worker owns the frames from the one it runs up to where its work began. Calls that nobody has started and
// that do not need each other stand in its fork list, oldest first; only the owner touches the list. A worker
// without work asks another: it writes itself into `request`, then raises `poll`. The owner looks at `poll`
// at calls and loop ends (a relaxed load: seeing it late costs time, nothing else), and gives its OLDEST free
// call away. Data values that the call gets move to the thief as they are where their type says that nobody
// takes a second reference to them (Group::Call::kinds), or where the call takes over the
// only reference to them and to all that is below; small ones are copied; others are counted by atomic
// operations from then on.
// The frame of that call then has a JoinRecord, which counts who has still to come back to it: the only
// memory that two workers write. Who comes back last goes on with the frame and so becomes its owner.
//
// Why giving the oldest keeps things simple: when a frame has had a call stolen, every frame above it has had
// its free calls stolen before. So whoever goes on with the frame, and returns through those above, finds
// there nothing that stands in another worker's fork list.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "exec/direct/direct_plan.h"
#include "exec/direct/run/call_trace.h"
#include "exec/direct/run/direct_frame.h"
#include "exec/direct/run/tensors.h"
#include "kernels/launch_helpers.h"
#include "tensor/data_heap.h"

namespace hiaton {
class SharedLoop;
}

namespace hiaton::exec::direct {

struct JoinRecord {
  std::atomic<uint32_t> pending;  ///< who has still to come back: the owner and each thief
  uint32_t end;                   ///< calls of the group from this one on were stolen; the owner's
  Frame* anchor;                  ///< the anchor of the chain that the frame is in
};

/// A frame whose group of calls still has calls that nobody started: those from `started` to `end`.
struct ForkEntry {
  Frame* frame;
  const Group* group;
  uint32_t started;
  uint32_t end;
  uint32_t weight;  ///< see fork_weight()
};

/// How much the free groups of calls of one worker weigh at most; deeper ones run in their sequential form.
inline constexpr uint32_t kMostForks = 8;

/// The same where so many other workers of this process, and nobody else, may ask for a call. One of two
/// workers hardly ever gives away six calls before it has made new groups, and a call that could be stolen
/// costs more than a plain one. Other processes ask for calls that are large enough to be sent, of which a
/// list of six holds too few: `list_queens` left one of two processes without work for a fifth of the time.
constexpr uint32_t fork_room_for(std::size_t others) {
  return std::min<uint32_t>(kMostForks, 5 + static_cast<uint32_t>(std::bit_width(others)));
}

/// How much a group of calls counts against RunState::fork_room: as many as groups of two would have to stand
/// inside each other for as many calls at their bottom.
constexpr uint32_t fork_weight(uint32_t calls) {
  return calls < 4 ? 1 : static_cast<uint32_t>(std::bit_width(calls)) - 1;
}

/// How a stretch of interpretation ended.
enum class Outcome : uint8_t {
  Halted,   ///< main has returned, or a call of another process, to Worker::frame
  Parked,   ///< the frame waits for stolen calls; another worker will go on with it
  Sends,    ///< Worker::frame calls a function of another process, and waits for it at Worker::pc
  Stopped,  ///< the run is to end: Worker::frame and Worker::pc say where this worker was
  Failed,   ///< the instruction at Worker::pc failed in Worker::frame with Worker::fault
};

struct Worker;
class RemoteCalls;
class SentCalls;

/// What the workers of one run share. Not touched by the interpreter's common case.
struct RunState {
  std::vector<std::unique_ptr<Worker>> workers;
  /// The run is to end early; who sets it raises every worker's `poll` afterwards.
  std::atomic<bool> stopping{false};
  std::atomic<bool> finished{false};
  /// Workers that ask for work. Who gives a call away counts the thief out.
  std::atomic<int> idle{0};
  /// Where workers find calls of other processes; null: there are none.
  RemoteCalls* remote = nullptr;
  /// Where the functions of the plan are on several processes; null: they are on one.
  SentCalls* sent = nullptr;
  /// For tests: each call that can be given away is, as long as a worker is idle; the first waits for all.
  bool shares_every_call = false;
  uint32_t fork_room = kMostForks;  ///< see fork_room_for()
  /// Calls the other workers where they do not look for work yet: for the first one, when it has calls that
  /// can be given away, or a large launch. False: it is too early.
  std::function<bool()> call_others{};
  /// The large launch, or the look through the arguments of a call, that idle workers help with; null: there
  /// are none, or nobody to help.
  std::unique_ptr<SharedLoop> launches;

  RunState();
  ~RunState();
  void stop();
  /// Keeps what was thrown, and stops: the run throws the first such exception when no worker works any more.
  void stop_for(std::exception_ptr thrown);
  /// Throws what was kept, if anything was, and keeps it no longer.
  void throw_kept();
  /// Once all workers are there: lets them help each other, where the plan has something to help with.
  void share_launches(const Plan& plan);

 private:
  std::mutex mutex_;
  std::exception_ptr thrown_;
};

/// The idle workers of the run, as one of them has their help with its launches.
class HelpOfWorkers : public kernels::LaunchHelpers {
 public:
  explicit HelpOfWorkers(Worker& worker) : worker_(worker) {}
  /// Calls the others for a launch that is worth it.
  int idle(int64_t work) override;
  void run(std::size_t count, const std::function<void(std::size_t)>& work) override;

 private:
  Worker& worker_;
};

struct Worker {
  /// `heap` may be null where the plan has no data values, `tensor_heap` where it has no tensors.
  Worker(RunState& its_state, const Plan& its_plan, Budget& budget, DataHeap* heap,
         TensorHeap* tensor_heap = nullptr);

  /// Raised by others who want to be looked at soon: with a request for work, or at the end of the run.
  alignas(64) std::atomic<bool> poll{false};
  /// How many data values it may still look at to find out that nobody else refers to them. Without a bound,
  /// a list that is stolen element by element would be gone through for each of them.
  static constexpr std::size_t kMostSteps = std::size_t{1} << 20;
  std::size_t steps_left = kMostSteps;
  /// A request went unanswered: the next call of a function that forks goes on in its forking form. It looks
  /// at so many calls and loop ends for one.
  uint32_t hungry = 0;
  static constexpr uint32_t kCallsToLook = 256;
  uint32_t fork_end = 0;
  uint32_t forks_weigh = 0;  ///< the sum of their weights
  ForkEntry forks[kMostForks];
  uint32_t fork_room;  ///< RunState::fork_room; 0: the others do not look for work yet
  FramePool pool;
  DataCells* cells = nullptr;              ///< null where the plan has no data values
  std::unique_ptr<TensorMachine> tensors;  ///< null where the plan has no tensors
  std::span<const Value> parameters{};     ///< learned parameters of the run
  const RunOptions* options = nullptr;     ///< options of the run
  CallTrace calls;
  Frame* anchor = nullptr;  ///< the anchor of the chain this worker runs in
  std::vector<uint64_t> region_firings;
  std::vector<Slot>
      passed;  ///< room for the arguments of any call: running takes no other memory than frames

  /// For whom an agent steals, which gets calls as messages to other processes; null: for itself.
  RemoteCalls* steals_for = nullptr;
  RunState& state;
  const Plan& plan;
  Frame* frame = nullptr;  ///< where this worker was, together with pc, when interpretation ended
  const Instruction* pc = nullptr;
  Fault fault = Fault::None;
  uint64_t steals = 0;
  uint64_t atomic_operations = 0;  ///< read-modify-writes and fences

  /// Prints a string as a line.
  Fault print(const DataObject* text) const;
  /// Looks at what `poll` was raised for. False: the run is to end.
  bool answer_poll();
  /// Whether another group of calls has room where `forks_weigh` has reached `fork_room`.
  bool find_fork_room();
  void push_fork(const ForkEntry& entry) {
    forks[fork_end++] = entry;
    forks_weigh += entry.weight;
  }
  void pop_fork() { forks_weigh -= forks[--fork_end].weight; }
  void forget_forks() { fork_end = forks_weigh = 0; }
  /// One of those who had to come back to `target` is there. True: it was the last, and goes on with the
  /// frame and its chain, unless the run is stopping: who comes back without results stops it first.
  bool arrive(Frame* target, const Group& group);
  /// The frame in which all calls of the group have come back, null where others still have to, is where the
  /// run ends: one of them has failed and left no results.
  Outcome stop_at(Frame* joined, const Group& group);
  /// Runs the program from its start.
  Outcome begin(const std::function<Outcome()>& start);
  /// Makes the first frame of a chain, which returns to `parent`. Null where a budget or memory is exhausted.
  Frame* start_chain(Frame* parent, const Instruction* resume, uint32_t slots);
  /// The first frame of this worker's chain has returned.
  void leave_chain();
  /// Waits for the others, so that calls can be given to them: for a run that shares every call.
  void wait_for_others() const;
  /// Waits for work and runs it, until the run is finished or stopping. Gives how the last stretch ended.
  Outcome help();
  /// Gives back all frames from `frame` outwards after an error, up to those that others still come back to.
  void unwind();
  /// Calls `visit` with the slots in which it kept references when the run ended by an error, once all
  /// workers have unwound their frames.
  void visit_slots(const std::function<void(std::span<const Slot>)>& visit) const;

 private:
  struct Gift {
    Frame* frame = nullptr;
    const Group* group = nullptr;
    uint32_t call = 0;
    uint64_t arrow = 0;            ///< the number of the arrow in the trace, if there is one
    DataObject* copies = nullptr;  ///< holds those that the call borrows
  };
  enum class Answer : uint8_t { None, Refused, Given };

  bool pass_arguments(const ForkEntry& entry, Worker& thief);
  void refuse_requests();
  bool help_with_launches() const;
  bool answer_request(Worker& thief);
  void give_all_away();
  bool ask(Worker& victim);
  bool find_work();
  Outcome run_found();
  Outcome run_gift();

  /// The idle worker that wants a call from this one; null: nobody asks.
  alignas(64) std::atomic<Worker*> request_{nullptr};
  /// Whether this worker runs something, so that it is worth asking.
  std::atomic<bool> busy_{false};
  /// Where its thread has begun what it runs. Relaxed: see leave_core().
  std::atomic<int> core_{-1};
  std::optional<DataCells> own_cells_;
  HelpOfWorkers help_{*this};
  alignas(64) std::atomic<Answer> answer_{Answer::None};
  /// The call that is given; its arguments are in `passed`. Both are written before `answer_` becomes Given
  /// (release), and read after that (acquire).
  Gift gift_;

  friend struct RunState;
  friend class RemoteCalls;
  class SentCalls;
};

}  // namespace hiaton::exec::direct
