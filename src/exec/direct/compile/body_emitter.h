// Emits the body of one function, in one of its forms. One class, by subject in the files named below.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "exec/direct/compile/emit.h"
#include "exec/direct/compile/scalar_kernels.h"
#include "exec/direct/compile/slots.h"
#include "exec/direct/compile/window.h"

namespace hiaton::exec::direct {

class BodyEmitter {
  using NodeId = graph::NodeId;
  using CallSite = graph::CallSite;

 public:
  BodyEmitter(EmitContext& context, graph::FunctionId function, bool forking, bool to_hole,
              SequentialForm& sequential)
      : context_(context),
        graph_(context.graph),
        structure_(context.structure),
        plan_(context.plan),
        function_(function),
        forking_(forking),
        to_hole_(to_hole),
        sequential_(sequential),
        next_kept_slot_(sequential.slots),
        kept_slots_(sequential.slots) {}

  void run();
  /// The body of a task, where this function's stands.
  void run_task(TaskBody& body);

 private:
  static constexpr uint32_t kNoSlot = UINT32_MAX;

  struct Operand {
    bool is_constant = false;
    Slot constant;
    uint32_t slot = kNoSlot;
  };
  struct Move {
    uint32_t to;
    Operand from;
  };
  using SlotMap = std::unordered_map<graph::NodeId, uint32_t>;

  // Code
  uint32_t here() const { return static_cast<uint32_t>(plan_.code.size()); }
  uint32_t emit(Opcode opcode, graph::NodeId node = {});
  Instruction& at(uint32_t index) { return plan_.code[index]; }
  uint16_t narrow(uint32_t slot) const;
  /// Where a jump at `from`, and those that go with it, go on.
  void set_jump(uint32_t from, uint32_t to);
  void emit_move(uint32_t to, const Operand& from);
  /// All at once: a slot is overwritten only when nobody needs its old value.
  void emit_moves(std::vector<Move> moves);
  void count_region(BlockId block);
  /// Jumps of the body to a return become that return.
  void return_instead_of_jumping(uint32_t begin);
  /// Instructions of the body that do the work of the one behind them too.
  void fuse_instructions(uint32_t begin);

  // Data values and tensors (emit_data.cpp, emit_data_operations.cpp)
  //
  // At each point of the code, `held_` says which data values stand in slots, and whether the frame holds a
  // reference of its own, and `pending_` how many items will still read each on every way from there. A field
  // is borrowed from the value that it is a field of, until that one goes.
  struct Held {
    bool owned;
    NodeId parent;   ///< of what is borrowed: the value that it is a field of; none for parameters
    uint32_t depth;  ///< how many branches around its definition are being emitted
  };
  using HeldValues = std::map<NodeId, Held>;
  using PendingReads = std::unordered_map<NodeId, uint32_t>;
  /// What handing values on takes: instructions before, and slots that are free after.
  struct Handover {
    std::vector<NodeId> retained;
    std::vector<std::pair<NodeId, Held>> moved;
  };
  void begin_params();
  uint64_t params_held() const;
  bool is_data(NodeId value) const { return context_.ownership.is_data(value); }
  bool is_data(graph::OutPort port) const { return context_.ownership.is_data(port); }
  void expect(std::span<const Item> items);
  void expect(std::span<const graph::OutPort> ports);
  void expect(NodeId value) { ++pending_[value]; }
  void met(const Item& item);
  void met(std::span<const graph::OutPort> ports);
  void met(NodeId value);
  void hold(NodeId value, bool owned, NodeId parent = {});
  /// The field that was borrowed from a value that goes is the frame's own from here on.
  void take_over(NodeId field);
  void hold_results(CallSite site);
  bool is_live(NodeId value) const;
  std::vector<NodeId> live_fields_of(NodeId value) const;
  /// Hands on the values of these outputs, each as often as it stands there. `borrowed`: values that are
  /// still read by what takes them.
  Handover hand_on(std::span<const graph::OutPort> ports, const std::set<NodeId>& borrowed = {});
  void emit_retains(const Handover& handover);
  void free_moved(const Handover& handover);
  void hand_on_now(std::span<const graph::OutPort> ports);
  /// Lets go of the values that nothing reads any more.
  void drop_dead();
  void drop(NodeId value);
  void free_slot(NodeId value, const Held& held);
  /// Values that may be dead on the side of a branch that begins here.
  void note_reads(const Item& item);
  void open_branch();
  void close_branch();
  /// The values that the calls and tasks of a group read without taking them over, and what those are fields
  /// of.
  std::set<NodeId> borrowed_by(std::span<const Item> items) const;
  std::vector<graph::OutPort> handed_to(CallSite site) const;

  // Tail calls modulo constructor (emit_constructor.cpp)
  void emit_constructor_tail(std::span<const Item> items, const Ending& tail);

