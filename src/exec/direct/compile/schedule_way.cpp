#include "exec/direct/compile/schedule_way.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "exec/graph_names.h"

namespace hiaton::exec::direct {

void VerifiedBody::fail(const std::string& found) const {
  throw InternalError(fmt::format("schedule of {} ({}{}): {}", graph[body.function].name,
                                  body.forking ? "forking" : "sequential", body.to_hole ? ", to a hole" : "",
                                  found));
}

void Way::define(NodeId value, bool owned, NodeId parent) {
  body_->expect(computed_.insert(value).second, "computes %{} twice", value.index());
  if (body_->is_counted(value)) held_[value] = {owned, parent};
}

void Way::forget(NodeId value) {
  computed_.erase(value);
  held_.erase(value);
}

void Way::give_next_value(NodeId variable) {
  if (!body_->is_counted(variable)) return;
  body_->expect(!owns(variable), "variable %{} gets its next value before its present one has gone",
                variable.index());
  held_[variable] = {true, {}};
}

void Way::use(NodeId value) const {
  if (body_->is_constant(value)) return;
  body_->expect(computed_.contains(value), "reads %{}, which is not computed", value.index());
  if (!body_->is_counted(value)) return;
  auto known = held_.find(value);
  body_->expect(known != held_.end(), "reads %{}, which the frame does not hold any more", value.index());
  while (!known->second.owned && known->second.parent.valid()) {
    known = held_.find(known->second.parent);
    body_->expect(known != held_.end(), "reads %{}, a field of a value that the frame does not hold any more",
                  value.index());
  }
}

/// Comparisons, and variants, that only steer branches are computed there.
void Way::use_in_branch(NodeId value) const {
  const Placements& placements = body_->schedule.placements;
  const bool is_part = placements.in_branch.contains(value) || placements.tests.contains(value);
  if (!is_part || computed_.contains(value)) return use(value);
  for (OutPort input : body_->graph[value].inputs) use_in_branch(body_->structure.origin(input));
}

void Way::look_at(const Condition& condition) const {
  if (condition.kind == Condition::Kind::Value) return use(condition.predicate);
  if (condition.kind == Condition::Kind::Variant) return use(condition.test.data);
  use_in_branch(body_->structure.origin(condition.predicate));
}

void Way::hand_over(const std::vector<OutPort>& ports, const Handover& handover) {
  std::map<NodeId, int> changes;  // of how many references the frame has
  for (OutPort port : ports) {
    use(port);
    const NodeId value = body_->structure.origin(port);
    if (body_->is_counted(value) && !body_->is_constant(value)) --changes[value];
  }
  for (NodeId value : handover.retained) {
    use(value);
    ++changes[value];
  }
  const std::set<NodeId> moved(handover.moved.begin(), handover.moved.end());
  body_->expect(moved.size() == handover.moved.size(), "moves a value twice");
  for (NodeId value : moved) changes.try_emplace(value, 0);
  std::vector<NodeId> taken;
  for (const auto& [value, change] : changes) {
    const auto known = held_.find(value);
    body_->expect(known != held_.end(), "hands on %{}, which the frame does not hold", value.index());
    const int before = known->second.owned ? 1 : 0;
    const int left = change + before;
    if (moved.contains(value)) {
      body_->expect(left >= 0, "moves %{}, of which the frame has no reference", value.index());
      body_->expect(left == 0, "moves %{} and keeps a reference", value.index());
    } else if (left > before) {
      body_->expect(left == 1 && moved.contains(known->second.parent),
                    "retains %{} more often than it hands it on", value.index());
      taken.push_back(value);
    } else {
      body_->expect(left == before, "hands on %{} without a reference", value.index());
    }
  }
  for (NodeId field : taken) held_[field] = {true, {}};
  for (NodeId value : moved) held_.erase(value);
}

void Way::drop(const Drop& dropped, BlockId block) {
  const NodeId value = dropped.value;
  switch (dropped.kind) {
    case Drop::Kind::Borrowed:
      body_->expect(held_.contains(value) && !owns(value), "drops %{} as borrowed, which it is not",
                    value.index());
      held_.erase(value);
      break;
    case Drop::Kind::Immediate:
      body_->expect(body_->ownership.is_known_without_fields(block, value),
                    "drops %{} without a count, though it may have fields", value.index());
      let_go(value, "drops");
      break;
    case Drop::Kind::Release:
      let_go(value, "releases");
      break;
    case Drop::Kind::TakeApart:
      for (NodeId field : dropped.fields) take_over(field, value);
      let_go(value, "takes apart");
      break;
  }
}

void Way::drop(const std::vector<Drop>& drops, BlockId block) {
  for (const Drop& each : drops) drop(each, block);
}

void Way::leave(const std::vector<OutPort>& ports, const Leave& left, BlockId block) {
  hand_over(ports, left.handover);
  drop(left.drops, block);
}

void Way::let_go(NodeId value, std::string_view how) {
  body_->expect(owns(value), "{} %{}, which is not the frame's own", how, value.index());
  held_.erase(value);
}

void Way::take_over(NodeId field, NodeId from) {
  const auto known = held_.find(field);
  body_->expect(known != held_.end() && !known->second.owned && known->second.parent == from,
                "takes %{} out of %{}, from which it is not borrowed", field.index(), from.index());
  known->second = {true, {}};
}

bool Way::owns(NodeId value) const {
  const auto known = held_.find(value);
  return known != held_.end() && known->second.owned;
}

std::vector<graph::NodeId> Way::owned() const {
  std::vector<NodeId> values;
  for (const auto& [value, known] : held_) {
    if (known.owned) values.push_back(value);
  }
  return values;
}

bool Way::owns_nothing() const {
  return owned().empty();
}

void Way::expect_nothing_owned() const {
  const std::vector<NodeId> left = owned();
  body_->expect(left.empty(), "ends with %{}, which nobody releases", left.empty() ? 0 : left[0].index());
}

void Way::meet(const Way& other, std::string_view where) {
  std::vector<NodeId> differing;
  std::ranges::set_symmetric_difference(owned(), other.owned(), std::back_inserter(differing));
  body_->expect(differing.empty(), "{}, %{} is the frame's own on one way and not on the other", where,
                differing.empty() ? 0 : differing[0].index());
  std::erase_if(computed_, [&](NodeId value) { return !other.computed_.contains(value); });
  std::erase_if(held_, [&](const auto& one) { return !other.held_.contains(one.first); });
}

}  // namespace hiaton::exec::direct
