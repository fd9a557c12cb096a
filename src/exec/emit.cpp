#include "exec/emit.h"

#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "base/check.h"
#include "exec/kernel_table.h"
#include "exec/slots.h"
#include "kernels/scalar.h"

namespace hiaton::exec {

using graph::CallSite;
using graph::FunctionId;
using graph::LoopId;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;
using graph::OutPort;

namespace {

constexpr uint32_t kNoSlot = UINT32_MAX;

class BodyEmitter {
 public:
  BodyEmitter(EmitContext& context, FunctionId function, bool forking, GroupStarts& starts)
      : context_(context),
        graph_(context.graph),
        structure_(context.structure),
        plan_(context.plan),
        function_(function),
        forking_(forking),
        starts_(starts) {}

  void run() {
    Plan::Body body{.function = function_, .forking = forking_, .begin = here()};
    emit(Opcode::Header);
    for (OutPort param : graph_[function_].params) define(param.node, slots_.take());
    // Both forms have the same slots.
    if (context_.options.forking && context_.has_groups[function_.index()]) join_slot_ = slots_.take();
    const std::vector<OutPort>& results = structure_.results[function_.index()];
    emit_tail(structure_.bodies[function_.index()], results);
    body.slots = narrow(slots_.count());
    at(body.begin).d = body.slots;
    body.end = here();
    plan_.bodies.push_back(body);
  }

 private:
  struct Operand {
    bool is_constant = false;
    Slot constant;
    uint32_t slot = kNoSlot;
  };

  // --- Code
  // ----------------------------------------------------------------------------------------------------

  uint32_t here() const { return static_cast<uint32_t>(plan_.code.size()); }

  uint32_t emit(Opcode opcode, NodeId node = {}) {
    plan_.code.emplace_back();
    plan_.opcodes.push_back(opcode);
    plan_.nodes.push_back(node);
    plan_.sites.emplace_back();
    plan_.groups_at.push_back(nullptr);
    return here() - 1;
  }

  Instruction& at(uint32_t index) { return plan_.code[index]; }

  uint16_t narrow(uint32_t slot) const {
    if (slot >= std::numeric_limits<uint16_t>::max()) throw TooManySlots{function_};
    return static_cast<uint16_t>(slot);
  }

  /// Where a jump at `from` goes on: at the next instruction to be emitted, or at `to`.
  void set_jump(uint32_t from, uint32_t to) {
    at(from).jump = static_cast<int32_t>(to) - static_cast<int32_t>(from);
  }

  void emit_move(uint32_t to, const Operand& from) {
    if (!from.is_constant && from.slot == to) return;
    const uint32_t move = emit(from.is_constant ? Opcode::Const : Opcode::Move);
    at(move).d = narrow(to);
    if (from.is_constant) {
      at(move).constant = from.constant;
    } else {
      at(move).a = narrow(from.slot);
    }
  }

  void count_region(BlockId block) {
    if (!context_.options.count_regions) return;
    const uint32_t count = emit(Opcode::Count);
    at(count).number = context_.region_blocks.size();
    context_.region_blocks.push_back(block);
  }

  // --- Values and slots
  // ----------------------------------------------------------------------------------------

  void define(NodeId value, uint32_t slot) {
    narrow(slot);
    slot_of_[value] = slot;
  }

  uint32_t reads_left(NodeId value) {
    const auto [found, is_new] = reads_left_.try_emplace(value, context_.lifetimes.reads[value.index()]);
    return found->second;
  }

  uint32_t body_reads_left(NodeId variable) {
    const auto [found, is_new] =
        body_reads_left_.try_emplace(variable, context_.lifetimes.body_reads[variable.index()]);
    return found->second;
  }

  Operand operand(OutPort port) {
    const NodeId value = structure_.origin(port);
    if (graph_[value].kind == NodeKind::Const) return {true, graph_[value].constant.slot(), kNoSlot};
    const auto found = slot_of_.find(value);
    HIATON_CHECK(found != slot_of_.end());
    return {false, Slot(), found->second};
  }

