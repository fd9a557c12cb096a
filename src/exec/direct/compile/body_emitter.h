// Emits one body of a schedule: the statements become instructions. What is done, in which order, who holds
// the counted values meanwhile, and which slots all this needs, the statements say; see statements.h. One
// class, by subject in the files named below.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "exec/direct/compile/assign_slots.h"
#include "exec/direct/compile/emit.h"
#include "exec/direct/compile/held_constants.h"
#include "exec/direct/compile/moves.h"
#include "exec/direct/compile/operation_kinds.h"
#include "exec/direct/compile/statements.h"

namespace hiaton::exec::direct {

class BodyEmitter {
  using NodeId = graph::NodeId;
  using CallSite = graph::CallSite;

 public:
  BodyEmitter(EmitContext& context, const ScheduledBody& body, SequentialForm& sequential)
      : context_(context),
        graph_(context.graph),
        structure_(context.structure),
        plan_(context.plan),
        body_(body),
        function_(body.function),
        sequential_(sequential) {}

  void run();
  /// The body of one of its tasks, in place of its own.
  void run_task(std::size_t task);

 private:
  static constexpr uint32_t kNoSlot = UINT32_MAX;

  using SlotMap = std::unordered_map<graph::NodeId, uint32_t>;

  // Code
  uint32_t here() const { return static_cast<uint32_t>(plan_.code.size()); }
  uint32_t emit(Opcode opcode, graph::NodeId node = {});
  Instruction& at(uint32_t index) { return plan_.code[index]; }
  /// A slot as it stands in an instruction.
  static uint16_t narrow(uint32_t slot);
  /// Where a jump at `from`, and those that go with it, go on.
  void set_jump(uint32_t from, uint32_t to);
  void emit_move(uint32_t to, const Operand& from);
  /// All at once: a slot is overwritten only when nobody needs its old value.
  void emit_moves(std::vector<Move> moves);
  void end_body(Plan::Body& body, const BodySlots& slots);
  /// Jumps of the body to a return become that return.
  void return_instead_of_jumping(uint32_t begin);

  // Statements and returns (emit_statements.cpp)
  void emit_all(const Statements& statements);
  void emit_statement(const Drop& drop);
  void emit_statement(const statements::Count& count);
  void emit_statement(const statements::Compute& compute);
  void emit_statement(const statements::ReadFields& reads);
  void emit_statement(const statements::Calls& calls);
  void emit_statement(const statements::GroupBegins& begins);
  void emit_statement(const statements::Fork& fork);
  void emit_statement(const statements::If& branch);
  void emit_statement(const statements::SplitIf& split);
  void emit_statement(const statements::Loop& loop);
  void emit_statement(const statements::Return& ends);
  void emit_statement(const statements::TailCall& tail);
  void emit_statement(const statements::TailConstructor& tail);
  void emit_statement(const statements::TailIf& branch);
  void emit_returned_operation(graph::NodeId value);
  bool fuse_sum(const Operand& a, const Operand& b, Opcode returning);

  // Counted values (emit_data.cpp, emit_data_operations.cpp)
  bool is_data(NodeId value) const { return !graph_[value].type.is_scalar(); }
  bool is_data(graph::OutPort port) const { return is_data(structure_.origin(port)); }
  void begin_params();
  /// The slot of a parameter does not hold it any more.
  void forget_params(std::span<const NodeId> values);
  void emit_drops(std::span<const Drop> drops);
  void emit_retains(const Handover& handover);
  void emit_handover(const Handover& handover);
  void emit_leave(const Leave& leave);