  bool emit_data_op(NodeId id, std::span<const Item> rest);
  void emit_make(NodeId id);
  /// A field of a new value: a slot, or a constant that fits into the instruction.
  struct MadeField {
    uint16_t slot;
    std::optional<int32_t> constant{};
  };
  /// At most one of the fields stays a constant.
  std::vector<MadeField> fields_in_slots(NodeId id, std::vector<uint32_t>& temporaries);
  void emit_make_of(NodeId id, const std::vector<MadeField>& fields, uint32_t to);
  bool fuse_return_of_make(uint32_t slot);
  void emit_fields(NodeId id, std::span<const Item> rest);
  uint32_t emit_match(uint32_t slot, std::size_t fields);
  void emit_field(uint32_t to, uint32_t slot, uint32_t field);
  bool join_fields(uint32_t to, uint32_t slot, uint32_t field);
  bool other_side_first(graph::OutPort predicate) const;
  void emit_take(NodeId value, uint32_t variant, const std::vector<std::pair<uint32_t, uint32_t>>& slots);
  void emit_copy(NodeId id);
  void emit_print(NodeId id);
  void emit_settle(NodeId id);
  bool emit_string_read(NodeId id);
  void emit_variant(NodeId id);
  /// Whether branches test the value whose variant it is: see Placements.
  bool is_only_tested(NodeId variant) const;
  /// A jump that is taken where the value is not of the variant.
  uint32_t emit_variant_branch(const Ownership::VariantTest& test);
  std::optional<Ownership::VariantTest> tested_in_branch(graph::OutPort predicate) const;

  // Tensors (emit_tensors.cpp)
  void begin_parameters();
  bool is_parameter(NodeId value) const {
    return graph_[value].kind == graph::NodeKind::Const && graph_[value].parameter >= 0;
  }
  /// Whether the operation is one instruction on tensors, or on scalars that only its tensor kernel takes.
  bool is_tensor_op(NodeId id) const;
  void emit_tensor_op(NodeId id);
  void emit_retain(const Type& type, uint32_t slot);
  void emit_release(const Type& type, uint32_t slot);

  // Matches of several variants (emit_match.cpp)
  /// As emit_branch, to the side that is not `first`.
  uint32_t emit_side_branch(const Conditional& conditional, int first);
  std::optional<Ownership::VariantTest> test_of_match(const Conditional& conditional) const;
  const Conditional* next_test(const Conditional& conditional) const;
  uint32_t emit_match_jump(const Conditional& conditional, const Ownership::VariantTest& test);
  std::optional<uint32_t> go_on_with_match(const Conditional& conditional,
                                           const Ownership::VariantTest& test);
  /// Where a match goes on with the variants that no test has named so far.
  void set_other_variants(uint32_t match, uint32_t to);
  void finish_matches();

  // Values and slots (emit_values.cpp)
  uint32_t take_slot();
  uint32_t take_slots(uint32_t count);
  void define(graph::NodeId value, uint32_t slot);
  uint32_t reads_left(graph::NodeId value);
  /// One read less; how many there still are.
  uint32_t take_read(graph::NodeId value) {
    reads_left(value);
    return --reads_left_[value];
  }
  uint32_t body_reads_left(graph::NodeId variable);
  Operand operand(graph::OutPort port);
  /// The operand in a slot; a constant is put into one, which `temporaries` then holds.
  uint16_t in_slot(const Operand& from, std::vector<uint32_t>& temporaries);
  void give_back(std::vector<uint32_t>& temporaries);
  /// One read of the value is done.
  void release(graph::OutPort port);
  void release_value(graph::NodeId value);
  void give_back_slot(graph::NodeId value);
  bool is_param(graph::NodeId value) const;
  /// The slot for the result of an operation: that of the Merge or loop variable it is for, where that is
  /// safe, else a new one. To be called after the operands are released.
  uint32_t result_slot(graph::NodeId value);
  void give_back_if_unread(graph::NodeId value);

  // Blocks and returns (emit_blocks.cpp)
  /// A block whose values are read by what follows it.
  void emit_block(BlockId block);
  /// A block at whose end the function ends so.
  void emit_tail(BlockId block, const Ending& ending);
  void emit_list(std::span<const Item> items);
  /// The same where what the items read is expected already.
  void emit_expected(std::span<const Item> items);
  /// Emits the item at `i`, and what stands together with it; gives the index of the next one.
  std::size_t emit_items(std::span<const Item> items, std::size_t i);
  void emit_return(const std::vector<graph::OutPort>& results);
  void emit_returned_operation(graph::NodeId value);
  bool fuse_sum(const Operand& a, const Operand& b, Opcode returning);