  /// The operand in a slot; a constant is put into one, which `temporaries` then holds.
  uint16_t in_slot(const Operand& from, std::vector<uint32_t>& temporaries) {
    if (!from.is_constant) return narrow(from.slot);
    const uint32_t slot = slots_.take();
    temporaries.push_back(slot);
    emit_move(slot, from);
    return narrow(slot);
  }

  void give_back(std::vector<uint32_t>& temporaries) {
    for (uint32_t slot : temporaries) slots_.give_back(slot);
    temporaries.clear();
  }

  /// One read of the value is done.
  void release(OutPort port) {
    const NodeId value = structure_.origin(port);
    if (graph_[value].kind == NodeKind::Const) return;
    if (const auto found = body_of_variable_.find(value); found != body_of_variable_.end() && found->second) {
      body_reads_left(value);
      --body_reads_left_[value];
    }
    release_value(value);
  }

  void release_value(NodeId value) {
    HIATON_CHECK(reads_left(value) > 0);
    if (--reads_left_[value] == 0 && !is_param(value)) give_back_slot(value);
  }

  void give_back_slot(NodeId value) {
    if (shares_slot_.contains(value)) return;  // the value it was written for gives it back
    slots_.give_back(slot_of_.at(value));
  }

  bool is_param(NodeId value) const {
    for (OutPort param : graph_[function_].params) {
      if (param.node == value) return true;
    }
    return false;
  }

  /// The slot for the result of an operation: that of the Merge or loop variable it is for, where that is
  /// safe, else a new one. To be called after the operands are released.
  uint32_t result_slot(NodeId value) {
    if (const auto merge = wanted_in_.find(value); merge != wanted_in_.end()) {
      shares_slot_.insert(value);
      return merge->second;
    }
    if (const auto variable = next_of_.find(value);
        variable != next_of_.end() && body_reads_left(variable->second) == 0) {
      shares_slot_.insert(value);
      return slot_of_.at(variable->second);
    }
    return slots_.take();
  }

  void give_back_if_unread(NodeId value) {
    if (reads_left(value) == 0) give_back_slot(value);
  }

  // --- Blocks
  // --------------------------------------------------------------------------------------------------

  /// A block whose values are read by what follows it.
  void emit_block(BlockId block) {
    if (!block.valid()) return;
    const std::vector<Item>& items = structure_[block].items;
    for (std::size_t i = 0; i < items.size();) i = emit_items(items, i);
  }

  /// A block at whose end the function returns `results`.
  void emit_tail(BlockId block, std::vector<OutPort> results) {
    if (block.valid()) {
      count_region(block);
      defer_returned_operation(block, results);
      const std::vector<Item>& items = structure_[block].items;
      for (std::size_t i = 0; i < items.size();) {
        const bool is_last = i + 1 == items.size();
        if (is_last && items[i].kind == Item::Kind::Conditional) {
          return emit_tail_conditional(structure_.conditionals[items[i].index], results);
        }
        if (is_last && items[i].kind == Item::Kind::Call && is_tail_call(CallSite(items[i].index), results)) {
          return emit_tail_call(CallSite(items[i].index));
        }
        i = emit_items(items, i);
      }
    }
    emit_return(results);
  }

  /// Emits the item at `i`, and with a call its whole group; gives the index of the next one.
  std::size_t emit_items(const std::vector<Item>& items, std::size_t i) {
    switch (items[i].kind) {
      case Item::Kind::Op:
        emit_op(NodeId(items[i].index));
        break;
      case Item::Kind::Conditional:
        emit_conditional(structure_.conditionals[items[i].index]);
        break;
      case Item::Kind::Loop:
        emit_loop(LoopId(items[i].index));
        break;
      case Item::Kind::Call: {
        std::vector<CallSite> sites;
        const uint32_t group = items[i].group;
        for (; i < items.size() && items[i].kind == Item::Kind::Call && items[i].group == group; ++i) {
          sites.emplace_back(items[i].index);
        }
        emit_calls(sites);
        return i;
      }
    }
    return i + 1;
  }

