// Who holds data values while code is emitted; see ownership.h and held_ in body_emitter.h.
#include <algorithm>

#include "base/check.h"
#include "exec/direct/compile/body_emitter.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

void BodyEmitter::begin_params() {
  const auto& params = graph_[function_].params;
  for (std::size_t i = 0; i < params.size(); ++i) {
    define(params[i].node, slots_.take());
    if (!is_data(params[i].node)) continue;
    data_params_.push_back(params[i].node);
    hold(params[i].node, !context_.ownership.is_borrowed(function_, i));
  }
}

uint64_t BodyEmitter::params_held() const {
  uint64_t held = ~uint64_t{0};
  if (data_params_.empty()) return held;
  const auto& params = graph_[function_].params;
  for (std::size_t i = 0; i < std::min<std::size_t>(params.size(), 64); ++i) {
    if (is_data(params[i].node) && !held_.contains(params[i].node)) held &= ~(uint64_t{1} << i);
  }
  return held;
}

void BodyEmitter::expect(std::span<const Item> items) {
  for (const Item& item : items) {
    for (NodeId value : context_.ownership.reads_of(item)) ++pending_[value];
  }
}

void BodyEmitter::expect(std::span<const OutPort> ports) {
  for (OutPort port : ports) {
    if (is_data(port)) ++pending_[structure_.origin(port)];
  }
}

void BodyEmitter::met(NodeId value) {
  uint32_t& left = pending_[value];
  HIATON_CHECK(left > 0);
  if (--left == 0) dying_.push_back(value);
}

void BodyEmitter::met(const Item& item) {
  for (NodeId value : context_.ownership.reads_of(item)) met(value);
}

void BodyEmitter::met(std::span<const OutPort> ports) {
  for (OutPort port : ports) {
    if (is_data(port)) met(structure_.origin(port));
  }
}

void BodyEmitter::hold(NodeId value, bool owned, NodeId parent) {
  held_[value] = {owned, parent, depth_};
  dying_.push_back(value);
}

/// It may be needed for the sake of its own fields alone: then it is taken apart like the value it came from.
void BodyEmitter::take_over(NodeId field) {
  Held& held = held_.at(field);
  held.owned = true;
  held.parent = {};
  dying_.push_back(field);
}

void BodyEmitter::hold_results(CallSite site) {
  for (NodeId result : graph_[site].returns) {
    if (is_data(result)) hold(result, true);
  }
}

bool BodyEmitter::is_live(NodeId value) const {
  const auto found = pending_.find(value);
  if (found != pending_.end() && found->second > 0) return true;
  return std::ranges::any_of(held_, [&](const auto& entry) {
    return !entry.second.owned && entry.second.parent == value && is_live(entry.first);
  });
}

std::vector<graph::NodeId> BodyEmitter::live_fields_of(NodeId value) const {
  std::vector<NodeId> fields;
  for (const auto& [field, held] : held_) {
    if (!held.owned && held.parent == value && is_live(field)) fields.push_back(field);
  }
  return fields;
}

BodyEmitter::Handover BodyEmitter::hand_on(std::span<const OutPort> ports, const std::set<NodeId>& borrowed) {
  Handover handover;
  std::map<NodeId, uint32_t> counts;
  for (OutPort port : ports) {
    const NodeId value = structure_.origin(port);
    if (is_data(value) && graph_[value].kind != NodeKind::Const) ++counts[value];
  }
  const auto retain = [&](NodeId value, uint32_t times) {
    handover.retained.insert(handover.retained.end(), times, value);
  };
  for (const auto& [value, count] : counts) {
    const auto found = held_.find(value);
    HIATON_CHECK(found != held_.end());
    const bool is_needed = pending_[value] > 0 || borrowed.contains(value);
    if (!found->second.owned || is_needed) {
      retain(value, count);
      continue;
    }
    for (NodeId field : live_fields_of(value)) {
      retain(field, 1);
      take_over(field);
    }
    retain(value, count - 1);
    handover.moved.emplace_back(value, found->second);
  }
  // Only now: what is borrowed from a value that moves may itself have been handed on above.
  for (const auto& [value, held] : handover.moved) held_.erase(value);
  return handover;
}

