// Runs programs by items and batches: one thread, any number of argument lists at once. Workers of a team,
// and those of several processes, give each other calls (sharing.cpp, calls_of_processes.cpp).
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "exec/budget.h"
#include "exec/direct/run/direct_caller.h"
#include "exec/flow/flow_plan.h"
#include "exec/flow/run/batch.h"
#include "exec/flow/run/complete_gradients.h"
#include "exec/flow/run/flow_frame.h"
#include "exec/flow/run/messages.h"
#include "exec/flow/run/process_calls.h"
#include "exec/flow/run/team.h"
#include "exec/flow/run/waiting.h"
#include "exec/run_watch.h"
#include "hiaton/error.h"
#include "hiaton/run.h"
#include "hiaton/trace.h"

namespace hiaton::exec::flow {

/// Some of the examples of a run, which are contiguous.
struct ExampleRange {
  Examples* all = nullptr;
  std::size_t begin = 0;
  std::size_t end = 0;

  std::size_t size() const { return end - begin; }
};

/// What ends a run: an operation failed, or a budget is used up. The chain of calls may go through other
/// workers, so the message is made when none of them runs any more.
struct Failure {
  Frame* frame = nullptr;
  const Step* step = nullptr;  ///< null: a budget
  Fault fault = Fault::None;
  std::vector<Value> operands{};
  const Call* direct = nullptr;  ///< in a call of direct code, which is this item of the frame
};

/// Another worker ended the run.
struct Stopped {};

/// Whose member a worker is in a run.
struct Membership {
  RunWatch::Clock::time_point start;  ///< when the run began
  Team* team = nullptr;               ///< null: it is alone
  uint32_t number = 0;
  std::vector<Message> mail{};        ///< what it begins with
  ProcessCalls* processes = nullptr;  ///< where other processes run calls
  bool is_whole_run = false;          ///< nobody else adds to the gradients
};

/// The rule: what can fire without a batch fires at once, innermost first; when nothing can, the ready batch
/// of lowest priority number runs, among several the one that most frames have come to since it ran.
class Worker {
 public:
  Worker(const graph::Graph& graph, std::shared_ptr<const Plan> plan);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  /// A call of direct code that failed last has left its arguments, which the error told.
  ~Worker() { release_direct_arguments(); }

  /// Runs the program for each example; may be called again, also after an error. `graph` is the one of the
  /// plan; `packed` are the parameters of the options; `track`, where the run is drawn, may be null. In a
  /// team of which all parts are taken it goes on with what others send, until the run is over. Throws
  /// Failure, Stopped, or RunError.
  void run(const graph::Graph& graph, const ExampleRange& examples, const RunOptions& options,
           const PackedParameters& packed, Budget& use, Gradients* gradients, Trace::Track* track,
           Membership membership);
  // Runs of one argument list, whose phases come one by one: open(), then go_on() as often as phases come.
  /// The options, the parameters that are packed, and the gradients must live until close().
  void open(const graph::Graph& graph, const RunOptions& options, const PackedParameters& packed,
            Gradients* gradients);
  /// Takes the arguments of the phases that come next, and fires all that can fire. In a team it goes on with
  /// what others send, until nobody has anything to do. Throws as run() does.
  void go_on(Budget& use, Membership membership, std::span<const std::vector<Value>> phases,
             Trace::Track* track);
  /// By number; those of later phases than have come are without meaning.
  std::span<const Value> results() const { return started_[0].results; }
  std::size_t results_to_come() const { return started_[0].results_to_come; }
  /// Adds what it holds, while it does not run, to what the run uses.
  void tell_resting(Budget& use) const;
  bool holds_frames() const { return resting_frames_ > 0; }
  /// Lets go of all that it holds for the run; what it keeps serves the next one.
  void close() { clear(); }
  /// What a person reads of the failure of the last run. Not while a worker of its team runs.
  RunError error_of(const Failure& failure) const;
  // For ProcessCalls, from within a run.
  /// Where the tensors of calls that come together are to stand.
  BlockPool& blocks() { return batches_.blocks(); }
  /// Takes what another process has sent.
  void take_message(Message& message) { deliver({&message, 1}); }
  /// Sends what is to be sent. For who has taken messages.
  void send_all();
  /// A call that was sent; null where that is not under way.
  const RemoteCall* find_remote_call(ReturnName name) const;
  /// Whether there is something to do.
  bool has_work() const { return !ready_.empty() || choose() != nullptr; }
  /// The fault of a run whose time is over, or that was interrupted.
  Fault poll_time() const { return watch_->poll(); }
  /// The call of another process that the frame works for; nothing where it works for the program.
  static std::optional<ReturnName> call_around(const Frame* frame);
  /// The error of a call that another process runs, with the calls around it here.
  RunError with_calls_around(const RunError& error, const RemoteCall& call) const;
  RunError error_without_place(Fault fault) const;
  /// The label of the call site.
  uint32_t call_label(const RemoteCall& call) const;
  /// What it keeps from run to run.
  uint64_t held_bytes() const;
  /// What the last run did.
  void add_to(RunStats& stats) const;