  void emit_return(const std::vector<OutPort>& results) {
    std::vector<uint32_t> temporaries;
    if (results.size() == 1 && returned_.contains(structure_.origin(results[0]))) {
      return emit_returned_operation(structure_.origin(results[0]));
    }
    if (results.size() == 1) {
      const Operand result = operand(results[0]);
      const uint32_t index = emit(result.is_constant ? Opcode::ReturnConst : Opcode::Return1);
      if (result.is_constant) {
        at(index).constant = result.constant;
      } else {
        at(index).a = narrow(result.slot);
      }
      return;
    }
    ReturnList list;
    for (OutPort result : results) list.slots.push_back(in_slot(operand(result), temporaries));
    plan_.return_lists.push_back(std::move(list));
    const uint32_t index = emit(Opcode::ReturnN);
    at(index).returns = &plan_.return_lists.back();
    give_back(temporaries);
  }

  /// The operation that gives the only result, and is read for nothing else, is computed by the return.
  void defer_returned_operation(BlockId block, const std::vector<OutPort>& results) {
    if (results.size() != 1) return;
    const NodeId value = structure_.origin(results[0]);
    const Node& node = graph_[value];
    if (node.kind != NodeKind::Op || structure_.block_of[value.index()] != block) return;
    if (context_.lifetimes.reads[value.index()] != 1 || !fast_return(kernel_of(node))) return;
    if (graph_[structure_.origin(node.inputs[0])].kind != NodeKind::Const) returned_.insert(value);
  }

  void emit_returned_operation(NodeId value) {
    const Node& node = graph_[value];
    const FastReturn fast = *fast_return(kernel_of(node));
    const Operand a = operand(node.inputs[0]);
    const Operand b = operand(node.inputs[1]);
    const uint32_t index = emit(b.is_constant ? fast.slot_const : fast.slot_slot, value);
    at(index).a = narrow(a.slot);
    if (b.is_constant) {
      at(index).constant = b.constant;
    } else {
      at(index).b() = narrow(b.slot);
    }
  }

  // --- Operations
  // ----------------------------------------------------------------------------------------------

  Kernel kernel_of(const Node& node) const {
    const DType dtype = graph_[structure_.origin(node.inputs[0])].type.dtype;
    const KernelVariant* variant = node.op->find_kernel(dtype);
    HIATON_CHECK(variant != nullptr);
    return context_.options.overflow == OverflowMode::Trap ? variant->trap : variant->wrap;
  }

  void emit_op(NodeId id) {
    if (returned_.contains(id) || is_deferred_predicate(id) || is_passed(id)) return;
    const Node& node = graph_[id];
    const Kernel kernel = kernel_of(node);
    std::vector<uint32_t> temporaries;
    Operand a = operand(node.inputs[0]);
    const Operand b = node.inputs.size() > 1 ? operand(node.inputs[1]) : Operand();
    const std::optional<FastBinary> binary = node.inputs.size() == 2 ? fast_binary(kernel) : std::nullopt;
    const std::optional<Opcode> unary = node.inputs.size() == 1 ? fast_unary(kernel) : std::nullopt;
    const bool both_constant = a.is_constant && b.is_constant;
    if (!binary || both_constant) a = {false, Slot(), in_slot(a, temporaries)};
    uint16_t b_slot = 0;
    if (node.inputs.size() == 2 && (!b.is_constant || !binary)) b_slot = in_slot(b, temporaries);

    Opcode opcode = node.inputs.size() == 1 ? unary.value_or(Opcode::Apply1) : Opcode::Apply2;
    if (binary)
      opcode = a.is_constant ? binary->const_slot : b.is_constant ? binary->slot_const : binary->slot_slot;
    const uint32_t index = emit(opcode, id);
    at(index).a = a.is_constant ? 0 : narrow(a.slot);
    if (binary && (a.is_constant || b.is_constant)) {
      at(index).b() = b_slot;
      at(index).constant = a.is_constant ? a.constant : b.constant;
    } else {
      at(index).b() = b_slot;
      at(index).kernel = kernel;
    }
    give_back(temporaries);
    for (OutPort input : node.inputs) release(input);
    define(id, result_slot(id));
    at(index).d = narrow(slot_of_[id]);
    give_back_if_unread(id);
  }

