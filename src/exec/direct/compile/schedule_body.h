// Schedules the body of one function, in one of its forms, or that of an outlined task. One class, by subject
// in the files named below.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "exec/direct/compile/schedule.h"
#include "exec/direct/compile/statements.h"

namespace hiaton::exec::direct {

/// What the bodies of one schedule share while they are made.
struct ScheduleContext {
  const graph::Graph& graph;
  const Structure& structure;
  const Lifetimes& lifetimes;
  const Ownership& ownership;
  const PlanOptions& options;
  Schedule& schedule;
  std::vector<graph::FunctionId> hole_forms{};  ///< functions whose hole forms are called
};

class BodyScheduler {
  using NodeId = graph::NodeId;
  using OutPort = graph::OutPort;
  using CallSite = graph::CallSite;

 public:
  BodyScheduler(ScheduleContext& context, graph::FunctionId function, bool forking, bool to_hole)
      : context_(context),
        graph_(context.graph),
        structure_(context.structure),
        ownership_(context.ownership),
        function_(function),
        forking_(forking),
        to_hole_(to_hole) {}

  Statements run();
  void run_task(ScheduledTask& task);

 private:
  // Who holds what (schedule_values.cpp)
  //
  // `held_` says which counted values the frame knows, and whether it holds a reference of its own, and
  // `pending_` how many items will still read each on every way from here. A field is borrowed from the value
  // that it is a field of, until that one goes.
  struct Held {
    bool owned;
    NodeId parent;  ///< the value that a borrowed one is a field of; none for parameters
  };
  using HeldValues = std::map<NodeId, Held>;
  using PendingReads = std::unordered_map<NodeId, uint32_t>;
  void begin_params();
  bool is_data(NodeId value) const { return ownership_.is_data(value); }
  bool is_data(OutPort port) const { return ownership_.is_data(port); }
  void expect(std::span<const Item> items);
  void expect(std::span<const OutPort> ports);
  void expect(NodeId value) { ++pending_[value]; }
  void met(const Item& item);
  void met(std::span<const OutPort> ports);
  void met(NodeId value);
  void hold(NodeId value, bool owned, NodeId parent = {});
  /// The field that was borrowed from a value that goes is the frame's own from here on.
  void take_over(NodeId field);
  bool is_live(NodeId value) const;
  std::vector<NodeId> live_fields_of(NodeId value) const;
  /// Hands on the values of these outputs, each as often as it stands there. `borrowed`: values that are
  /// still read by what takes them.
  Handover hand_on(std::span<const OutPort> ports, const std::set<NodeId>& borrowed = {});
  /// Lets go of the values that nothing reads any more.
  std::vector<Drop> dead_values();
  void drop(NodeId value, std::vector<Drop>& drops);
  void append_drops();
  /// Hands on the values where something ends, and lets go of what is left behind.
  Leave leave_with(std::span<const OutPort> ports);
  /// Values that may be dead on the side of a branch that begins here.
  void note_reads(const Item& item);
  /// The values that the calls and tasks of a group read without taking them over, and what those are fields
  /// of.
  std::set<NodeId> borrowed_by(std::span<const Item> items) const;
  std::vector<OutPort> handed_to(CallSite site) const;
  void hold_results(CallSite site);

  // Items, operations and the ends of a body (schedule_body.cpp)
  template <class What>
  void append(What what) {
    statements_.add({std::move(what)});
  }
  /// What `schedule` appends, as a list of its own.
  template <class Schedule>
  Statements list_of(Schedule schedule) {
    Statements around = std::exchange(statements_, {});
    schedule();
    return std::exchange(statements_, std::move(around));
  }
  void count(BlockId block);
  void define(NodeId value) { defined_.insert(value); }
  void schedule_block(BlockId block);
  void schedule_list(std::span<const Item> items);
  /// The same where what the items read is expected already.
  void schedule_expected(std::span<const Item> items);
  /// Schedules the item at `i`, and what stands together with it; gives the index of the next one.
  std::size_t schedule_items(std::span<const Item> items, std::size_t i);
  /// A block at whose end the body ends so.
  void schedule_tail(BlockId block, const Ending& ending);
  void schedule_constructor_tail(std::span<const Item> items, const Ending& ending);
  /// `rest`: the items behind it in its block.
  void schedule_op(NodeId id, std::span<const Item> rest);
  void schedule_tensor_op(NodeId id);
  void schedule_data_op(NodeId id, std::span<const Item> rest);
  void schedule_fields(NodeId id, std::span<const Item> rest);
  void schedule_calls(std::span<const Item> items, uint64_t group);
  ScheduledCall call_of(CallSite site) const;
  bool is_sent(CallSite site) const { return context_.options.is_sent(graph_, site); }
  /// Whether a task has done it already.
  bool is_done(const Item& item) const {
    return task_before_ != nullptr && task_before_->done.contains(item);
  }

