#include "exec/direct/run/call_chain.h"

#include <cstring>
#include <utility>

#include "exec/direct/kernel_table.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

namespace {

/// What tells as much of a data value as an error shows, its variant. Only who owns a value may count it.
Value variant_in(Slot slot) {
  Slot shown;
  shown.data = reinterpret_cast<DataObject*>(Data::bits_of_variant(Data::variant_of(slot.data)));
  return ValueView(FieldKind::Data, shown).value();
}

/// Other workers may refer to the tensor, and only those of the run may count it.
Value copy_of(const TensorObject& tensor) {
  Tensor copy = Tensor::uninitialized(tensor.dtype, {tensor.dims.data(), tensor.rank});
  const std::size_t bytes = static_cast<std::size_t>(copy.size()) * size_of(tensor.dtype);
  std::memcpy(copy.mutable_data<std::byte>(), tensor.elements, bytes);
  return copy;
}

}  // namespace

Value value_in(const Type& type, Slot slot) {
  if (is_string(type)) {
    Value code_points[] = {copy_of(*slot.data->slots()[0].tensor)};
    return Data::take(0, code_points);
  }
  if (type.is_data()) return ValueView(FieldKind::Data, slot).value();
  return type.is_tensor() ? copy_of(*slot.tensor) : Value(type.dtype, slot);
}

DirectChain::DirectChain(const Graph& graph, const Plan& plan, const Frame* frame, const Instruction* pc)
    : FrameChain({frame, pc}), graph_(graph), plan_(plan) {
  DirectChain::rewind();
}

FramePosition DirectChain::around(const FramePosition& position) const {
  return {position.frame->parent, position.frame->resume - 1};
}

bool DirectChain::is_part(const FramePosition& position) const {
  return is_call(position) && !site_of(position).valid();
}

bool DirectChain::is_call(const FramePosition& position) const {
  return position.frame != nullptr && plan_.opcode(position.frame->resume) != Opcode::Halt;
}

graph::CallSite DirectChain::site_of(const FramePosition& position) const {
  return plan_.sites[plan_.index_of(position.frame->resume - 1)];
}

std::vector<std::optional<Value>> DirectChain::arguments() const {
  const graph::Function& function = graph_[DirectChain::function()];
  const uint64_t held = plan_.params_held[plan_.index_of(at().pc)];
  std::vector<std::optional<Value>> values;
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    const Type& type = graph_[function.params[i].node].type;
    const bool is_held = type.is_scalar() || (i < 64 && (held >> i & 1) != 0);
    const Slot slot = at().frame->slots[i];
    values.emplace_back();
    if (is_held) values.back() = type.is_data() && !is_string(type) ? variant_in(slot) : value_in(type, slot);
  }
  return values;
}

LinkedChain::LinkedChain(std::optional<DirectChain> inner, graph::CallSite site, CallChain& outer)
    : inner_(std::move(inner)), site_(site), outer_(outer), is_inside_(site.valid()) {
  outer_.rewind();
}

void LinkedChain::rewind() {
  if (inner_) inner_->rewind();
  outer_.rewind();
  is_inside_ = site_.valid();
}

void LinkedChain::go_outward() {
  if (!is_inside_) {
    outer_.go_outward();
  } else if (is_in_inner_call()) {
    inner_->go_outward();
  } else {
    is_inside_ = false;
  }
}

graph::CallSite LinkedChain::site() const {
  if (!is_inside_) return outer_.site();
  return is_in_inner_call() ? inner_->site() : site_;
}

graph::FunctionId LinkedChain::function() const {
  if (!is_inside_) return outer_.function();
  return inner_ ? inner_->function() : graph::FunctionId();
}

std::vector<std::optional<Value>> LinkedChain::arguments() const {
  if (!is_inside_) return outer_.arguments();
  return inner_ ? inner_->arguments() : std::vector<std::optional<Value>>();
}

std::vector<Value> operands_of_failed(const Graph& graph, const Worker& worker, NodeId node) {
  const std::size_t count = graph[node].inputs.size();
  if (has_tensor_operation(worker.plan.opcode(worker.pc))) {
    std::vector<Value> values;
    for (std::size_t i = 0; i < count; ++i) {
      const Slot slot = worker.frame->slots[worker.pc->tensor->operands[i].slot];
      values.push_back(value_in(graph[graph[node].inputs[i].node].type, slot));
    }
    return values;
  }
  const Operands form = operands_of(worker.plan.opcode(worker.pc));
  const Instruction& at = *worker.pc;
  std::vector<Value> values;
  for (std::size_t i = 0; i < count; ++i) {
    const bool constant = (i == 0 && form == Operands::ConstSlot) || (i == 1 && form == Operands::SlotConst);
    const Slot slot = constant ? at.constant : worker.frame->slots[i == 0 ? at.a : at.b()];
    values.push_back(value_in(graph[graph[node].inputs[i].node].type, slot));
  }
  return values;
}

}  // namespace hiaton::exec::direct
