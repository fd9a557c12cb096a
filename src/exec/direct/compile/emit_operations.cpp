#include <algorithm>

#include "base/check.h"
#include "exec/direct/compile/body_emitter.h"
#include "exec/direct/kernel_table.h"
#include "kernels/scalar.h"

namespace hiaton::exec::direct {

using graph::Node;
using graph::NodeId;
using graph::NodeKind;
using graph::OutPort;

Kernel BodyEmitter::kernel_of(const Node& node) const {
  const DType dtype = graph_[structure_.origin(node.inputs[0])].type.dtype;
  const KernelVariant* variant = node.op->find_kernel(dtype);
  HIATON_CHECK(variant != nullptr);
  return context_.options.overflow == OverflowMode::Trap ? variant->trap : variant->wrap;
}

void BodyEmitter::emit_op(NodeId id, std::span<const Item> rest) {
  if (is_tensor_op(id)) return emit_tensor_op(id);
  if (emit_data_op(id, rest)) return;
  if (returned_.contains(id) || is_deferred_predicate(id) || is_passed(id)) return;
  const Node& node = graph_[id];
  const Kernel kernel = kernel_of(node);
  HIATON_CHECK(node.inputs.size() <= 3);
  std::vector<uint32_t> temporaries;
  Operand a = operand(node.inputs[0]);
  const Operand b = node.inputs.size() > 1 ? operand(node.inputs[1]) : Operand();
  const std::optional<FastBinary> binary = node.inputs.size() == 2 ? fast_binary(kernel) : std::nullopt;
  const std::optional<Opcode> unary = node.inputs.size() == 1 ? fast_unary(kernel) : std::nullopt;
  const bool both_constant = a.is_constant && b.is_constant;
  if (!binary || both_constant) a = {false, Slot(), in_slot(a, temporaries)};
  uint16_t b_slot = 0;
  if (node.inputs.size() >= 2 && (!b.is_constant || !binary)) b_slot = in_slot(b, temporaries);
  uint16_t c_slot = 0;
  if (node.inputs.size() == 3) c_slot = in_slot(operand(node.inputs[2]), temporaries);

  Opcode opcode = node.inputs.size() == 1   ? unary.value_or(Opcode::Apply1)
                  : node.inputs.size() == 2 ? Opcode::Apply2
                                            : Opcode::Apply3;
  if (binary)
    opcode = a.is_constant ? binary->const_slot : b.is_constant ? binary->slot_const : binary->slot_slot;
  const uint32_t index = emit(opcode, id);
  at(index).a = a.is_constant ? 0 : narrow(a.slot);
  if (binary && (a.is_constant || b.is_constant)) {
    at(index).b() = b_slot;
    at(index).constant = a.is_constant ? a.constant : b.constant;
  } else {
    at(index).b() = b_slot;
    at(index).c() = c_slot;
    at(index).kernel = kernel;
  }
  give_back(temporaries);
  for (OutPort input : node.inputs) release(input);
  define(id, result_slot(id));
  at(index).d = narrow(slot_of_[id]);
  give_back_if_unread(id);
}

bool BodyEmitter::can_defer(NodeId id) {
  if (exported_.contains(id)) return false;
  const bool in_conjunction = is_comparison(id) && conjunction_of(id).valid();
  const bool alone = (is_comparison(id) || is_branch_on_both(id)) && steered_in_own_block(id);
  if (in_conjunction ? exported_.contains(conjunction_of(id)) : !alone) return false;
  deferred_.insert(id);
  return true;
}

/// Whether it compares, is read once, and has a branch instruction.
bool BodyEmitter::is_comparison(NodeId id) const {
  const Node& node = graph_[id];
  return context_.lifetimes.reads[id.index()] == 1 && node.kind == NodeKind::Op && node.inputs.size() == 2 &&
         has_kernel(node) && fast_branch(kernel_of(node)) &&
         graph_[structure_.origin(node.inputs[0])].kind != NodeKind::Const;
}

graph::NodeId BodyEmitter::conjunction_of(NodeId id) const {
  const auto readers = graph_.consumers({id, 0});
  if (readers.size() != 1 || !is_branch_on_both(readers[0].node)) return {};
  return readers[0].node;
}

/// A conjunction of two comparisons of its block that steers conditionals of it is two branches.
bool BodyEmitter::is_branch_on_both(NodeId id) const {
  const Node& node = graph_[id];
  if (node.kind != NodeKind::Op || node.inputs.size() != 2 || !has_kernel(node) ||
      kernel_of(node) != Kernel{kernels::binary<kernels::And, bool, bool>} ||
      context_.lifetimes.reads[id.index()] != 1 || !steered_in_own_block(id) ||
      context_.loop_predicates.contains(id)) {
    return false;
  }
  return std::ranges::all_of(node.inputs, [&](OutPort input) {
    return is_comparison(input.node) &&
           structure_.block_of[input.node.index()] == structure_.block_of[id.index()];
  });
}

bool BodyEmitter::steered_in_own_block(NodeId id) const {
  for (const graph::InPort& reader : graph_.consumers({id, 0})) {
    const Node& node = graph_[reader.node];
    if (node.kind != NodeKind::Switch || reader.port != 1) return false;
  }
  return !graph_.consumers({id, 0}).empty();
}

uint32_t BodyEmitter::emit_branch(OutPort predicate, bool is_loop) {
  const NodeId value = structure_.origin(predicate);
  if (!is_in_branch(value)) {
    std::vector<uint32_t> temporaries;
    const uint16_t slot = in_slot(operand(predicate), temporaries);
    const uint32_t branch = emit(is_loop ? Opcode::LoopTrue : Opcode::BranchFalse);
    at(branch).a = slot;
    give_back(temporaries);
    release(predicate);
    return branch;
  }
  if (const auto test = tested_in_branch(predicate)) return emit_variant_branch(*test);
  if (is_branch_on_both(value)) {
    const uint32_t first = emit_comparison_branch(graph_[value].inputs[0].node, false);
    also_jumps_[first] = emit_comparison_branch(graph_[value].inputs[1].node, false);
    return first;
  }
  return emit_comparison_branch(value, is_loop);
}

uint32_t BodyEmitter::emit_comparison_branch(NodeId value, bool is_loop) {
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

}  // namespace hiaton::exec::direct
