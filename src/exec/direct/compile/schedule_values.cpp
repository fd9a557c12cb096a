// Who holds counted values from one statement to the next; see ownership.h and held_ in schedule_body.h.
#include <algorithm>

#include "base/check.h"
#include "exec/direct/compile/schedule_body.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

void BodyScheduler::begin_params() {
  const auto& params = graph_[function_].params;
  for (std::size_t i = 0; i < params.size(); ++i) {
    define(params[i].node);
    if (is_data(params[i].node)) hold(params[i].node, !ownership_.is_borrowed(function_, i));
  }
}

void BodyScheduler::expect(std::span<const Item> items) {
  for (const Item& item : items) {
    for (NodeId value : ownership_.reads_of(item)) expect(value);
  }
}

void BodyScheduler::expect(std::span<const OutPort> ports) {
  for (OutPort port : ports) {
    if (is_data(port)) expect(structure_.origin(port));
  }
}

void BodyScheduler::met(NodeId value) {
  uint32_t& left = pending_[value];
  HIATON_CHECK(left > 0);
  if (--left == 0) dying_.push_back(value);
}

void BodyScheduler::met(const Item& item) {
  for (NodeId value : ownership_.reads_of(item)) met(value);
}

void BodyScheduler::met(std::span<const OutPort> ports) {
  for (OutPort port : ports) {
    if (is_data(port)) met(structure_.origin(port));
  }
}

void BodyScheduler::hold(NodeId value, bool owned, NodeId parent) {
  held_[value] = {owned, parent};
  dying_.push_back(value);
}

/// It may be needed for the sake of its own fields alone: then it is taken apart like the value it came from.
void BodyScheduler::take_over(NodeId field) {
  held_.at(field) = {.owned = true, .parent = {}};
  dying_.push_back(field);
}

void BodyScheduler::hold_results(CallSite site) {
  for (NodeId result : graph_[site].returns) {
    if (is_data(result)) hold(result, true);
  }
}

bool BodyScheduler::is_live(NodeId value) const {
  const auto found = pending_.find(value);
  if (found != pending_.end() && found->second > 0) return true;
  return std::ranges::any_of(held_, [&](const auto& entry) {
    return !entry.second.owned && entry.second.parent == value && is_live(entry.first);
  });
}

std::vector<graph::NodeId> BodyScheduler::live_fields_of(NodeId value) const {
  std::vector<NodeId> fields;
  for (const auto& [field, held] : held_) {
    if (!held.owned && held.parent == value && is_live(field)) fields.push_back(field);
  }
  return fields;
}

Handover BodyScheduler::hand_on(std::span<const OutPort> ports, const std::set<NodeId>& borrowed) {
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
    handover.moved.push_back(value);
  }
  // Only after all: what is borrowed from a value that moves may itself have been handed on above.
  for (NodeId value : handover.moved) held_.erase(value);
  return handover;
}

Leave BodyScheduler::leave_with(std::span<const OutPort> ports) {
  Leave leave;
  leave.handover = hand_on(ports);
  leave.drops = dead_values();
  return leave;
}

void BodyScheduler::note_reads(const Item& item) {
  const std::vector<NodeId>& reads = ownership_.reads_of(item);
  dying_.insert(dying_.end(), reads.begin(), reads.end());
}

std::vector<Drop> BodyScheduler::dead_values() {
  std::vector<Drop> drops;
  while (!dying_.empty()) {
    const NodeId value = dying_.back();
    dying_.pop_back();
    if (pending_[value] == 0 && held_.contains(value)) drop(value, drops);
  }
  return drops;
}

void BodyScheduler::append_drops() {
  for (Drop& drop : dead_values()) append(std::move(drop));
}

/// Fields that are still needed are taken out; a borrowed value stays known while its fields are needed.
void BodyScheduler::drop(NodeId value, std::vector<Drop>& drops) {
  const Held held = held_.at(value);
  std::vector<NodeId> fields = live_fields_of(value);
  if (!held.owned) {
    if (!fields.empty()) return;
    drops.push_back({Drop::Kind::Borrowed, value});
    held_.erase(value);
    if (held.parent.valid()) dying_.push_back(held.parent);
    return;
  }
  if (fields.empty()) {
    const bool is_immediate = ownership_.is_known_without_fields(block_, value);
    drops.push_back({is_immediate ? Drop::Kind::Immediate : Drop::Kind::Release, value});
  } else {
    for (NodeId field : fields) take_over(field);
    drops.push_back({Drop::Kind::TakeApart, value, std::move(fields)});
  }
  held_.erase(value);
}

std::vector<OutPort> BodyScheduler::handed_to(CallSite site) const {
  std::vector<OutPort> ports;
  const graph::Site& call = graph_[site];
  for (std::size_t i = 0; i < call.calls.size(); ++i) {
    const OutPort input = graph_[call.calls[i]].inputs[0];
    if (is_data(input) && !ownership_.is_borrowed(call.callee, i)) ports.push_back(input);
  }
  return ports;
}

std::set<graph::NodeId> BodyScheduler::borrowed_by(std::span<const Item> items) const {
  std::set<NodeId> borrowed;
  const auto add = [&](NodeId value) {
    while (value.valid() && borrowed.insert(value).second) {
      const auto held = held_.find(value);
      value = held != held_.end() && !held->second.owned ? held->second.parent : NodeId();
    }
  };
  for (const Item& item : items) {
    if (item.kind != Item::Kind::Call) {
      for (NodeId value : ownership_.reads_of(item)) add(value);
      continue;
    }
    const graph::Site& call = graph_[CallSite(item.index)];
    for (std::size_t i = 0; i < call.calls.size(); ++i) {
      const OutPort input = graph_[call.calls[i]].inputs[0];
      if (is_data(input) && ownership_.is_borrowed(call.callee, i)) add(structure_.origin(input));
    }
  }
  return borrowed;
}

}  // namespace hiaton::exec::direct
