// The slots of what stands in conditionals and loops.
#include <algorithm>
#include <utility>

#include "exec/direct/compile/slot_assigner.h"
#include "exec/direct/compile/window_variables.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

void SlotAssigner::look_at(const Condition& condition) {
  const NodeId value = structure_.origin(condition.predicate);
  switch (condition.kind) {
    case Condition::Kind::Comparison:
      return release_all(graph_[value].inputs);
    case Condition::Kind::Both:
      for (OutPort comparison : graph_[value].inputs) release_all(graph_[comparison.node].inputs);
      return;
    case Condition::Kind::Variant: {
      Temporaries temporaries;
      in_slot({condition.test.data, 0}, temporaries);
      return give_back(temporaries);
    }
    case Condition::Kind::Value: {
      Temporaries temporaries;
      in_slot(condition.predicate, temporaries);
      give_back(temporaries);
      return release(condition.predicate);
    }
  }
}

void SlotAssigner::visit(statements::If& branch) {
  const Conditional& conditional = structure_.conditionals[branch.conditional];
  look_at(branch.condition);
  for (const Join& join : conditional.joins) define(join.merge, result_slot(join.merge));
  open_branch();
  side(branch, branch.first);
  if (branch.has_other) side(branch, 1 - branch.first);
  close_branch();
  for (const Join& join : conditional.joins) give_back_if_unread(join.merge);
}

void SlotAssigner::side(statements::If& branch, int side) {
  const Conditional& conditional = structure_.conditionals[branch.conditional];
  for (const Join& join : conditional.joins) {
    const NodeId value = structure_.origin(join.from[side]);
    const bool computed_here =
        structure_.block_of[value.index()] == conditional.sides[side] && is_single_result(value);
    if (computed_here && lifetimes_.reads[value.index()] == 1) wanted_in_[value] = slot_of_.at(join.merge);
  }
  run(branch.sides[side].statements);
  const Leave& left = branch.sides[side].leave;
  for (const Join& join : conditional.joins) release(join.from[side]);
  leave(left);
}

bool SlotAssigner::is_single_result(NodeId value) const {
  const Node& node = graph_[value];
  if (node.kind == NodeKind::Return) return graph_[node.site].returns.size() == 1;
  if (node.kind == NodeKind::Merge) return !is_param(value);
  return node.kind == NodeKind::Op;
}

void SlotAssigner::visit(statements::TailIf& branch) {
  open_branch();
  look_at(branch.condition);
  run(branch.sides[branch.first]);
  run(branch.sides[1 - branch.first]);
  parked_.pop_back();
  --depth_;
}

void SlotAssigner::visit(statements::SplitIf& split) {
  look_at(split.condition);
  for (const Join& join : split.joins) define(join.merge, take_slot());
  open_branch();
  for (int side = 0; side < 2; ++side) {
    run(split.sides[side]);
    drop(split.drops[side]);
  }
  close_branch();
}

void SlotAssigner::visit(statements::Loop& scheduled) {
  const LoopShape& loop = structure_.loops[scheduled.loop.index()];
  for (const LoopShape::Variable& variable : loop.variables) define(variable.merge, take_slot());
  for (const LoopShape::Variable& variable : loop.variables) release(graph_[variable.enter].inputs[0]);
  free_moved(scheduled.initial);
  for (const LoopShape::Variable& variable : loop.variables) {
    // The slot is the loop's, whatever becomes of a value in it.
    if (is_counted(variable.merge)) shares_slot_.insert(variable.merge);
  }
  drop(scheduled.before);
  if (scheduled.window != nullptr) window(scheduled);
  if (scheduled.condition_first) {
    run(scheduled.condition);
    look_at(scheduled.predicate);
    body_of(scheduled);
    frees_slots_ = false;  // the body has freed them
    drop(scheduled.at_end);
    frees_slots_ = true;
  } else {
    body_of(scheduled);
    run(scheduled.condition);
    look_at(scheduled.predicate);
  }
  for (const LoopShape::Variable& variable : loop.variables) {
    if (is_counted(variable.merge)) shares_slot_.erase(variable.merge);
  }
  drop(scheduled.after);
  for (NodeId value : lifetimes_.kept_through[scheduled.loop.index()]) release_value(value);
  for (const LoopShape::Variable& variable : loop.variables) release_value(variable.merge);
}