  /// A comparison that only steers one conditional or loop of its own block becomes part of the branch.
  bool is_deferred_predicate(NodeId id) { return deferred_.contains(id) || can_defer(id); }

  bool can_defer(NodeId id) {
    const Node& node = graph_[id];
    if (context_.lifetimes.reads[id.index()] != 1 || node.inputs.size() != 2) return false;
    if (!fast_branch(kernel_of(node))) return false;
    if (graph_[structure_.origin(node.inputs[0])].kind == NodeKind::Const) return false;
    if (!steered_in_own_block(id)) return false;
    deferred_.insert(id);
    return true;
  }

  bool steered_in_own_block(NodeId id) const {
    for (const graph::InPort& reader : graph_.consumers({id, 0})) {
      const Node& node = graph_[reader.node];
      if (node.kind != NodeKind::Switch || reader.port != 1) return false;
    }
    return !graph_.consumers({id, 0}).empty();
  }

  /// A jump that is taken when the predicate is false (or, for loops, true); its target is set later.
  uint32_t emit_branch(OutPort predicate, bool is_loop) {
    const NodeId value = structure_.origin(predicate);
    if (!deferred_.contains(value)) {
      std::vector<uint32_t> temporaries;
      const uint16_t slot = in_slot(operand(predicate), temporaries);
      const uint32_t branch = emit(is_loop ? Opcode::LoopTrue : Opcode::BranchFalse);
      at(branch).a = slot;
      give_back(temporaries);
      release(predicate);
      return branch;
    }
    const Node& node = graph_[value];
    const FastBranch fast = *fast_branch(kernel_of(node));
    const Operand a = operand(node.inputs[0]);
    const Operand b = operand(node.inputs[1]);
    const uint32_t branch = emit(b.is_constant ? (is_loop ? fast.while_const : fast.unless_const)
                                               : (is_loop ? fast.while_slot : fast.unless_slot),
                                 value);
    at(branch).a = narrow(a.slot);
    if (b.is_constant) {
      at(branch).constant = b.constant;
    } else {
      at(branch).d = narrow(b.slot);
    }
    for (OutPort input : node.inputs) release(input);
    return branch;
  }

  // --- Conditionals
  // --------------------------------------------------------------------------------------------

  void emit_conditional(const Conditional& conditional) {
    const uint32_t branch = emit_branch(conditional.predicate, false);
    for (const Join& join : conditional.joins) define(join.merge, result_slot(join.merge));
    emit_side(conditional, 0);
    if (!side_has_code(conditional, 1)) {
      set_jump(branch, here());
    } else {
      const uint32_t over = emit(Opcode::Jump);
      set_jump(branch, here());
      emit_side(conditional, 1);
      set_jump(over, here());
    }
    for (const Join& join : conditional.joins) give_back_if_unread(join.merge);
  }

  bool side_has_code(const Conditional& conditional, int side) const {
    return !conditional.joins.empty() ||
           (conditional.sides[side].valid() && !structure_[conditional.sides[side]].items.empty());
  }

  void emit_side(const Conditional& conditional, int side) {
    const BlockId block = conditional.sides[side];
    for (const Join& join : conditional.joins) {
      const NodeId value = structure_.origin(join.from[side]);
      const bool computed_here = structure_.block_of[value.index()] == block && is_single_result(value);
      if (computed_here && context_.lifetimes.reads[value.index()] == 1)
        wanted_in_[value] = slot_of_.at(join.merge);
    }
    if (block.valid()) {
      count_region(block);
      emit_block(block);
    }
    for (const Join& join : conditional.joins) {
      emit_move(slot_of_.at(join.merge), operand(join.from[side]));
      release(join.from[side]);
    }
  }

