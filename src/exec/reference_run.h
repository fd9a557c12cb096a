// A run by the rules at the top of hiaton/graph.h: of a whole graph, or of the part of one process.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "exec/budget.h"
#include "exec/fault.h"
#include "exec/reference_tables.h"
#include "exec/tag.h"
#include "hiaton/error.h"
#include "hiaton/graph.h"
#include "hiaton/run.h"
#include "hiaton/value.h"

namespace hiaton::exec {

/// What all runs that belong together use of the budgets.
class ReferenceBudget {
 public:
  explicit ReferenceBudget(const RunOptions& options) : options_(options) { resume(); }

  /// Between pause() and resume() nothing runs; another thread may go on then.
  void pause() {
    take_note();
    watch_.reset();
  }
  void resume() {
    start_ = Clock::now() - spent_;
    use_.emplace(options_);
    use_->begin_with(held_);
    watch_.emplace(options_, *use_, held_, start_);
  }

  /// What one of the runs has told of.
  struct Share {
    uint64_t frames = 0;
    uint64_t bytes = 0;
  };
  Fault use(Share& share, uint64_t frames, uint64_t bytes) {
    frames_ += frames - std::exchange(share.frames, frames);
    bytes_ += bytes - std::exchange(share.bytes, bytes);
    return watch_->use(frames_, bytes_);
  }
  /// Returns the statistics of a run that has ended.
  RunStats stats(uint64_t calls, uint64_t frames_made, uint64_t frames_alive) {
    RunStats stats;
    if (watch_) take_note();
    stats.calls = calls;
    stats.frames_allocated = frames_made;
    stats.frames_live_most = most_frames_;
    stats.frames_live_at_end = frames_alive;
    stats.bytes = most_bytes_;
    stats.seconds = std::chrono::duration<double>(spent_).count();
    return stats;
  }
  BudgetWatch& watch() { return *watch_; }
  const BudgetWatch& watch() const { return *watch_; }

 private:
  using Clock = BudgetWatch::Clock;

  void take_note() {
    held_ = watch_->bytes();
    most_frames_ = std::max(most_frames_, watch_->most_frames());
    most_bytes_ = std::max(most_bytes_, watch_->most_bytes());
    spent_ = Clock::now() - start_;
  }

  const RunOptions& options_;
  std::optional<Budget> use_;
  std::optional<BudgetWatch> watch_;  ///< none: it pauses
  uint64_t held_ = 0;                 ///< bytes, while it pauses
  uint64_t most_frames_ = 0;
  uint64_t most_bytes_ = 0;
  Clock::time_point start_{};
  Clock::duration spent_{};  ///< while it did not pause
  uint64_t frames_ = 0;
  uint64_t bytes_ = 0;
};

class ReferenceRun {
 public:
  /// `arguments` are those of the program, as the graph takes them.
  ReferenceRun(const graph::Graph& graph, std::span<const Value> arguments, const RunOptions& options,
               ReferenceBudget& budget);
  ReferenceRun(const ReferenceRun&) = delete;
  virtual ~ReferenceRun() = default;

  /// The arguments, and what fires by itself.
  void start();
  /// What fires by itself.
  void start_constants();
  /// The argument for this parameter has come.
  void feed(std::size_t parameter);
  bool has_tokens() const { return !tokens_.empty(); }
  /// Delivers the oldest token. Throws RunError.
  void step();
  /// While there are no tokens, but others may come. Throws RunError where the run is to end.
  void require_time() { require(budget_.watch().poll(), Tag()); }
  /// Once there are no tokens. Throws RunError where one of the first `count` results has not come.
  std::vector<Value> take_results(std::size_t count);
  std::vector<Value> take_results() { return take_results(results_.size()); }
  virtual std::vector<WaitingNode> waiting() const;
  /// Lets go of everything and counts what was used; the budget knows memory and time.
  virtual RunStats finish();