 private:
  struct Ready {
    Frame* frame;
    const Item* item;
    bool operator==(const Ready&) const = default;
  };
  /// What is ready, the next to fire last. `push` is always inlined, which that of a vector is not.
  class ReadyStack {
   public:
    bool empty() const { return count_ == 0; }
    std::size_t size() const { return count_; }
    const Ready& operator[](std::size_t index) const { return all_[index]; }
    uint64_t bytes() const { return all_.capacity() * sizeof(Ready); }
    [[gnu::always_inline]] void push(const Ready& ready) {
      if (count_ == all_.size()) [[unlikely]]
        all_.resize(std::max<std::size_t>(2 * count_, 64));
      all_[count_++] = ready;
    }
    Ready pop() { return all_[--count_]; }
    void erase(std::size_t index) {
      std::copy(all_.data() + index + 1, all_.data() + count_, all_.data() + index);
      --count_;
    }
    void clear() { count_ = 0; }
    /// What was pushed since there were so many fires in the order in which it was pushed.
    void fire_in_order_from(std::size_t size) { std::reverse(all_.data() + size, all_.data() + count_); }

   private:
    std::vector<Ready> all_;  ///< behind the first `count_`, room for more
    std::size_t count_ = 0;
  };
  /// An example that is under way.
  struct Example {
    std::vector<Value> arguments;  ///< until nothing of it can fire any more
    std::vector<Value> results;    ///< until they are taken
    std::size_t results_to_come;
  };

  void begin(const graph::Graph& graph, const ExampleRange& examples, const RunOptions& options,
             const PackedParameters& packed, Gradients* gradients);
  void run_until_rest(Budget& use, Membership membership, std::span<const std::vector<Value>> phases);
  Frame* make_root(uint32_t root);
  void store_arguments(Frame* frame, std::size_t first, std::span<const Value> arguments);
  void feed(std::span<const Value> arguments);
  void start(uint32_t root);
  bool start_next();
  void drain();
  void fire_next();
  const Item* fire(Frame* frame, const Item& item);
  const Item* finish_item(Frame* frame, const Item& item, const Item* next = nullptr);
  const Item* wake(Frame* frame, const Item& item, const Item* next = nullptr);
  void make_ready(Frame* frame, const Item& item);
  /// Nothing of it can fire any more, and all it called are gone.
  static bool is_over(const Frame* frame) { return frame->unfinished == 0 && frame->children == 0; }
  void free(Frame* frame);