  bool is_single_result(NodeId value) const {
    const Node& node = graph_[value];
    if (node.kind == NodeKind::Return) return graph_[node.site].returns.size() == 1;
    if (node.kind == NodeKind::Merge) return !is_param(value);
    return node.kind == NodeKind::Op;
  }

  void emit_tail_conditional(const Conditional& conditional, const std::vector<OutPort>& results) {
    std::vector<OutPort> side_results[2] = {results, results};
    for (int side = 0; side < 2; ++side) {
      for (OutPort& result : side_results[side]) {
        for (const Join& join : conditional.joins) {
          if (structure_.origin(result) == join.merge) {
            result = join.from[side];
            break;
          }
        }
      }
    }
    for (int side = 0; side < 2; ++side) {
      if (!emit_return_if(conditional, side, side_results[side])) continue;
      return emit_tail(conditional.sides[1 - side], side_results[1 - side]);
    }
    const uint32_t branch = emit_branch(conditional.predicate, false);
    emit_tail(conditional.sides[0], side_results[0]);
    set_jump(branch, here());
    emit_tail(conditional.sides[1], side_results[1]);
  }

  /// A side that only returns something known becomes part of the comparison. False: it does not.
  bool emit_return_if(const Conditional& conditional, int side, const std::vector<OutPort>& results) {
    const BlockId block = conditional.sides[side];
    if ((block.valid() && !structure_[block].items.empty()) || results.size() != 1) return false;
    const NodeId predicate = structure_.origin(conditional.predicate);
    if (context_.options.count_regions || !deferred_.contains(predicate)) return false;
    const Node& node = graph_[predicate];
    const std::optional<FastReturnIf> fast = fast_return_if(kernel_of(node));
    if (!fast) return false;
    const FastReturnIf::Forms& forms = side == 0 ? fast->when : fast->when_not;
    const Operand a = operand(node.inputs[0]);
    const Operand b = operand(node.inputs[1]);
    const Operand result = operand(results[0]);
    const Opcode opcode = b.is_constant ? (result.is_constant ? forms.const_const : forms.const_slot)
                                        : (result.is_constant ? forms.slot_const : forms.slot_slot);
    const uint32_t index = emit(opcode, predicate);
    at(index).a = narrow(a.slot);
    if (b.is_constant) {
      at(index).constant = b.constant;
    } else {
      at(index).d = narrow(b.slot);
    }
    if (result.is_constant) {
      at(index).other = result.constant;
    } else {
      at(index).c() = narrow(result.slot);
    }
    for (OutPort input : node.inputs) release(input);
    return true;
  }

  // --- Loops
  // ---------------------------------------------------------------------------------------------------

  void emit_loop(LoopId id) {
    const LoopShape& loop = structure_.loops[id.index()];
    for (const LoopShape::Variable& variable : loop.variables) {
      const OutPort initial = graph_[variable.enter].inputs[0];
      const uint32_t slot = slots_.take();
      emit_move(slot, operand(initial));
      define(variable.merge, slot);
    }
    for (const LoopShape::Variable& variable : loop.variables) release(graph_[variable.enter].inputs[0]);
    if (context_.lifetimes.body_needs_condition[id.index()]) {
      emit_condition_first(loop);
    } else {
      emit_body_first(loop);
    }
    for (NodeId value : context_.lifetimes.kept_through[id.index()]) release_value(value);
    for (const LoopShape::Variable& variable : loop.variables) release_value(variable.merge);
  }

  /// The condition stands behind the body: one jump an iteration.
  void emit_body_first(const LoopShape& loop) {
    const uint32_t to_condition = emit(Opcode::Jump);
    const uint32_t top = here();
    emit_loop_body(loop);
    set_jump(to_condition, here());
    count_region(loop.condition);
    emit_block(loop.condition);
    const uint32_t back = emit_branch(loop.predicate, true);
    set_jump(back, top);
  }

