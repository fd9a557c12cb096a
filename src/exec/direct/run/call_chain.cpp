#include "exec/direct/run/call_chain.h"

#include "exec/direct/kernel_table.h"

namespace hiaton::exec::direct {

using graph::Graph;
using graph::NodeId;

Value value_in(const Type& type, Slot slot) {
  return type.is_data() ? ValueView(FieldKind::Data, slot).value() : Value(type.dtype, slot);
}

DirectChain::DirectChain(const Graph& graph, const Plan& plan, const Frame* frame, const Instruction* pc)
    : graph_(graph), plan_(plan), innermost_{frame, pc}, now_(innermost_) {
  leave_tasks();
}

void DirectChain::rewind() {
  now_ = innermost_;
  leave_tasks();
}

bool DirectChain::at_call() const {
  return now_.frame != nullptr && plan_.opcode(now_.frame->resume) != Opcode::Halt;
}

void DirectChain::go_outward() {
  now_ = {now_.frame->parent, now_.frame->resume - 1};
  leave_tasks();
}

graph::CallSite DirectChain::site() const {
  return plan_.sites[plan_.index_of(now_.frame->resume - 1)];
}

std::vector<std::optional<Value>> DirectChain::arguments() const {
  const graph::Function& function = graph_[plan_.body_at(now_.pc).function];
  const uint64_t held = plan_.params_held[plan_.index_of(now_.pc)];
  std::vector<std::optional<Value>> values;
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    const Type& type = graph_[function.params[i].node].type;
    const bool is_held = !type.is_data() || (i < 64 && (held >> i & 1) != 0);
    values.push_back(is_held ? std::optional(value_in(type, now_.frame->slots[i])) : std::nullopt);
  }
  return values;
}

/// The frame of a task is not that of a call: it belongs to its parent's.
void DirectChain::leave_tasks() {
  while (at_call() && !site().valid()) now_ = {now_.frame->parent, now_.frame->resume - 1};
}

std::vector<Value> operands_of_failed(const Graph& graph, const Worker& worker, NodeId node) {
  const std::size_t count = graph[node].inputs.size();
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
