// What statements say of counted values, as instructions.
#include <algorithm>

#include "exec/direct/compile/body_emitter.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

void BodyEmitter::begin_params() {
  const auto& params = graph_[function_].params;
  for (std::size_t i = 0; i < params.size(); ++i) {
    slot_of_[params[i].node] = body_.slots.entered[i];
    if (is_data(params[i].node) && i < 64) data_params_[params[i].node] = uint64_t{1} << i;
  }
}

void BodyEmitter::forget_params(std::span<const NodeId> values) {
  for (NodeId value : values) {
    if (const auto bit = data_params_.find(value); bit != data_params_.end()) params_held_ &= ~bit->second;
  }
}

void BodyEmitter::emit_retains(const Handover& handover) {
  for (NodeId value : handover.retained) {
    emit_retain(graph_[value].type, slot_of_.at(value));
  }
}

void BodyEmitter::emit_handover(const Handover& handover) {
  forget_params(handover.moved);
  emit_retains(handover);
}

void BodyEmitter::emit_drops(std::span<const Drop> drops) {
  for (const Drop& drop : drops) emit_statement(drop);
}

void BodyEmitter::emit_leave(const Leave& leave) {
  emit_handover(leave.handover);
  emit_drops(leave.drops);
}

void BodyEmitter::emit_statement(const Drop& drop) {
  if (drop.kind == Drop::Kind::Release) {
    emit_release(graph_[drop.value].type, slot_of_.at(drop.value));
  } else if (drop.kind == Drop::Kind::TakeApart) {
    std::vector<std::pair<uint32_t, uint32_t>> slots;
    for (NodeId field : drop.fields) {
      slots.emplace_back(static_cast<uint32_t>(graph_[field].attributes[1]), slot_of_.at(field));
    }
    emit_take(drop.value, static_cast<uint32_t>(graph_[drop.fields[0]].attributes[0]), slots);
  }
  forget_params({&drop.value, 1});
}

}  // namespace hiaton::exec::direct