  void emit_condition_first(const LoopShape& loop) {
    const uint32_t top = here();
    count_region(loop.condition);
    emit_block(loop.condition);
    const uint32_t leave = emit_branch(loop.predicate, false);
    emit_loop_body(loop);
    const uint32_t back = emit(Opcode::JumpBack);
    set_jump(back, top);
    set_jump(leave, here());
  }

  void emit_loop_body(const LoopShape& loop) {
    for (const LoopShape::Variable& variable : loop.variables) {
      body_of_variable_[variable.merge] = true;
      const NodeId next = structure_.origin(graph_[variable.next].inputs[0]);
      const bool computed_here =
          graph_[next].kind == NodeKind::Op && structure_.block_of[next.index()] == loop.body;
      if (computed_here && context_.lifetimes.reads[next.index()] == 1) next_of_[next] = variable.merge;
    }
    count_region(loop.body);
    emit_block(loop.body);
    emit_next_values(loop);
    for (const LoopShape::Variable& variable : loop.variables) body_of_variable_[variable.merge] = false;
  }

  /// All variables take their next values at once: a variable is overwritten only when nobody needs its old
  /// value.
  void emit_next_values(const LoopShape& loop) {
    struct Move {
      uint32_t to;
      Operand from;
    };
    std::vector<Move> moves;
    for (const LoopShape::Variable& variable : loop.variables) {
      const Move move{slot_of_.at(variable.merge), operand(graph_[variable.next].inputs[0])};
      if (move.from.is_constant || move.from.slot != move.to) moves.push_back(move);
    }
    std::vector<uint32_t> temporaries;
    while (!moves.empty()) {
      const auto is_free = [&](const Move& move) {
        for (const Move& other : moves) {
          if (&other != &move && !other.from.is_constant && other.from.slot == move.to) return false;
        }
        return true;
      };
      std::size_t chosen = 0;
      while (chosen < moves.size() && !is_free(moves[chosen])) ++chosen;
      if (chosen == moves.size()) {  // a cycle: keep one old value aside
        const uint32_t aside = slots_.take();
        temporaries.push_back(aside);
        const uint32_t broken = moves[0].to;
        emit_move(aside, {false, Slot(), broken});
        for (Move& move : moves) {
          if (!move.from.is_constant && move.from.slot == broken) move.from.slot = aside;
        }
        continue;
      }
      emit_move(moves[chosen].to, moves[chosen].from);
      moves.erase(moves.begin() + static_cast<std::ptrdiff_t>(chosen));
    }
    give_back(temporaries);
    for (const LoopShape::Variable& variable : loop.variables) release(graph_[variable.next].inputs[0]);
  }

  // --- Calls
  // ---------------------------------------------------------------------------------------------------

  /// The sum of an i64 and a small constant that is only the argument of one call is computed by the call.
  bool is_passed(NodeId id) {
    if (passed_.contains(id)) return true;
    const Node& node = graph_[id];
    if (node.inputs.size() != 2 || context_.lifetimes.reads[id.index()] != 1 || !plus_of(node)) return false;
    const auto readers = graph_.consumers({id, 0});
    if (readers.size() != 1 || graph_[readers[0].node].kind != NodeKind::Call) return false;
    const NodeId call = readers[0].node;
    const bool same_block = structure_.block_of[call.index()] == structure_.block_of[id.index()];
    if (!same_block || graph_[graph_[call].site].calls.size() > 3) return false;
    passed_.insert(id);
    return true;
  }

