// Runs programs by items and batches: one thread, any number of argument lists at once.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "exec/budget.h"
#include "exec/flow/batch.h"
#include "exec/flow/frame.h"
#include "exec/flow/plan.h"
#include "exec/flow/waiting.h"
#include "hiaton/run.h"
#include "hiaton/trace.h"

namespace hiaton::exec::flow {

/// Some of the examples of a run, which stand one behind the other.
struct ExampleRange {
  Examples* all = nullptr;
  std::size_t begin = 0;
  std::size_t end = 0;

  std::size_t size() const { return end - begin; }
};

/// The rule: what can fire without a batch fires at once, innermost first; when nothing can, the ready batch
/// of lowest rank runs, among several the one that most frames have come to since it ran.
class Worker {
 public:
  Worker(const graph::Graph& graph, std::shared_ptr<const Plan> plan);

  /// Runs the program for each example; may be called again, also after an error. `graph` is the one of the
  /// plan; `packed` are the parameters of the options; `track`, where the run is drawn, may be null. Throws
  /// RunError.
  void run(const graph::Graph& graph, const ExampleRange& examples, const RunOptions& options,
           const PackedParameters& packed, SharedUse& use, Gradients* gradients, Trace::Track* track);
  /// What it keeps from run to run.
  uint64_t held_bytes() const;
  /// What the last run did.
  void add_to(RunStats& stats) const;

 private:
  struct Ready {
    Frame* frame;
    const Item* item;
  };
  /// An example that is under way.
  struct Example {
    std::vector<Value> arguments;  ///< until nothing of it can fire any more
    std::vector<Value> results;    ///< until they are taken
    std::size_t results_to_come;
  };

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
  /// Without a reference of its own.
  Cell borrow(const Frame* frame, const Source& source) const;
  /// Of a scalar or a data value, likewise.
  Slot borrow_slot(const Frame* frame, const Source& source) const {
    if (source.from == Source::From::Step) return made_[source.index].slot;
    if (source.from != Source::From::Slot) return borrow(frame, source).slot;
    return layout(frame).load_slot(frame, source.index);
  }
  Value fetch_operand(const Frame* frame, const Step& step, std::size_t index) const;
  const Item* decide(Frame* frame, const Branch& branch);
  void call(Frame* frame, const Call& call);
  void join(Frame* frame, const Join& join);
  void give_back(Frame* frame, const Return& result);
  void give_results(Frame* frame, const Return& result);

  void begin_trace(Trace::Track* track);
  void end_trace();
  void begin_items();
  void end_items();
  void begin_launch(std::size_t region, std::size_t firings);
  void end_launch();
  void sample();
  uint64_t queue_bytes() const;
  uint64_t scalar_firings() const;

  const Region* choose() const;
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
    if (watch_->is_time_to_poll() || frames_ > options_->max_frames) look(frame);
  }
  void look(Frame* frame);
  [[noreturn]] void end(Frame* frame, Fault budget) const;

  const Function& function(const Frame* frame) const { return plan_.functions[frame->function]; }
  const FrameLayout& layout(const Frame* frame) const { return pools_[frame->function].layout(); }
  Cell fetch(Frame* frame, const Source& source) const;

  void clear();

  const std::shared_ptr<const Plan> shared_plan_;
  const Plan& plan_;
  const graph::Graph* graph_;
  const RunOptions* options_ = nullptr;
  BudgetWatch* watch_ = nullptr;  ///< of the run
  BatchRunner batches_;           ///< before the frames, which refer to its slabs
  std::vector<FramePool> pools_;  ///< by function
  std::vector<Ready> ready_;
  std::vector<Frame*> batch_;      ///< that runs
  std::vector<Waiting> waiting_;   ///< by region: frames in which it is ready
  std::vector<uint32_t> batched_;  ///< regions that run in batches, by rank
  std::vector<Cell> made_;         ///< results of the steps of a scalar region
  std::vector<Value> fields_;      ///< of the data value that is made
  ExampleRange examples_;
  std::vector<Example> started_;  ///< of them, in their order
  uint64_t full_wave_ = 0;        ///< so many frames fill the wave that starts; 0: none starts
  uint64_t calls_ = 0;
  uint64_t frames_ = 0;
  uint64_t most_frames_ = 0;
  uint64_t most_bytes_ = 0;
  std::vector<uint64_t> firings_;
  std::vector<uint64_t> launches_;

  struct Kinds {
    Trace::KindId part;
    Trace::KindId items;
    std::vector<Trace::KindId> batch;  ///< by region
  };
  Trace::Track* track_ = nullptr;  ///< null: the run is not drawn
  Kinds kinds_{};
};

}  // namespace hiaton::exec::flow
