// Branches and loops with calls, outside of windows, that run at the same time as each other and as calls:
// each is a task, and together they are a group. The code:
//
//           are there two that call?                                        no: to `alone`
//           fork, run what nobody steals as tasks, wait for the others     no room: the sequential form
//           the results go where the code below puts them; to `end`
//   alone:  the items one after the other
//   end:
//
// Where it is sure that two call, and in tasks, which have no sequential form, `alone` is for no room. It
// leaves the slots as the sequential form does, so that later groups can go on there. Tasks give their
// results into slots behind those: while they run, the items that are not yet started need their operands.

#include <algorithm>
#include <iterator>
#include <utility>

#include "exec/direct/compile/body_emitter.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

namespace {

/// Each fork has the code of its items twice, so forks inside of forks would take much.
constexpr uint32_t kMostForkDepth = 4;

}  // namespace

bool BodyEmitter::forks(std::span<const Item> items) const {
  return forking_ && !no_room_ && !in_window_ && fork_depth_ < kMostForkDepth && are_tasks(items);
}

void BodyEmitter::emit_fork(std::span<const Item> items) {
  const bool kept_before = keeping_;
  const uint32_t next_kept_before = next_kept_slot_;
  for (const Item& item : items) met(item);
  const HeldValues before = held_;
  const auto early_before = early_;
  keeping_ = true;
  const std::vector<uint32_t> to_alone = emit_worth(items);
  std::vector<Callee> callees;
  std::vector<std::vector<Argument>> arguments;
  std::vector<uint32_t> results;
  std::vector<std::pair<NodeId, uint32_t>> given;  ///< the same, by value
  std::vector<uint32_t> constants;
  std::vector<OutPort> handed;
  for (const Item& item : items) {
    const std::vector<NodeId>* values = nullptr;
    if (item.kind == Item::Kind::Call) {
      std::ranges::copy(handed_to(CallSite(item.index)), std::back_inserter(handed));
      callees.push_back({.site = CallSite(item.index)});
      arguments.push_back(arguments_of(CallSite(item.index), constants));
      values = &graph_[CallSite(item.index)].returns;
    } else {
      callees.push_back({.task = add_task(item)});
      const OutlinedTask& task = context_.tasks.back().task;
      std::vector<Argument>& captured = arguments.emplace_back();
      for (NodeId value : task.captures) captured.push_back({narrow(slot_of_.at(value)), 0});
      values = &task.results;
    }
    results.push_back(take_slots(static_cast<uint32_t>(values->size())));
    for (std::size_t i = 0; i < values->size(); ++i) {
      given.emplace_back((*values)[i], results.back() + static_cast<uint32_t>(i));
    }
  }
  const Forked forked = emit_group(callees, arguments, results, hand_on(handed, borrowed_by(items)));
  const HeldValues forked_held = std::exchange(held_, before);
  keeping_ = kept_before;

  for (uint32_t jump : to_alone) set_jump(jump, here());
  const bool sure = to_alone.empty();
  set_jump(forked.fork, sure || in_task_ ? here() : sequential_.group_starts.at(items[0].key()));
  ++fork_depth_;
  no_room_ = sure;
  dying_.clear();
  early_ = early_before;
  if (sure) {
    emit_list(items);
  } else {
    expect(items);
    for (std::size_t i = 0; i < items.size(); ++i) {
      met(items[i]);
      emit_list(items.subspan(i, 1));
    }
  }
  no_room_ = false;
  --fork_depth_;
  const uint32_t to_end = emit(Opcode::Jump);
  set_jump(forked.over, here());
  const HeldValues after = std::exchange(held_, forked_held);
  frees_slots_ = false;  // the code above has freed them
  for (const Item& item : items) note_reads(item);
  const bool keeps = std::exchange(keeping_, true);
  drop_dead();
  keeping_ = keeps;
  frees_slots_ = true;
  held_ = after;
  for (const auto& [value, slot] : given) {
    if (is_data(value)) {
      if (pending_[value] > 0) {
        emit_move(slot_of_.at(value), {false, Slot(), slot});
      } else {
        emit_release(graph_[value].type, slot);
      }
      continue;
    }
    if (context_.lifetimes.reads[value.index()] > 0) emit_move(slot_of_.at(value), {false, Slot(), slot});
  }
  set_jump(to_end, here());
  if (!keeping_) next_kept_slot_ = next_kept_before;
}

/// Only of two items it is looked at: where one is a branch without calls, as it is at the leaves of a tree,
/// a thief would find nothing to do.
std::vector<uint32_t> BodyEmitter::emit_worth(std::span<const Item> items) {
  std::vector<uint32_t> without_calls;
  if (items.size() > 2) return without_calls;
  for (const Item& item : items) {
    if (item.kind != Item::Kind::Conditional) continue;
    const Conditional& conditional = structure_.conditionals[item.index];
    const auto calls = [&](BlockId side) { return side.valid() && structure_[side].has_calls; };
    if (calls(conditional.sides[0]) && calls(conditional.sides[1])) continue;
    const uint32_t when_false = emit_branch(conditional.predicate, false);
    if (calls(conditional.sides[0])) {
      without_calls.push_back(when_false);
    } else {
      without_calls.push_back(emit(Opcode::Jump));
      set_jump(when_false, here());
    }
  }
  return without_calls;
}

/// A comparison that is part of a branch has no slot: the task reads what is compared.
std::size_t BodyEmitter::add_task(const Item& item) {
  TaskBody body{function_, Plan::Body::Part::Branch, whole_task(graph_, structure_, item), fork_depth_ + 1};
  std::vector<NodeId> captures;
  const auto capture = [&](NodeId value) {
    if (std::ranges::find(captures, value) == captures.end()) captures.push_back(value);
  };
  const auto capture_compared = [&](NodeId comparison, const auto& self) -> void {
    if (const auto test = tested_in_branch({comparison, 0})) return capture(test->data);
    for (OutPort input : graph_[comparison].inputs) {
      const NodeId compared = structure_.origin(input);
      if (is_in_branch(compared)) {
        self(compared, self);
      } else if (graph_[compared].kind != graph::NodeKind::Const) {
        capture(compared);
      }
    }
  };
  for (NodeId value : body.task.captures) {
    const bool is_variant = graph_[value].kind == graph::NodeKind::Op && graph_[value].inputs.size() == 1 &&
                            graph_[structure_.origin(graph_[value].inputs[0])].type.is_data() &&
                            !is_data(value) && !slot_of_.contains(value);
    if (is_variant) {
      capture(structure_.origin(graph_[value].inputs[0]));
      continue;
    }
    if (!is_in_branch(value)) {
      capture(value);
      continue;
    }
    capture_compared(value, capture_compared);
  }
  body.task.captures = std::move(captures);
  context_.tasks.push_back(std::move(body));
  return context_.tasks.size() - 1;
}

}  // namespace hiaton::exec::direct