  bool emit_data_op(const statements::Compute& compute);
  void emit_make(const statements::Compute& compute);
  /// A field of a new value: a slot, or a constant that fits into the instruction.
  struct MadeField {
    uint16_t slot;
    std::optional<int32_t> constant{};
  };
  /// At most one of the fields stays a constant.
  std::vector<MadeField> fields_in_slots(NodeId id);
  void emit_make_of(NodeId id, const std::vector<MadeField>& fields, uint32_t to);
  bool fuse_return_of_make(uint32_t slot);
  uint32_t emit_match(uint32_t slot, std::size_t fields);
  void emit_field(uint32_t to, uint32_t slot, uint32_t field);
  bool join_fields(uint32_t to, uint32_t slot, uint32_t field);
  void emit_take(NodeId value, uint32_t variant, const std::vector<std::pair<uint32_t, uint32_t>>& slots);
  void emit_copy(const statements::Compute& compute);
  void emit_print(const statements::Compute& compute);
  void emit_settle(const statements::Compute& compute);
  bool emit_string_read(NodeId id);
  void emit_variant(NodeId id);
  /// A jump that is taken where the value is not of the variant.
  uint32_t emit_variant_branch(const Ownership::VariantTest& test);

  // Tensors (emit_tensors.cpp)
  void begin_parameters(const BodySlots& slots);
  bool is_parameter(NodeId value) const {
    return graph_[value].kind == graph::NodeKind::Const && graph_[value].parameter >= 0;
  }
  void emit_tensor_op(const statements::Compute& compute);
  void emit_retain(const Type& type, uint32_t slot);
  void emit_release(const Type& type, uint32_t slot);

  // Matches of several variants (emit_match.cpp)
  /// A jump to the side that does not come first; its target is set later.
  template <class Branch>
  uint32_t emit_side_branch(const Branch& branch) {
    return emit_side_branch(structure_.conditionals[branch.conditional], branch.condition, branch.tests,
                            branch.first);
  }
  uint32_t emit_side_branch(const Conditional& conditional, const Condition& condition, std::size_t tests,
                            int first);
  uint32_t emit_match_jump(const Conditional& conditional, const Ownership::VariantTest& test);
  std::optional<uint32_t> go_on_with_match(const Conditional& conditional,
                                           const Ownership::VariantTest& test);
  /// Where a match goes on with the variants that no test has named so far.
  void set_other_variants(uint32_t match, uint32_t to);
  void finish_matches();
  void set_jumps(Instruction& instruction, std::vector<int32_t> jumps);

  // Jumps in place of tests of one number (emit_number_jumps.cpp)
  /// Makes tests of one slot one jump, in the code from `begin` on, which is a whole body.
  void merge_tests(uint32_t begin);

  // Values and slots (emit_values.cpp)
  /// Calls `emit_it` where the statement has these slots.
  template <class Emit>
  void with_slots(const StatementSlots& slots, Emit emit_it) {
    const SlotReader around = std::exchange(reader_, SlotReader{&slots});
    emit_it();
    HIATON_CHECK(reader_.is_done());
    reader_ = around;
  }
  /// The value stands in the next slot of the statement from here on: gives that.
  uint32_t define(graph::NodeId value) { return slot_of_[value] = reader_.next_value(); }
  Operand operand(graph::OutPort port) const;
  /// The operand in a slot; a constant is put into one.
  uint16_t in_slot(const Operand& from);

  // Operations and branches (emit_operations.cpp)
  bool has_kernel(const graph::Node& node) const { return direct::has_kernel(graph_, structure_, node); }
  Kernel kernel_of(const graph::Node& node) const {
    return direct::kernel_of(graph_, structure_, node, context_.options.overflow);
  }
  /// A jump that is taken when the predicate is false (or, for loops, true); its target is set later.
  uint32_t emit_branch(const Condition& condition, bool is_loop);
  uint32_t emit_comparison_branch(graph::NodeId comparison, bool is_loop);

  // Conditionals and loops (emit_control.cpp)
  void emit_side(const statements::If& branch, int side);
  /// A side that only returns something known becomes part of the comparison. False: it does not.
  bool emit_return_if(const statements::TailIf& branch, int side);
  /// The condition stands behind the body: one jump an iteration.
  void emit_body_first(const statements::Loop& scheduled);
  void emit_condition_first(const statements::Loop& scheduled);
  void emit_loop_body(const statements::Loop& scheduled);
  void emit_next_values(const LoopShape& loop);

