// Assigns the slots of one body of a schedule: see assign_slots.h. One class: statements and values
// (slot_assigner.cpp), conditionals and loops (slot_assigner_control.cpp).
#pragma once

#include <map>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "exec/direct/compile/assign_slots.h"
#include "exec/direct/compile/held_constants.h"
#include "exec/direct/compile/moves.h"
#include "exec/direct/compile/slots.h"

namespace hiaton::exec::direct {

class SlotAssigner {
  using NodeId = graph::NodeId;
  using OutPort = graph::OutPort;

 public:
  /// `sequential`: how many slots the sequential form of the function has, where this is another one.
  SlotAssigner(Schedule& schedule, const graph::Graph& graph, const Structure& structure,
               const Lifetimes& lifetimes, OverflowMode overflow, graph::FunctionId function,
               uint32_t sequential)
      : schedule_(schedule),
        graph_(graph),
        structure_(structure),
        lifetimes_(lifetimes),
        overflow_(overflow),
        function_(function),
        next_kept_slot_(sequential),
        kept_slots_(sequential) {}

  void run(ScheduledBody& body);
  void run_task(ScheduledTask& task);

 private:
  using SlotMap = std::unordered_map<NodeId, uint32_t>;
  using Temporaries = std::vector<uint32_t>;

  // Slots
  uint32_t take_slot() { return take_slots(1); }
  /// Several in a row.
  uint32_t take_slots(uint32_t count);
  uint32_t checked(uint32_t slot) const;
  /// Notes a slot of the statement, or of a value that it gives.
  uint32_t temporary(uint32_t slot);
  void define(NodeId value, uint32_t slot);
  void place(NodeId value, uint32_t slot);
  void give_back(Temporaries& temporaries);
  void load_parameters(BodySlots& slots);
  Operand operand(OutPort port) const;
  bool is_known(OutPort port) const { return direct::is_known(graph_[structure_.origin(port)]); }
  /// A constant that the instruction does not hold gets a slot.
  void in_slot(OutPort port, Temporaries& temporaries);
  /// The slots of values that move all at once.
  void move(std::vector<Move> moves);

  // Values
  bool is_counted(NodeId value) const { return !graph_[value].type.is_scalar(); }
  bool is_param(NodeId value) const;
  uint32_t reads_left(NodeId value);
  uint32_t body_reads_left(NodeId variable);
  /// One read less; how many there still are.
  uint32_t take_read(NodeId value) {
    reads_left(value);
    return --reads_left_[value];
  }
  /// One read of the value is done.
  void release(OutPort port);
  void release_all(const graph::OutPorts& ports);
  void release_value(NodeId value);
  void give_back_slot(NodeId value);
  void give_back_if_unread(NodeId value);
  /// Counted values give their slots back where the frame lets go of them.
  void free_slot(NodeId value);
  void free_moved(const Handover& handover);
  void drop(std::span<const Drop> drops);
  void leave(const Leave& leave);
  /// The slot for the result of an operation: that of the join or loop variable it is for, where that is
  /// safe, else a new one. To be called after the operands are released.
  uint32_t result_slot(NodeId value);
  void give_result(NodeId value);
  void open_branch();
  void close_branch();

  // Statements
  void run(Statements& statements);
  void visit(const Drop& drop);
  void visit(const statements::Count&) {}
  void visit(const statements::Compute& compute);
  void visit(const statements::ReadFields& reads);
  void visit(const statements::Calls& calls);
  void visit(const statements::GroupBegins&) {}
  void visit(statements::Fork& fork);
  void visit(statements::If& branch);
  void visit(statements::SplitIf& split);
  void visit(statements::Loop& loop);
  void visit(const statements::Return& ends);
  void visit(const statements::TailCall& tail);
  void visit(const statements::TailConstructor& tail);
  void visit(statements::TailIf& branch);
  void take_operand(NodeId value);
  void compute_kernel(NodeId id);
  void make(const statements::Compute& compute);
  void copy(const statements::Compute& compute);
  void fields_in_slots(const graph::Node& make, Temporaries& temporaries);
  /// Fields that nothing reads go somewhere, too, where the value is taken apart.
  void take(NodeId value, uint32_t variant, std::span<const NodeId> first, std::span<const NodeId> more = {});
  void pass(const ScheduledCall& call, Temporaries& temporaries);
  void release_arguments(const ScheduledCall& call);
  void define_results(const ScheduledCall& call);

  // Conditionals and loops
  void look_at(const Condition& condition);
  void side(statements::If& branch, int side);
  bool is_single_result(NodeId value) const;
  void body_of(statements::Loop& scheduled);
  void next_values(const LoopShape& loop);
  void window(statements::Loop& scheduled);
  void take_next_values(const LoopShape& loop, const std::vector<bool>& variable_waits, bool waiting);

  Schedule& schedule_;
  const graph::Graph& graph_;
  const Structure& structure_;
  const Lifetimes& lifetimes_;
  const OverflowMode overflow_;
  const graph::FunctionId function_;
  bool to_hole_ = false;
  SlotAllocator slots_;
  /// In a window, a fork or a task: every value has a slot of its own, behind those of the sequential form,
  /// and keeps it.
  bool keeping_ = false;
  uint32_t next_kept_slot_;
  uint32_t kept_slots_;      ///< what next_kept_slot_ was at most
  bool frees_slots_ = true;  ///< not on the second of two ways that end alike
  std::size_t place_ = 0;    ///< in the window around it
  StatementSlots* noted_ = nullptr;
  SlotMap slot_of_;
  std::unordered_map<NodeId, uint32_t> depth_of_;  ///< branches around where the value got its slot
  uint32_t depth_ = 0;                             ///< branches around
  /// By branch around: slots that its ends free, and the depth of what stood there.
  std::vector<std::map<uint32_t, uint32_t>> parked_{1};
  std::unordered_map<NodeId, uint32_t> reads_left_;
  std::unordered_map<NodeId, uint32_t> body_reads_left_;
  std::unordered_map<NodeId, bool> body_of_variable_;  ///< whether the body of its loop is being looked at
  std::unordered_map<NodeId, uint32_t> wanted_in_;     ///< results that belong into the slot of a join
  std::unordered_map<NodeId, NodeId> next_of_;         ///< results that are the next value of a loop variable
  std::unordered_set<NodeId> shares_slot_;             ///< values that live in the slot of a join or variable
};

}  // namespace hiaton::exec::direct
