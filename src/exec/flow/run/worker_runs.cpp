// How a worker begins a run, and how it ends. An open run rests between its phases: the frames stay where
// they are, that of the program waits for its next phase, and with it all that wait for what that brings.
#include <algorithm>
#include <optional>
#include <utility>

#include "exec/fault.h"
#include "exec/flow/run/flow_worker.h"
#include "exec/run_watch.h"

namespace hiaton::exec::flow {

void Worker::run(const graph::Graph& graph, const ExampleRange& examples, const RunOptions& options,
                 const PackedParameters& packed, Budget& use, Gradients* gradients, Trace::Track* track,
                 Membership membership) {
  begin(graph, examples, options, packed, gradients);
  tells_gradients_ = membership.is_whole_run && gradients != nullptr && options.on_gradient;
  if (track != nullptr) begin_trace(track, "argument lists", examples.size());
  use.begin_with(resting_bytes_);
  run_until_rest(use, std::move(membership), {});
  if (track_ != nullptr) track_->count(0, 0);
  for (const Example& example : started_) {
    if (example.results_to_come > 0) throw no_result_error(graph, graph.outputs()[0], false, {});
  }
}

void Worker::begin(const graph::Graph& graph, const ExampleRange& examples, const RunOptions& options,
                   const PackedParameters& packed, Gradients* gradients) {
  clear();
  graph_ = &graph;
  options_ = &options;
  resting_bytes_ = held_bytes();
  batches_.begin(graph, options, packed, gradients);
  if (direct_ != nullptr) direct_->begin(graph, options);
  tells_gradients_ = false;
  complete_.begin();
  examples_ = examples;
  started_.reserve(examples.size());
}

/// Until nothing can fire: all that is left may wait for a phase.
void Worker::run_until_rest(Budget& use, Membership membership, std::span<const std::vector<Value>> phases) {
  team_ = membership.team;
  processes_ = membership.processes;
  exchanges_ = team_ != nullptr || processes_ != nullptr;
  number_ = membership.number;
  gives_every_call_ = (team_ != nullptr && team_->shares_every_call()) ||
                      (processes_ != nullptr && processes_->shares_every_call());
  BudgetWatch watch(*options_, use, resting_bytes_, membership.start);
  watch_ = &watch;
  std::optional<direct::DirectCaller::Within> within;
  std::optional<RunWatch> direct_watch;
  if (direct_ != nullptr) {
    within.emplace(*direct_, use);
    if (RunWatch::is_needed(*options_))
      direct_watch.emplace(*options_, membership.start, [this](Fault fault) { direct_->stop(fault); });
  }
  for (const std::vector<Value>& arguments : phases) feed(arguments);
  if (!membership.mail.empty()) deliver(membership.mail);
  drain();
  if (team_ != nullptr && team_->are_parts_taken()) work_for_others();
  if (processes_ != nullptr) work_for_processes();
  batches_.finish();
  most_bytes_ = std::max(most_bytes_, watch.bytes());
  resting_frames_ = frames_;
  resting_bytes_ = watch.bytes();
  if (track_ != nullptr) end_trace();
}

/// What a run before left: everything after an error, frames that wait for a phase that never came.
void Worker::clear() {
  track_ = nullptr;
  for (FramePool& pool : pools_) pool.clear();
  ready_.clear();
  weighed_.clear();
  for (Waiting& waiting : waiting_) waiting.clear();
  started_.clear();
  release_direct_arguments();
  forget_others();
  open_root_ = nullptr;
  phases_fed_ = 0;
  full_wave_ = resting_frames_ = 0;
  calls_ = frames_ = most_frames_ = most_bytes_ = steals_ = 0;
  firings_.assign(firings_.size(), 0);
  launches_.assign(launches_.size(), 0);
}

Frame* Worker::make_root(uint32_t root) {
  const auto main = static_cast<uint32_t>(graph_->main().index());
  Frame* frame = pools_[main].make();
  frame->parent = nullptr;
  frame->function = main;
  frame->site = frame->label = 0;
  frame->root = root;
  ++frames_;
  return frame;
}

/// Arguments of the program, from the number `first` on.
void Worker::store_arguments(Frame* frame, std::size_t first, std::span<const Value> arguments) {
  const Function& program = function(frame);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    layout(frame).store(frame, program.params[first + i], cell_of(arguments[i]));
  }
}

void Worker::start(uint32_t root) {
  const std::size_t result_count = graph_->outputs().size();
  started_.push_back(
      {examples_.all->arguments(examples_.begin + root), std::vector<Value>(result_count), result_count});
  Frame* frame = make_root(root);
  store_arguments(frame, 0, started_.back().arguments);
  become_ready(frame, function(frame).items[function(frame).param_items[0]]);
}

// Open runs -------------------------------------------------------------------------------------------------

void Worker::open(const graph::Graph& graph, const RunOptions& options, const PackedParameters& packed,
                  Gradients* gradients) {
  begin(graph, {}, options, packed, gradients);
}

void Worker::go_on(Budget& use, Membership membership, std::span<const std::vector<Value>> phases,
                   Trace::Track* track) {
  use.add_frames(-resting_frames_);
  use.add_bytes(-resting_bytes_);
  if (track != nullptr) begin_trace(track, "phases", phases.size());
  run_until_rest(use, std::move(membership), phases);
  track_ = nullptr;
  use.add_frames(resting_frames_);
  use.add_bytes(resting_bytes_);
}

void Worker::tell_resting(Budget& use) const {
  use.begin_with(resting_bytes_);
  use.add_frames(resting_frames_);
  use.add_bytes(resting_bytes_);
}

void Worker::feed(std::span<const Value> arguments) {
  const auto main = static_cast<uint32_t>(graph_->main().index());
  const Function& program = plan_.functions[main];
  if (open_root_ == nullptr) {
    const std::size_t results = graph_->outputs().size();
    started_.push_back({{}, std::vector<Value>(results), results});
    open_root_ = make_root(0);
  }
  std::vector<Value>& all = started_.back().arguments;
  const std::size_t first = all.size();
  all.insert(all.end(), arguments.begin(), arguments.end());
  store_arguments(open_root_, first, arguments);
  const std::size_t phase = phases_fed_++;
  Frame* const frame = open_root_;
  become_ready(frame, program.items[program.param_items[phase]]);
  if (phase == 0) return;
  --frame->unfinished;
  if (is_over(frame)) free(frame);
}

}  // namespace hiaton::exec::flow