  // Operations and branches (emit_operations.cpp)
  bool has_kernel(const graph::Node& node) const { return direct::has_kernel(graph_, structure_, node); }
  Kernel kernel_of(const graph::Node& node) const {
    return direct::kernel_of(graph_, structure_, node, context_.options.overflow);
  }
  /// `rest`: the items behind it in its block.
  void emit_op(graph::NodeId id, std::span<const Item> rest);
  /// Whether branches compute the operation: see Placements.
  bool is_in_branch(graph::NodeId id) const {
    const auto found = context_.schedule.placements.in_branch.find(id);
    if (found == context_.schedule.placements.in_branch.end() || exported_.contains(id)) return false;
    return !found->second.valid() || is_in_branch(found->second);
  }
  /// A jump that is taken when the predicate is false (or, for loops, true); its target is set later.
  uint32_t emit_branch(graph::OutPort predicate, bool is_loop);
  uint32_t emit_comparison_branch(graph::NodeId comparison, bool is_loop);

  // Conditionals (emit_control.cpp)
  void emit_conditional(const Item& item);
  bool side_has_code(const Item& item, int side) const;
  void emit_side(const Item& item, int side);
  bool is_single_result(graph::NodeId value) const;
  void emit_tail_conditional(const Item& item, const Ending& ending);
  /// A side that only returns something known becomes part of the comparison. False: it does not.
  bool emit_return_if(const Item& item, int side, const Ending& ending);

  // Loops (emit_control.cpp)
  void emit_loop(graph::LoopId id);
  /// The condition stands behind the body: one jump an iteration.
  void emit_body_first(const LoopShape& loop);
  void emit_condition(const LoopShape& loop);
  void drop_outside_loop(const LoopShape& loop);
  void expect_variables(const LoopShape& loop);
  void meet_variables(const LoopShape& loop);
  void emit_condition_first(const LoopShape& loop);
  PendingReads set_reads_behind_aside(const LoopShape& loop);
  void emit_loop_body(const LoopShape& loop);
  void emit_next_values(const LoopShape& loop);

  // Windows of loops (emit_window.cpp)
  /// False: the loop has none. `to_end`: jumps to the end of the loop.
  bool emit_window(graph::LoopId id, std::vector<uint32_t>& to_end);
  /// What the code of one iteration in a window knows between its two parts.
  struct WindowPlace {
    SlotMap slots;
    HeldValues held;  ///< values of the iteration
    PendingReads pending;
    std::vector<NodeId> read_by_calls;  ///< data values that stay until the calls have returned
  };
  /// Whether what the task of the window captures stands in slots.
  bool can_capture(graph::LoopId id, const Window& window) const;
  WindowPlace emit_ahead(const LoopShape& loop, const Window& window);
  void emit_rest(const LoopShape& loop, const Window& window, const WindowPlace& place);
  bool is_of_iteration(const LoopShape& loop, NodeId value) const;
  void take_next_values(const LoopShape& loop, const std::vector<bool>& variable_waits, bool waiting);
  void emit_window_calls(const Window& window, std::vector<WindowPlace>& at_place, uint32_t count);
  /// The same for the tasks of a window.
  void emit_window_tasks(const OutlinedTask& task, std::vector<WindowPlace>& at_place, uint32_t count);

  // Tasks (emit_outlined_task.cpp)
  void emit_task_items(const std::vector<TaskItem>& items);
  void emit_split(const TaskItem& item);
  /// Whether a task has done it already.
  bool is_done(const Item& item) const {
    return task_before_ != nullptr && task_before_->done.contains(item);
  }

  // Branches and loops that run at the same time as others (emit_fork.cpp)
  /// Whether some of the items, which do not need each other, are to be made free to be stolen as tasks.
  bool forks(std::span<const Item> items) const;
  void emit_fork(std::span<const Item> items);
  /// Jumps that are taken where fewer than two of the items would call anything.
  std::vector<uint32_t> emit_worth(std::span<const Item> items);
  /// Adds the task of a conditional or a loop; gives its place in EmitContext::tasks.
  std::size_t add_task(const Item& item);