 protected:
  /// Send: the token goes to another process.
  virtual void send(graph::NodeId id, const Tag& tag, const Value& value, bool dead);
  /// Recv: the token of its control edge has come. Once the message is there too, emit() lets it go on.
  virtual void receive(graph::NodeId id, const Tag& tag, bool dead);
  /// A label of a tag with the numbers of the graph that this one is a part of.
  virtual TagLabel in_whole_graph(const TagLabel& here) const { return here; }
  /// Whether the call is counted in another process.
  virtual bool is_copy(graph::CallSite /*site*/) const { return false; }
  /// Which error it is that an operation refused its operands, or that a budget is used up.
  virtual RunError refusal(graph::NodeId id, const Tag& tag, std::span<const Value> operands,
                           Fault fault) const;
  virtual RunError over_budget(const Tag& tag, Fault fault) const;

  void emit(graph::OutPort from, const Tag& tag, const Value& value, bool dead);
  const graph::Graph& graph() const { return graph_; }
  const RunOptions& options() const { return options_; }
  TagTable& tags() { return tags_; }

 private:
  void deliver_next();
  void deliver(const Token& token);
  void arrive(graph::NodeId id, std::optional<uint32_t> input, const Token& token);
  void emit_live(graph::NodeId node, const Tag& tag, const Value& value) { emit({node}, tag, value, false); }
  void emit_dead(graph::NodeId node, const Tag& tag) { emit({node}, tag, Value(), true); }

  void match(graph::NodeId id, std::optional<uint32_t> input, const Token& token);
  Match new_match(graph::NodeId id, const Tag& tag) const;
  void fire(graph::NodeId id, const Tag& tag, std::span<const Value> operands, bool dead);
  void fire_op(graph::NodeId id, const Tag& tag, std::span<const Value> operands, bool dead);
  void fire_switch(graph::NodeId id, const Tag& tag, std::span<const Value> operands, bool dead);
  void fire_merge(graph::NodeId id, const Token& token);
  void fire_call(graph::NodeId id, const Tag& tag, const Value& value, bool dead);
  void fire_return(graph::NodeId id, const Token& token);
  void fire_enter(graph::NodeId id, const Tag& tag, const Value& value, bool dead);
  void fire_next_iteration(graph::NodeId id, const Tag& tag, const Value& value, bool dead);
  void fire_exit(graph::NodeId id, const Tag& tag, const Value& value, bool dead);
  void fire_output(graph::NodeId id, const Tag& tag, const Value& value, bool dead);

  Call& call_under_way(graph::CallSite site, const Tag& tag);
  void finish_call(graph::CallSite site, const Tag& tag, const Call& call);
  LoopRun& loop_under_way(graph::LoopId loop, const Tag& tag);
  void make_iteration(graph::LoopId loop, LoopRun& run);
  Tag iteration_tag(graph::LoopId loop, LoopRun& run, uint64_t iteration);
  void finish_loop(graph::LoopId loop, const TagCell* tag);
  void finish_loops();

  /// What calls take turns by: see graph/turns.h.
  uint64_t number_of(const Tag& tag) const;
  Tag make_tag(const Tag& outer, const TagLabel& label, bool* made);
  void require(Fault fault, const Tag& tag);
  uint64_t bytes() const;

  const graph::Graph& graph_;
  std::span<const Value> arguments_;
  const RunOptions& options_;
  ReferenceBudget& budget_;
  ReferenceBudget::Share share_;
  std::vector<std::size_t> inputs_to_match_;  ///< by node: inputs that are not Const under every tag

  TagTable tags_;
  std::deque<Token> tokens_;
  TableUnder<graph::NodeId, Match> matches_;
  TableUnder<graph::CallSite, Call> calls_;
  TableUnder<graph::LoopId, LoopRun> loops_;

  struct Result {
    std::optional<Value> value;
    bool dead = false;
  };
  std::vector<Result> results_;
  uint64_t call_count_ = 0;
};

}  // namespace hiaton::exec