  // Windows of loops (emit_window.cpp)
  /// `to_end`: jumps to the end of the loop.
  void emit_window(const statements::Loop& scheduled, std::vector<uint32_t>& to_end);
  /// The slots of the values of each place, after what runs ahead.
  using Places = std::vector<SlotMap>;
  uint32_t emit_ahead(const statements::WindowOfLoop& scheduled);
  void emit_count(const std::vector<uint32_t>& leaves, uint32_t count, std::size_t calls_of_place);
  uint32_t emit_unless_reached(uint32_t count, std::size_t calls);
  void emit_rest(const LoopShape& loop, const Window& window, const statements::WindowOfLoop& scheduled,
                 const SlotMap& place);
  void take_next_values(const LoopShape& loop, const std::vector<bool>& variable_waits, bool waiting);
  void emit_window_calls(const statements::WindowOfLoop& scheduled, Places& places, uint32_t count);

  // Branches and loops that run at the same time as others (emit_fork.cpp)
  /// Jumps that are taken where fewer than two of the items would call anything.
  std::vector<uint32_t> emit_worth(const statements::Fork& fork);

  // Calls (emit_calls.cpp)
  std::vector<Argument> arguments_of(const ScheduledCall& call);
  const std::vector<NodeId>& results_of(const ScheduledCall& call) const {
    return direct::results_of(context_.schedule, graph_, call);
  }
  uint32_t define_results(const ScheduledCall& call);
  /// A call instruction of the `one`, `two`, `three` and general forms that follow each other in Opcode.
  uint32_t emit_call(Opcode one, const ScheduledCall& call, const std::vector<Argument>& arguments,
                     bool forking);
  /// Not a tail call. `group`: the one it belongs to, if any.
  void emit_nested_call(const ScheduledCall& call, const std::vector<Argument>& arguments, uint32_t results,
                        const Group* group, bool forking);
  graph::FunctionId function_of(const ScheduledCall& call) const;
  bool is_sent(const ScheduledCall& call) const;
  /// Jumps that are set by who emits a group: to where its calls run one after the other, as there is no room
  /// for a fork, and to what follows it.
  struct Forked {
    uint32_t fork;
    uint32_t over;
  };
  /// `count_slot`: how many of the calls are to be made, for the calls of a window.
  Forked emit_group(std::span<const ScheduledCall* const> calls,
                    const std::vector<std::vector<Argument>>& arguments, const std::vector<uint32_t>& results,
                    const Handover& handover, uint32_t count_slot = kNoSlot);
  /// What others need to know of the call of a group in order to take it.
  Group::Call describe(const ScheduledCall& call, const std::vector<Argument>& arguments,
                       const std::vector<NodeId>& passed) const;
  /// The values that the call gets.
  std::vector<NodeId> passed_values(const ScheduledCall& call) const;
  /// A walk along a list: a tail call of the body to itself that passes on a field read just before.
  bool fuse_next_field(CallSite site, const std::vector<Argument>& arguments);

  EmitContext& context_;
  const graph::Graph& graph_;
  const Structure& structure_;
  Plan& plan_;
  const ScheduledBody& body_;
  const graph::FunctionId function_;
  uint32_t entry_ = 0;            ///< the first instruction of the body
  uint32_t hole_slot_ = kNoSlot;  ///< where the hole form has the address
  SequentialForm& sequential_;
  uint32_t join_slot_ = kNoSlot;
  bool in_task_ = false;   ///< the body is that of a task; it has no sequential form
  std::size_t place_ = 0;  ///< in the window around it
  SlotReader reader_;
  SlotMap slot_of_;
  std::unordered_map<NodeId, uint64_t> data_params_;  ///< the bit of each in params_held_
  uint64_t params_held_ = ~uint64_t{0};               ///< see Plan::params_held
  uint32_t last_test_ = UINT32_MAX;                   ///< the last instruction that tests a variant
  uint32_t last_label_ = 0;                           ///< the last instruction that a jump goes to
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
};

}  // namespace hiaton::exec::direct
