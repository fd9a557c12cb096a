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
namespace {

/// The most axes of tensors whose elements instructions of their own read and write.
constexpr std::size_t kMostAxes = 2;

/// The form of an instruction on elements of this type, of tensors of so many axes.
Opcode element_form(Opcode of_8_bytes, DType dtype, std::size_t axes) {
  const std::size_t bytes = size_of(dtype);
  const std::size_t form = (axes - 1) * 3 + (bytes == 8 ? 0 : bytes == 4 ? 1 : 2);
  return static_cast<Opcode>(static_cast<std::size_t>(of_8_bytes) + form);
}

/// `may_be_elsewhere`: the rows of the first operand may stand in another process. What an instruction of its
/// own reads stays where it is, and what it writes belongs to it.
Opcode opcode_of(const TensorOperation& operation, bool may_be_elsewhere) {
  using Code = TensorOperation::Code;
  const bool takes = !operation.operands.empty() && operation.operands[0].takes;
  const bool reads = !takes && !may_be_elsewhere;
  if (operation.code == Code::Size && reads) return Opcode::SizeOf;
  if (operation.code == Code::Element && reads && operation.operands.size() <= 1 + kMostAxes)
    return element_form(Opcode::ElementOf8, operation.type.dtype, operation.operands.size() - 1);
  if (operation.code == Code::SetElement && takes && operation.operands.size() <= 2 + kMostAxes)
    return element_form(Opcode::SetElementOf8, operation.type.dtype, operation.operands.size() - 2);
  if (operation.code == Code::Append && takes && operation.type.shape.size() == 1)
    return element_form(Opcode::AppendElement8, operation.type.dtype, 1);
  if (operation.code == Code::DropLast && takes) return Opcode::DropLastRow;
  return Opcode::Tensor;
}

/// Puts the operands where the instructions of their own look for them.
void put_operands(const TensorOperation& operation, Instruction& at) {
  using Code = TensorOperation::Code;
  if (operation.code == Code::Size) at.takes[0] = static_cast<uint16_t>(operation.axis);
  constexpr Code kOfTheirOwn[] = {Code::Element, Code::SetElement, Code::Append, Code::DropLast, Code::Size};
  if (std::ranges::find(kOfTheirOwn, operation.code) == std::end(kOfTheirOwn)) return;
  uint16_t* const places[] = {&at.a, &at.b(), &at.c(), &at.takes[0]};
  for (std::size_t i = 0; i < std::min(operation.operands.size(), std::size(places)); ++i)
    *places[i] = operation.operands[i].slot;
}

}  // namespace

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
  const bool reads_element = has_role(node, Role::Gather) || has_role(node, Role::At);
  if (reads_element && node.type.is_scalar()) operation.code = TensorOperation::Code::Element;
  if (has_role(node, Role::Size)) {
    operation.code = TensorOperation::Code::Size;
    const auto rank = static_cast<int64_t>(graph_[structure_.origin(node.inputs[0])].type.shape.size());
    operation.axis = static_cast<std::size_t>((node.attributes[0] + rank) % rank);
  }
  if (has_role(node, Role::SetAt) && node.inputs.size() == node.type.shape.size() + 2) {
    operation.code = TensorOperation::Code::SetElement;
  }
  if (has_role(node, Role::AppendRow)) operation.code = TensorOperation::Code::Append;
  if (has_role(node, Role::DropLastRow)) operation.code = TensorOperation::Code::DropLast;
  if (has_role(node, Role::At) || has_role(node, Role::SetAt)) operation.from_end = node.attributes[0] != 0;
  if (has_role(node, Role::String)) operation.code = TensorOperation::Code::String;

  plan_.tensor_operations.push_back(std::move(operation));
  const TensorOperation& placed = plan_.tensor_operations.back();
  const bool may_be_elsewhere =
      has_role(node, Role::Gather) && is_parameter(structure_.origin(node.inputs[0]));
  const uint32_t index = emit(opcode_of(placed, may_be_elsewhere), id);
  at(index).tensor = &placed;
  put_operands(placed, at(index));
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