void SlotAssigner::body_of(statements::Loop& scheduled) {
  const LoopShape& loop = structure_.loops[scheduled.loop.index()];
  for (const LoopShape::Variable& variable : loop.variables) {
    body_of_variable_[variable.merge] = true;
    const NodeId next = structure_.origin(graph_[variable.next].inputs[0]);
    const bool computed_here =
        graph_[next].kind == NodeKind::Op && structure_.block_of[next.index()] == loop.body;
    if (computed_here && lifetimes_.reads[next.index()] == 1) next_of_[next] = variable.merge;
  }
  open_branch();
  run(scheduled.body);
  drop(scheduled.next.drops);  // before the slots of the variables get their next values
  next_values(loop);
  free_moved(scheduled.next.handover);
  close_branch();
  for (const LoopShape::Variable& variable : loop.variables) body_of_variable_[variable.merge] = false;
}

void SlotAssigner::next_values(const LoopShape& loop) {
  std::vector<Move> moves;
  for (const LoopShape::Variable& variable : loop.variables) {
    moves.push_back({slot_of_.at(variable.merge), operand(graph_[variable.next].inputs[0])});
  }
  move(std::move(moves));
  for (const LoopShape::Variable& variable : loop.variables) release(graph_[variable.next].inputs[0]);
}

/// Every place has its own slots, so that the iterations do not disturb each other.
void SlotAssigner::window(statements::Loop& loop_statement) {
  statements::WindowOfLoop& scheduled = *loop_statement.window;
  const LoopShape& loop = structure_.loops[loop_statement.loop.index()];
  const ScheduledWindow& found = *schedule_.windows[loop_statement.loop.index()];
  const std::vector<bool>& waits = found.window.variable_waits;
  const SlotMap outside = slot_of_;
  const bool kept_before = std::exchange(keeping_, true);
  temporary(take_slot());  // how many calls there are
  std::vector<SlotMap> at_place;
  for (place_ = 0; place_ < found.places; ++place_) {
    run(scheduled.condition);
    look_at(scheduled.predicate);
    run(scheduled.ahead);
    at_place.push_back(slot_of_);
    take_next_values(loop, waits, false);
  }
  const SlotMap after_last = slot_of_;
  Temporaries constants;
  for (SlotMap& slots : at_place) {
    std::swap(slot_of_, slots);
    for (const ScheduledCall& call : scheduled.calls) {
      pass(call, constants);
      define_results(call);
    }
    std::swap(slot_of_, slots);
  }
  std::vector<SlotMap> done;  ///< by place but the first: the variables' slots where it is not reached
  WindowVariables variables(loop, waits, outside);
  for (place_ = 0; place_ < found.places; ++place_) {
    slot_of_ = at_place[place_];
    variables.begin(slot_of_);
    if (place_ > 0) done.push_back(variables.slots());
    drop(scheduled.returned);
    run(scheduled.rest);
    leave(scheduled.leave);
    take_next_values(loop, waits, true);
    variables.end(slot_of_);
  }
  place_ = 0;
  variables.end_last(after_last);
  move(variables.moves_from(variables.slots()));
  for (const SlotMap& slots : done) move(variables.moves_from(slots));
  slot_of_ = outside;
  keeping_ = kept_before;
}

/// The variables that wait for calls, or the others, stand for their next values from here on.
void SlotAssigner::take_next_values(const LoopShape& loop, const std::vector<bool>& variable_waits,
                                    bool waiting) {
  std::vector<std::pair<NodeId, uint32_t>> next;
  for (std::size_t v = 0; v < loop.variables.size(); ++v) {
    if (variable_waits[v] != waiting) continue;
    const OutPort port = graph_[loop.variables[v].next].inputs[0];
    const uint32_t slot = is_known(port) ? temporary(take_slot()) : slot_of_.at(structure_.origin(port));
    next.emplace_back(loop.variables[v].merge, slot);
  }
  for (const auto& [merge, slot] : next) slot_of_[merge] = slot;
}

}  // namespace hiaton::exec::direct