  // Conditionals and loops (schedule_control.cpp)
  bool is_in_branch(NodeId id) const;
  bool is_in_call(NodeId id) const {
    return context_.schedule.placements.in_call.contains(id) && !exported_.contains(id);
  }
  /// Whether branches test the value whose variant it is: see Placements.
  bool is_only_tested(NodeId variant) const;
  std::optional<Ownership::VariantTest> tested_in_branch(OutPort predicate) const;
  Condition condition_of(OutPort predicate) const;
  std::optional<Ownership::VariantTest> test_of_match(uint32_t conditional) const;
  std::optional<uint32_t> next_test(uint32_t conditional) const;
  std::size_t count_tests(uint32_t conditional) const;
  int first_side(const Condition& condition) const;
  void schedule_conditional(const Item& item);
  bool side_has_code(const Item& item, int side) const;
  void schedule_side(const Item& item, int side, statements::If::Side& to);
  void schedule_tail_conditional(const Item& item, const Ending& ending);
  bool only_returns(const Condition& condition, BlockId block, const Ending& ending) const;
  void schedule_loop(graph::LoopId id);
  void schedule_condition(const LoopShape& loop);
  void schedule_loop_body(const LoopShape& loop, statements::Loop& to);
  void expect_variables(const LoopShape& loop);
  void meet_variables(const LoopShape& loop);
  PendingReads set_reads_behind_aside(const LoopShape& loop);

  // Windows, tasks and forks (schedule_parallel.cpp)
  std::unique_ptr<statements::WindowOfLoop> schedule_window(graph::LoopId id);
  /// Whether what the task of the window captures is computed before.
  bool can_capture(graph::LoopId id, const Window& window) const;
  /// Gives the counted values that stay until the calls have returned.
  std::vector<NodeId> schedule_ahead(const LoopShape& loop, const Window& window,
                                     statements::WindowOfLoop& to);
  void schedule_rest(const LoopShape& loop, const Window& window, const std::vector<NodeId>& read_by_calls,
                     statements::WindowOfLoop& to);
  bool is_of_iteration(const LoopShape& loop, NodeId value) const;
  void schedule_task_items(const std::vector<TaskItem>& items);
  void schedule_split(const TaskItem& item);
  /// Whether some of the items, which do not need each other, are to be made free to be stolen as tasks.
  bool forks(std::span<const Item> items) const;
  void schedule_fork(std::span<const Item> items);
  std::vector<statements::Fork::Worth> worth_of(std::span<const Item> items) const;
  ScheduledCall call_of_task(std::size_t task) const;
  /// Adds the task of a conditional or a loop; gives its place in Schedule::tasks.
  std::size_t add_task(const Item& item);

  ScheduleContext& context_;
  const graph::Graph& graph_;
  const Structure& structure_;
  const Ownership& ownership_;
  const graph::FunctionId function_;
  const bool forking_;
  const bool to_hole_;
  bool in_window_ = false;                     ///< windows do not nest in one frame
  bool in_task_ = false;                       ///< the body is that of a task
  bool no_room_ = false;                       ///< what follows runs where there is no room for a fork
  uint32_t fork_depth_ = 0;                    ///< forks of branches and loops, in tasks too, that are around
  const OutlinedTask* task_before_ = nullptr;  ///< whose results the items that are being scheduled read
  Statements statements_;                      ///< where statements are appended
  HeldValues held_;
  PendingReads pending_;
  std::vector<NodeId> dying_;            ///< values that may have been read for the last time
  std::unordered_set<uint64_t> early_;   ///< items that were scheduled together with an earlier one
  std::unordered_set<NodeId> defined_;   ///< values that have been computed for themselves
  std::unordered_set<NodeId> exported_;  ///< values that a task or what follows it needs for themselves
  std::unordered_set<NodeId> returned_;  ///< operations that a return computes
  BlockId block_{};                      ///< whose sides are known; invalid where none is
};

/// Adds the bodies of all functions, and their tasks. Throws Unplannable.
void schedule_bodies(ScheduleContext& context);

}  // namespace hiaton::exec::direct