  /// What an addition or subtraction adds to its first operand, where that is a small constant.
  std::optional<int16_t> plus_of(const Node& node) const {
    const Kernel kernel = kernel_of(node);
    const bool adds = kernel == Kernel{kernels::binary<kernels::Add, int64_t, int64_t>};
    const bool subtracts = kernel == Kernel{kernels::binary<kernels::Sub, int64_t, int64_t>};
    const Node& first = graph_[structure_.origin(node.inputs[0])];
    const Node& second = graph_[structure_.origin(node.inputs[1])];
    if (!(adds || subtracts) || first.kind == NodeKind::Const || second.kind != NodeKind::Const)
      return std::nullopt;
    const int64_t number = second.constant.as<int64_t>();
    if (number < -INT16_MAX || number > INT16_MAX) return std::nullopt;
    return static_cast<int16_t>(adds ? number : -number);
  }

  std::vector<Argument> arguments_of(CallSite site, std::vector<uint32_t>& temporaries) {
    std::vector<Argument> arguments;
    for (NodeId call : graph_[site].calls) {
      const OutPort input = graph_[call].inputs[0];
      const NodeId value = structure_.origin(input);
      if (passed_.contains(value)) {
        const Node& sum = graph_[value];
        arguments.push_back({narrow(operand(sum.inputs[0]).slot), *plus_of(sum)});
      } else {
        arguments.push_back({in_slot(operand(input), temporaries), 0});
      }
    }
    return arguments;
  }

  void release_arguments(CallSite site) {
    for (NodeId call : graph_[site].calls) {
      const OutPort input = graph_[call].inputs[0];
      const NodeId value = structure_.origin(input);
      release(passed_.contains(value) ? graph_[value].inputs[0] : input);
    }
  }

  uint32_t define_results(CallSite site) {
    const std::vector<NodeId>& returns = graph_[site].returns;
    const uint32_t first = returns.size() == 1 ? result_slot(returns[0])
                                               : slots_.take_run(static_cast<uint32_t>(returns.size()));
    for (std::size_t i = 0; i < returns.size(); ++i) define(returns[i], first + static_cast<uint32_t>(i));
    return first;
  }

  /// A call instruction of the `one`, `two`, `three` and general forms that follow each other in Opcode.
  uint32_t emit_call(Opcode one, CallSite site, const std::vector<Argument>& arguments) {
    HIATON_CHECK(!arguments.empty());
    const std::size_t form = std::min<std::size_t>(arguments.size(), 4) - 1;
    const uint32_t index = emit(static_cast<Opcode>(static_cast<std::size_t>(one) + form));
    plan_.sites[index] = site;
    EntryReference reference{EntryReference::Kind::Instruction, index, 0, graph_[site].callee, forking_};
    if (form == 3) {
      reference.kind = EntryReference::Kind::CallList;
      reference.index = static_cast<uint32_t>(plan_.call_lists.size());
      plan_.call_lists.push_back({nullptr, arguments});
      at(index).calls = &plan_.call_lists.back();
    } else {
      at(index).a = arguments[0].slot;
      if (arguments.size() > 1) at(index).b() = arguments[1].slot;
      if (arguments.size() > 2) at(index).c() = arguments[2].slot;
      for (std::size_t i = 0; i < arguments.size(); ++i) at(index).plus[i] = arguments[i].plus;
    }
    context_.entries.push_back(reference);
    return index;
  }

  void emit_calls(const std::vector<CallSite>& sites) {
    std::vector<uint32_t> temporaries;
    std::vector<std::vector<Argument>> arguments;
    for (CallSite site : sites) arguments.push_back(arguments_of(site, temporaries));
    const bool alone = sites.size() == 1;
    if (alone) {
      give_back(temporaries);
      release_arguments(sites[0]);
    }
    // While several calls are under way, the arguments of those not yet started must stay.
    std::vector<uint32_t> results;
    for (CallSite site : sites) results.push_back(define_results(site));
    if (alone || !forking_) {
      if (!alone) starts_.push_back(here());
      for (std::size_t i = 0; i < sites.size(); ++i) {
        at(emit_call(Opcode::Call1, sites[i], arguments[i])).d = narrow(results[i]);
      }
    } else {
      emit_group(sites, arguments, results);
    }
    if (!alone) {
      give_back(temporaries);
      for (CallSite site : sites) release_arguments(site);
    }
    for (CallSite site : sites) {
      for (NodeId result : graph_[site].returns) give_back_if_unread(result);
    }
  }