  // Calls (emit_calls.cpp)
  /// What a call runs.
  struct Callee {
    graph::CallSite site{};
    bool to_hole = false;
    std::optional<std::size_t> task{};  ///< in EmitContext::tasks, in place of the function of the site
  };
  /// Whether calls compute the operation.
  bool is_in_call(graph::NodeId id) const {
    return context_.schedule.placements.in_call.contains(id) && !exported_.contains(id);
  }
  std::vector<Argument> arguments_of(graph::CallSite site, std::vector<uint32_t>& temporaries);
  void release_arguments(graph::CallSite site);
  uint32_t define_results(graph::CallSite site);
  /// A call instruction of the `one`, `two`, `three` and general forms that follow each other in Opcode.
  uint32_t emit_call(Opcode one, const Callee& callee, const std::vector<Argument>& arguments, bool forking);
  /// Not a tail call. `group`: the one it belongs to, if any.
  void emit_nested_call(const Callee& callee, const std::vector<Argument>& arguments, uint32_t results,
                        const Group* group, bool forking);
  graph::FunctionId function_of(const Callee& callee) const;
  bool is_sent(const Callee& callee) const;
  /// `group_start`: see SequentialForm.
  void emit_calls(std::span<const Item> items, uint64_t group_start);
  /// Jumps that are set by who emits a group: to where its calls run one after the other, as there is no room
  /// for a fork, and to what follows it.
  struct Forked {
    uint32_t fork;
    uint32_t over;
  };
  /// `count_slot`: how many of the calls are to be made, for the calls of a window.
  Forked emit_group(const std::vector<Callee>& callees, const std::vector<std::vector<Argument>>& arguments,
                    const std::vector<uint32_t>& results, const Handover& handover,
                    uint32_t count_slot = kNoSlot);
  /// `passed`: the values that the call gets.
  void describe_types(const Callee& callee, const std::vector<graph::NodeId>& passed,
                      Group::Call& call) const;
  std::vector<graph::NodeId> passed_values(const Callee& callee) const;
  std::vector<bool> taken_over_arguments(const Callee& callee) const;
  void emit_tail_call(graph::CallSite site);
  /// A walk along a list: a tail call of the body to itself that passes on a field read just before.
  bool fuse_next_field(graph::CallSite site, const std::vector<Argument>& arguments);

  EmitContext& context_;
  const graph::Graph& graph_;
  const Structure& structure_;
  Plan& plan_;
  const graph::FunctionId function_;
  const bool forking_;
  const bool to_hole_;  ///< the body is the function's hole form; see emit_constructor.cpp
  uint32_t entry_ = 0;  ///< the first instruction of the body
  uint32_t hole_slot_ = kNoSlot;
  SequentialForm& sequential_;
  SlotAllocator slots_;
  uint32_t join_slot_ = kNoSlot;
  /// In a window: every value has a slot of its own, behind those of the sequential form, and keeps it.
  bool keeping_ = false;
  bool in_window_ = false;                     ///< windows do not nest in one frame
  bool in_task_ = false;                       ///< the body is that of a task; it has no sequential form
  bool no_room_ = false;                       ///< for a fork: what runs as tasks where there is some
  uint32_t fork_depth_ = 0;                    ///< forks of branches and loops, in tasks too, that are around
  const OutlinedTask* task_before_ = nullptr;  ///< whose results the items that are being emitted read
  uint32_t next_kept_slot_;
  uint32_t kept_slots_;  ///< what next_kept_slot_ was at most
  SlotMap slot_of_;
  HeldValues held_;
  PendingReads pending_;
  std::vector<NodeId> dying_;  ///< values that may have been read for the last time
  std::vector<NodeId> data_params_;
  std::unordered_set<uint64_t> early_;  ///< items that were emitted together with an earlier one
  uint32_t depth_ = 0;                  ///< branches around
  uint32_t last_test_ = UINT32_MAX;     ///< the last instruction that tests a variant
  uint32_t last_label_ = 0;             ///< the last instruction that a jump goes to
  /// Jumps of a branch on a conjunction: another jump to the same place.
  std::unordered_map<uint32_t, uint32_t> also_jumps_;
  /// A match whose tests are emitted as one jump.
  struct Match {
    uint32_t jump;                  ///< the MatchJump
    std::vector<uint32_t> targets;  ///< by variant: the instruction; kNoTarget where no test has named it
    BlockId others{};               ///< the side that the other variants go to
    uint32_t others_at = kNoTarget;
    static constexpr uint32_t kNoTarget = UINT32_MAX;
  };
  std::vector<Match> matches_;
  BlockId block_{};          ///< that is being emitted; invalid where none is known
  bool frees_slots_ = true;  ///< not on the second of two ways that end alike
  /// By branch around: slots that its ends free, and the depth of what stood there.
  std::vector<std::map<uint32_t, uint32_t>> parked_{1};
  std::unordered_map<graph::NodeId, uint32_t> reads_left_;
  std::unordered_map<graph::NodeId, uint32_t> body_reads_left_;
  std::unordered_map<graph::NodeId, bool>
      body_of_variable_;                                   ///< whether the body of its loop is being emitted
  std::unordered_map<graph::NodeId, uint32_t> wanted_in_;  ///< results that belong into the slot of a Merge
  std::unordered_map<graph::NodeId, graph::NodeId>
      next_of_;                                    ///< results that are the next value of a loop variable
  std::unordered_set<graph::NodeId> shares_slot_;  ///< values that live in the slot of a Merge or variable
  std::unordered_set<graph::NodeId> exported_;     ///< values that a task or what follows it needs in slots
  std::unordered_set<graph::NodeId> returned_;     ///< operations that a return computes
};

}  // namespace hiaton::exec::direct