void BodyEmitter::emit_retains(const Handover& handover) {
  for (NodeId value : handover.retained) {
    emit_retain(graph_[value].type, slot_of_.at(value));
  }
}

void BodyEmitter::free_moved(const Handover& handover) {
  for (const auto& [value, held] : handover.moved) free_slot(value, held);
}

void BodyEmitter::hand_on_now(std::span<const OutPort> ports) {
  const Handover handover = hand_on(ports);
  emit_retains(handover);
  free_moved(handover);
}

void BodyEmitter::free_slot(NodeId value, const Held& held) {
  if (keeping_ || !frees_slots_ || is_param(value) || shares_slot_.contains(value)) return;
  const uint32_t slot = slot_of_.at(value);
  if (held.depth == depth_) {
    slots_.give_back(slot);
  } else {
    parked_.back()[slot] = held.depth;  // the other side of the branch may still read it
  }
}

void BodyEmitter::open_branch() {
  ++depth_;
  parked_.emplace_back();
}

void BodyEmitter::close_branch() {
  --depth_;
  const std::map<uint32_t, uint32_t> parked = std::move(parked_.back());
  parked_.pop_back();
  for (const auto& [slot, depth] : parked) {
    if (depth == depth_) {
      slots_.give_back(slot);
    } else {
      parked_.back()[slot] = depth;
    }
  }
}

void BodyEmitter::note_reads(const Item& item) {
  const std::vector<NodeId>& reads = context_.ownership.reads_of(item);
  dying_.insert(dying_.end(), reads.begin(), reads.end());
}

void BodyEmitter::drop_dead() {
  while (!dying_.empty()) {
    const NodeId value = dying_.back();
    dying_.pop_back();
    if (pending_[value] == 0 && held_.contains(value)) drop(value);
  }
}

/// Fields that are still needed are taken out; a borrowed value stays known while its fields are needed.
void BodyEmitter::drop(NodeId value) {
  const Held held = held_.at(value);
  const std::vector<NodeId> fields = live_fields_of(value);
  if (!held.owned) {
    if (!fields.empty()) return;
    held_.erase(value);
    free_slot(value, held);
    if (held.parent.valid()) dying_.push_back(held.parent);
    return;
  }
  if (fields.empty() && context_.ownership.is_known_without_fields(block_, value)) {
    // There is nothing behind the reference.
  } else if (fields.empty()) {
    emit_release(graph_[value].type, slot_of_.at(value));
  } else {
    std::vector<std::pair<uint32_t, uint32_t>> slots;
    for (NodeId field : fields) {
      slots.emplace_back(static_cast<uint32_t>(graph_[field].attributes[1]), slot_of_.at(field));
    }
    emit_take(value, static_cast<uint32_t>(graph_[fields[0]].attributes[0]), slots);
    for (NodeId field : fields) take_over(field);
  }
  held_.erase(value);
  free_slot(value, held);
}

std::vector<OutPort> BodyEmitter::handed_to(CallSite site) const {
  std::vector<OutPort> ports;
  const graph::Site& call = graph_[site];
  for (std::size_t i = 0; i < call.calls.size(); ++i) {
    const OutPort input = graph_[call.calls[i]].inputs[0];
    if (is_data(input) && !context_.ownership.is_borrowed(call.callee, i)) ports.push_back(input);
  }
  return ports;
}

std::set<graph::NodeId> BodyEmitter::borrowed_by(std::span<const Item> items) const {
  std::set<NodeId> borrowed;
  const auto add = [&](NodeId value) {
    while (value.valid() && borrowed.insert(value).second) {
      const auto held = held_.find(value);
      value = held != held_.end() && !held->second.owned ? held->second.parent : NodeId();
    }
  };
  for (const Item& item : items) {
    if (item.kind != Item::Kind::Call) {
      for (NodeId value : context_.ownership.reads_of(item)) add(value);
      continue;
    }
    const graph::Site& call = graph_[CallSite(item.index)];
    for (std::size_t i = 0; i < call.calls.size(); ++i) {
      const OutPort input = graph_[call.calls[i]].inputs[0];
      if (is_data(input) && context_.ownership.is_borrowed(call.callee, i)) add(structure_.origin(input));
    }
  }
  return borrowed;
}

}  // namespace hiaton::exec::direct