  void emit_group(const std::vector<CallSite>& sites, const std::vector<std::vector<Argument>>& arguments,
                  const std::vector<uint32_t>& results) {
    const uint32_t number = static_cast<uint32_t>(plan_.groups.size());
    plan_.groups.emplace_back();
    Group& group = plan_.groups.back();
    group.join_slot = narrow(join_slot_);
    const uint32_t fork = emit(Opcode::Fork);
    at(fork).group = &group;
    set_jump(fork, starts_[next_start_++]);
    for (std::size_t i = 0; i < sites.size(); ++i) {
      const uint32_t call = emit_call(Opcode::Call1, sites[i], arguments[i]);
      at(call).d = narrow(results[i]);
      plan_.groups_at[call] = &group;
      const uint32_t after = emit(i + 1 < sites.size() ? Opcode::Next : Opcode::Join);
      at(after).a = static_cast<uint16_t>(i + 1);
      at(after).group = &group;
      group.calls.push_back({nullptr, nullptr, arguments[i]});
      context_.entries.push_back(
          {EntryReference::Kind::GroupCall, number, static_cast<uint32_t>(i), graph_[sites[i]].callee, true});
    }
    const uint32_t over = emit(Opcode::Jump);
    for (std::size_t i = 0; i < sites.size(); ++i) {
      const uint32_t names_results = emit(Opcode::Header);
      at(names_results).d = narrow(results[i]);
      plan_.sites[names_results] = sites[i];
      const uint32_t resume = emit(Opcode::StolenReturn);
      at(resume).group = &group;
      context_.code_references.push_back({number, static_cast<uint32_t>(i), resume});
    }
    set_jump(over, here());
    context_.code_references.push_back({number, CodeReference::kJoined, over});
  }

  bool is_tail_call(CallSite site, const std::vector<OutPort>& results) const {
    const std::vector<NodeId>& returns = graph_[site].returns;
    if (returns.size() != results.size()) return false;
    for (std::size_t i = 0; i < returns.size(); ++i) {
      if (structure_.origin(results[i]) != returns[i]) return false;
    }
    return true;
  }

  void emit_tail_call(CallSite site) {
    std::vector<uint32_t> temporaries;
    const std::vector<Argument> arguments = arguments_of(site, temporaries);
    emit_call(Opcode::TailCall1, site, arguments);
    give_back(temporaries);
  }

  EmitContext& context_;
  const graph::Graph& graph_;
  const Structure& structure_;
  Plan& plan_;
  const FunctionId function_;
  const bool forking_;
  GroupStarts& starts_;
  std::size_t next_start_ = 0;

  SlotAllocator slots_;
  uint32_t join_slot_ = kNoSlot;
  std::unordered_map<NodeId, uint32_t> slot_of_;
  std::unordered_map<NodeId, uint32_t> reads_left_;
  std::unordered_map<NodeId, uint32_t> body_reads_left_;
  std::unordered_map<NodeId, bool> body_of_variable_;  ///< whether the body of its loop is being emitted
  std::unordered_map<NodeId, uint32_t> wanted_in_;     ///< results that belong into the slot of a Merge
  std::unordered_map<NodeId, NodeId> next_of_;         ///< results that are the next value of a loop variable
  std::unordered_set<NodeId> shares_slot_;  ///< values that live in the slot of a Merge or variable
  std::unordered_set<NodeId> returned_;     ///< operations that a return computes
  std::unordered_set<NodeId> passed_;       ///< sums that a call computes
  std::unordered_set<NodeId> deferred_;     ///< comparisons that are part of a branch
};

}  // namespace

void emit_body(EmitContext& context, FunctionId function, bool forking, GroupStarts& starts) {
  BodyEmitter(context, function, forking, starts).run();
}

}  // namespace hiaton::exec