  void run_scalars(Frame* frame, const Region& region);
  Cell run_step(Frame* frame, const Step& step);
  Cell field_or_zero(Frame* frame, const Step& step);
  /// Returns what the source gives, without a reference of its own.
  Cell borrow(const Frame* frame, const Source& source) const;
  /// Returns the scalar or data value that the source gives, likewise.
  Slot borrow_slot(const Frame* frame, const Source& source) const {
    if (source.from == Source::From::Step) return made_[source.index].slot;
    if (source.from != Source::From::Slot) return borrow(frame, source).slot;
    return layout(frame).load_slot(frame, source.index);
  }
  DataObject* make_data(Frame* frame, const Step& step);
  Cell run_on_values(Frame* frame, const Step& step);
  Value fetch_operand(const Frame* frame, const Step& step, std::size_t index) const;
  const Item* decide(Frame* frame, const Branch& branch);
  void call(Frame* frame, const Call& call);
  void call_direct(Frame* frame, const Call& call);
  Slot pass_direct(Frame* frame, const Source& source, const Type& type);
  void release_direct_arguments();
  void join(Frame* frame, const Join& join);
  void give_back(Frame* frame, const Return& result);
  void give_results(Frame* frame, const Return& result);

  // What a worker does for the other workers of its team.
  void work_for_others();
  bool exchange();
  bool ask_for_calls();
  void give_calls();
  /// How many of the ready instances are looked at, at most, to find calls to give.
  static constexpr std::size_t kMostToLookAt = 64;
  Worth worth_of_ready(std::size_t place) const;
  bool has_several_worth_giving() const;
  std::optional<std::size_t> oldest_worth_giving() const;
  void give_ready(std::size_t place, uint32_t to);
  void give_call(Frame* frame, const Call& call, uint32_t function, uint32_t to);
  bool give_to_somebody(Frame* frame, const Call& call);
  void send_arguments(Frame* frame, const Call& call, const RemoteCall& remote);
  void send_results(Frame* frame, const Return& result);
  void end_call_of_another(RemoteCaller* caller);
  std::vector<SentValue> arguments_of(Frame* frame, const Call& call);
  void send(uint32_t to, Message message);
  void deliver(std::span<Message> mail);
  void take_call(Message& message);
  void take_early_phases(ReturnName name);
  void take_results(Message& message);
  void end_remote_call(RemoteCall& remote);
  void become_ready(Frame* frame, const Item& item);
  void finish_call(Frame* frame, const Item& item);
  Cell fetch_to_send(Frame* frame, const Source& source) const;
  void forget_others();

  // Calls of other processes: process_calls.h.
  bool exchange_with_processes();
  void send_all_to_processes();
  void work_for_processes();
  bool ask_processes();
  void give_calls_to_processes();
  struct ReadyBytes {
    Ready ready;
    uint64_t bytes;
  };
  std::vector<std::size_t> half_of_ready();
  uint64_t bytes_to_send(const Ready& ready) const;
  uint32_t choose_copy(uint32_t function);
  void send_call(Frame* frame, const Call& call, uint32_t function);
  static uint64_t arrow_of(ReturnName name);
  RunError for_caller(const RunError& error, Frame* outermost) const;
  void draw_gift(uint32_t function, uint64_t arrow);

  /// `count` is how much there is to do, in so many of `unit`.
  void begin_trace(Trace::Track* track, std::string_view unit, std::size_t count);
  void end_trace();
  void begin_items();
  void end_items();
  void begin_launch(std::size_t region, std::size_t firings);
  void end_launch();
  void sample();
  uint64_t queue_bytes() const;
  uint64_t scalar_firings() const;

  const Region* choose() const;
  bool others_wait_for_batch() const;
  void tell_complete_gradients(const Region& next);
  void run_batch(const Region& region, std::vector<Frame*>& frames);
  void run_batch_of(const Region& region, std::span<Frame* const> frames);
  BatchFault run_or_end(const Region& region, std::span<Frame* const> frames);
  int compare_shapes(const Region& region, Frame* a, Frame* b) const;
  void sort_by_shapes(const Region& region, std::vector<Frame*>& frames) const;
  std::size_t end_of_same_shapes(const Region& region, const std::vector<Frame*>& frames, std::size_t begin,
                                 std::size_t end) const;
  [[noreturn]] void fail(Frame* frame, const Step& step, Fault fault);
  std::size_t region_of(const Step& step) const;
  void watch(Frame* frame) {
    most_frames_ = std::max(most_frames_, frames_);
    if (watch_->is_time_to_poll() || frames_ > watch_->most_frames_to_use()) look(frame);
  }
  void look(Frame* frame);
  [[noreturn]] static void end(Frame* frame, Fault budget) { throw Failure{frame, nullptr, budget}; }

