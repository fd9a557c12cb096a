// Operations on tensors, and parameters of the program.
//
// An operation borrows its operands. One that nothing reads after it is let go of by the instruction itself,
// which may use its memory for the result.
#include <algorithm>
#include <unordered_set>

#include "base/check.h"
#include "exec/direct/compile/body_emitter.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

/// What a run is given, a plan does not know: each body loads the parameters that it reads into slots of
/// their own. The run holds them, so they are not counted.
void BodyEmitter::begin_parameters(const BodySlots& slots) {
  if (slots.loaded.empty()) return;
  std::unordered_set<int32_t> is_loaded;
  for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
    const NodeId id(n);
    if (graph_[id].function != function_ || !is_parameter(id)) continue;
    const int32_t number = graph_[id].parameter;
    slot_of_[id] = slots.loaded.at(number);
    if (!is_loaded.insert(number).second) continue;
    const uint32_t index = emit(Opcode::Parameter);
    at(index).d = narrow(slot_of_[id]);
    at(index).number = static_cast<uint64_t>(number);
  }
}

void BodyEmitter::emit_tensor_op(const statements::Compute& compute) {
  const NodeId id = compute.node;
  const Node& node = graph_[id];
  TensorOperation operation{.number = static_cast<uint32_t>(plan_.tensor_operations.size()),
                            .op = node.op,
                            .attributes = node.attributes,
                            .overflow = context_.options.overflow,
                            .type = node.type,
                            .is_fixed = is_fixed(node.type)};
  std::vector<NodeId> taken;
  bool has_same_types = !node.inputs.empty();  // those of the result
  for (OutPort input : node.inputs) {
    const NodeId value = structure_.origin(input);
    const Type& type = graph_[value].type;
    operation.is_fixed = operation.is_fixed && is_fixed(type);
    has_same_types = has_same_types && type.is_tensor() && type.dtype == node.type.dtype;
    TensorOperation::Operand operand{in_slot(this->operand(input)), type.dtype, type.is_tensor()};
    operand.takes = compute.takes[operation.operands.size()];
    if (operand.takes) taken.push_back(value);
    operation.operands.push_back(operand);
  }
  if (operation.is_fixed) {
    operation.size = 1;
    for (const Dim& dim : node.type.shape) {
      operation.dims.push_back(dim.size);
      operation.size *= dim.size;
    }
    operation.bytes = static_cast<std::size_t>(operation.size) * size_of(node.type.dtype);
    for (OutPort input : node.inputs) {
      has_same_types = has_same_types && graph_[structure_.origin(input)].type == node.type;
    }
  }
  if (node.type.is_tensor() && has_same_types && node.inputs.size() <= 2 && node.op->line_kernel != nullptr) {
    operation.line = node.op->line_kernel(node.type.dtype);
  }
  if (operation.line != nullptr) operation.code = TensorOperation::Code::Line;
  if (has_role(node, Role::Reshape) && node.type.is_tensor()) operation.code = TensorOperation::Code::View;
  if (has_role(node, Role::Gather) && node.type.is_scalar()) operation.code = TensorOperation::Code::Element;
  if (has_role(node, Role::SetAt) && node.inputs.size() == node.type.shape.size() + 2) {
    operation.code = TensorOperation::Code::SetElement;
  }
  if (has_role(node, Role::String)) operation.code = TensorOperation::Code::String;

  const uint32_t index = emit(Opcode::Tensor, id);
  plan_.tensor_operations.push_back(std::move(operation));
  at(index).tensor = &plan_.tensor_operations.back();
  forget_params(taken);
  at(index).d = narrow(define(id));
}

void BodyEmitter::emit_retain(const Type& type, uint32_t slot) {
  context_.counted_types.add(type);
  at(emit(type.is_data() ? Opcode::Retain : Opcode::RetainTensor)).a = narrow(slot);
}

void BodyEmitter::emit_release(const Type& type, uint32_t slot) {
  at(emit(type.is_data() ? Opcode::Release : Opcode::ReleaseTensor)).a = narrow(slot);
}

}  // namespace hiaton::exec::direct
