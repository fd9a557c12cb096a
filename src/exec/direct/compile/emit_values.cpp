#include <algorithm>

#include "base/check.h"
#include "exec/direct/compile/body_emitter.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

uint32_t BodyEmitter::take_slot() {
  if (keeping_) return take_slots(1);
  // On the second of two ways, slots that the first has freed still hold values.
  return frees_slots_ ? slots_.take() : slots_.take_new();
}

uint32_t BodyEmitter::take_slots(uint32_t count) {
  if (!keeping_) return slots_.take_run(count);
  next_kept_slot_ += count;
  kept_slots_ = std::max(kept_slots_, next_kept_slot_);
  return next_kept_slot_ - count;
}

void BodyEmitter::define(NodeId value, uint32_t slot) {
  narrow(slot);
  slot_of_[value] = slot;
  depth_of_[value] = depth_;
}

uint32_t BodyEmitter::reads_left(NodeId value) {
  const auto [found, is_new] = reads_left_.try_emplace(value, context_.lifetimes.reads[value.index()]);
  return found->second;
}

uint32_t BodyEmitter::body_reads_left(NodeId variable) {
  const auto [found, is_new] =
      body_reads_left_.try_emplace(variable, context_.lifetimes.body_reads[variable.index()]);
  return found->second;
}

BodyEmitter::Operand BodyEmitter::operand(OutPort port) {
  const NodeId value = structure_.origin(port);
  if (graph_[value].kind == NodeKind::Const && !is_parameter(value))
    return {true, graph_[value].constant.slot(), kNoSlot};
  const auto found = slot_of_.find(value);
  HIATON_CHECK(found != slot_of_.end());
  return {false, Slot(), found->second};
}

uint16_t BodyEmitter::in_slot(const Operand& from, std::vector<uint32_t>& temporaries) {
  if (!from.is_constant) return narrow(from.slot);
  const uint32_t slot = take_slot();
  temporaries.push_back(slot);
  emit_move(slot, from);
  return narrow(slot);
}

void BodyEmitter::give_back(std::vector<uint32_t>& temporaries) {
  for (uint32_t slot : temporaries) {
    if (!keeping_) slots_.give_back(slot);
  }
  temporaries.clear();
}

void BodyEmitter::release(OutPort port) {
  if (keeping_) return;
  const NodeId value = structure_.origin(port);
  if (graph_[value].kind == NodeKind::Const || is_data(value)) return;
  if (const auto found = body_of_variable_.find(value); found != body_of_variable_.end() && found->second) {
    body_reads_left(value);
    --body_reads_left_[value];
  }
  release_value(value);
}

void BodyEmitter::release_value(NodeId value) {
  if (keeping_ || is_data(value)) return;  // of counted values the statements know
  HIATON_CHECK(reads_left(value) > 0);
  if (--reads_left_[value] == 0 && !is_param(value)) give_back_slot(value);
}

void BodyEmitter::give_back_slot(NodeId value) {
  if (shares_slot_.contains(value)) return;  // the value it was written for gives it back
  slots_.give_back(slot_of_.at(value));
}

bool BodyEmitter::is_param(NodeId value) const {
  for (OutPort param : graph_[function_].params) {
    if (param.node == value) return true;
  }
  return false;
}

uint32_t BodyEmitter::result_slot(NodeId value) {
  if (const auto merge = wanted_in_.find(value); merge != wanted_in_.end()) {
    if (!keeping_) shares_slot_.insert(value);
    return merge->second;
  }
  if (const auto variable = next_of_.find(value);
      !keeping_ && variable != next_of_.end() && body_reads_left(variable->second) == 0) {
    shares_slot_.insert(value);
    return slot_of_.at(variable->second);
  }
  return take_slot();
}

void BodyEmitter::give_back_if_unread(NodeId value) {
  if (!keeping_ && !is_data(value) && reads_left(value) == 0) give_back_slot(value);
}

}  // namespace hiaton::exec::direct