  const Function& function(const Frame* frame) const { return plan_.functions[frame->function]; }
  const FrameLayout& layout(const Frame* frame) const { return pools_[frame->function].layout(); }
  Cell fetch(Frame* frame, const Source& source) const;

  void clear();

  const std::shared_ptr<const Plan> shared_plan_;
  const Plan& plan_;
  const graph::Graph* graph_;
  const RunOptions* options_ = nullptr;
  BudgetWatch* watch_ = nullptr;  ///< watches the budget of the run
  BatchRunner batches_;           ///< before the frames, which refer to its blocks
  std::vector<FramePool> pools_;  ///< by function
  ReadyStack ready_;
  std::vector<Frame*> batch_;      ///< the batch that runs
  std::vector<Waiting> waiting_;   ///< by region: frames in which it is ready
  std::vector<uint32_t> batched_;  ///< regions that run in batches, by priority
  CompleteGradients complete_;
  bool tells_gradients_ = false;                  ///< somebody wants to know which are complete
  std::vector<Cell> made_;                        ///< results of the steps of a scalar region
  std::unique_ptr<direct::DirectCaller> direct_;  ///< there where the plan has direct code
  /// The arguments of the direct call that is under way, or that failed.
  std::vector<std::pair<SlotKind, Cell>> direct_arguments_;
  std::vector<Slot> direct_slots_;
  std::vector<Slot> direct_results_;
  std::vector<Slot> fields_;  ///< the fields of the data value that is made
  ExampleRange examples_;
  std::vector<Example> started_;  ///< examples that have begun, in their order
  // What an open run needs besides.
  Frame* open_root_ = nullptr;  ///< the frame of the program; null: it has not begun
  std::size_t phases_fed_ = 0;
  uint64_t resting_frames_ = 0;  ///< held since it ran last
  uint64_t resting_bytes_ = 0;
  uint64_t full_wave_ = 0;  ///< so many frames fill the wave that starts; 0: none starts
  uint64_t calls_ = 0;
  uint64_t frames_ = 0;
  uint64_t most_frames_ = 0;
  uint64_t most_bytes_ = 0;
  uint64_t steals_ = 0;
  std::vector<uint64_t> firings_;
  std::vector<uint64_t> launches_;

  Team* team_ = nullptr;  ///< null: nobody gets calls, nobody gives any
  uint32_t number_ = 0;
  uint32_t fires_to_exchange_ = 1;
  bool gives_every_call_ = false;
  ProcessCalls* processes_ = nullptr;    ///< null: this process is the only one
  std::vector<ReadyBytes> weighed_;      ///< what half_of_ready() has found last
  bool exchanges_ = false;               ///< messages come
  std::vector<uint32_t> under_way_;      ///< by function: calls that this process has sent to it
  std::vector<std::size_t> turns_;       ///< by function with copies: the one that is next
  std::deque<RemoteCall> remote_calls_;  ///< by slot of their return names
  std::vector<uint32_t> free_remote_calls_;
  std::unordered_map<uint64_t, RemoteCaller*> callers_;  ///< by return name: of calls with several phases
  std::vector<std::unique_ptr<RemoteCaller>> all_callers_;
  std::vector<RemoteCaller*> free_callers_;
  std::vector<Message> early_;  ///< phases of calls that have come before the first one
  struct Sent {
    uint32_t to;
    Message message;
  };
  std::vector<Sent> outbox_;
  std::vector<const Message*> together_;  ///< messages of the outbox that leave as one

  struct Kinds {
    Trace::KindId part;
    Trace::KindId items;
    std::vector<Trace::KindId> batch;  ///< by region
    std::vector<Trace::KindId> gift;   ///< by function
  };
  Trace::Track* track_ = nullptr;  ///< null: the run is not drawn
  Kinds kinds_{};
};

}  // namespace hiaton::exec::flow
