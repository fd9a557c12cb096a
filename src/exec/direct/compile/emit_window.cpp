// Loops whose iterations run ahead of each other; see window.h.
//
// The code of a window, before the loop's ordinary code:
//
//   top:    is there room for a fork?                        no: the ordinary loop
//   for each place j of the window:
//           condition of iteration j                         false: count = j calls; to `calls` (j = 0: done)
//           what runs ahead of iteration j
//   calls:  fork the first `count` calls (or tasks), run what nobody steals, wait for the others
//   for each place j:  (count reached: done)  the rest of iteration j
//           the variables take their values after the last place; back to top
//
// Every place has its own slots, so that the iterations do not disturb each other. It also holds data values
// of its own: what its rest reads stays with it while the next place begins, and what it hands on to that one
// has a reference of its own. A place whose condition is false has made nothing.

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "exec/direct/compile/body_emitter.h"
#include "exec/direct/compile/window.h"
#include "exec/direct/kernel_table.h"
#include "exec/graph_names.h"
#include "kernels/scalar.h"

namespace hiaton::exec::direct {

bool BodyEmitter::emit_window(LoopId id, std::vector<uint32_t>& to_end) {
  const LoopShape& loop = structure_.loops[id.index()];
  const std::optional<ScheduledWindow>& scheduled = context_.schedule.windows[id.index()];
  if (!forking_ || no_room_ || in_window_ || join_slot_ == kNoSlot || !scheduled) return false;
  const Window* const window = &scheduled->window;
  const std::size_t places = scheduled->places;
  if (!can_capture(id, *window)) return false;

  const SlotMap outside = slot_of_;
  const HeldValues held_outside = held_;
  const PendingReads behind = set_reads_behind_aside(loop);
  const PendingReads pending_outside = pending_;
  const std::size_t calls = window->task ? 1 : window->calls.size();  // of a place
  const bool kept_before = keeping_;
  const auto exported_before = exported_;
  const OutlinedTask* const task_before = task_before_;
  keeping_ = in_window_ = true;
  if (window->task) exported_.insert(window->task->captures.begin(), window->task->captures.end());
  const uint32_t count = take_slot();
  const uint32_t top = here();
  const uint32_t room = emit(Opcode::ForkRoom);

  std::vector<WindowPlace> at_place;  ///< at the end of what runs ahead
  std::vector<uint32_t> to_calls;
  std::vector<uint32_t> leaves;
  for (std::size_t j = 0; j < places; ++j) {
    held_ = held_outside;
    pending_ = pending_outside;
    count_region(loop.condition);
    emit_condition(loop);
    leaves.push_back(emit_branch(loop.predicate, false));
    count_region(loop.body);
    at_place.push_back(emit_ahead(loop, *window));
    take_next_values(loop, window->variable_waits, false);
  }
  const SlotMap after_last = slot_of_;
  const auto set_count = [&](std::size_t reached) {
    const uint32_t index = emit(Opcode::Const);
    at(index).d = narrow(count);
    at(index).constant = make_slot(static_cast<int64_t>(reached * calls));
    to_calls.push_back(emit(Opcode::Jump));
  };
  set_count(places);
  for (std::size_t j = 1; j < places; ++j) {
    set_jump(leaves[j], here());
    set_count(j);
  }
  for (uint32_t jump : to_calls) set_jump(jump, here());
  if (window->task) {
    emit_window_tasks(*window->task, at_place, count);
    task_before_ = &*window->task;
    exported_.insert(task_before_->results.begin(), task_before_->results.end());
  } else {
    emit_window_calls(*window, at_place, count);
  }

  std::vector<std::pair<uint32_t, SlotMap>> done;  ///< jumps to the end, with the variables' slots there
  SlotMap variables = outside;
  for (std::size_t j = 0; j < places; ++j) {
    SlotMap& here_slots = at_place[j].slots;
    for (std::size_t v = 0; v < loop.variables.size(); ++v) {
      const NodeId merge = loop.variables[v].merge;
      if (window->variable_waits[v]) here_slots[merge] = variables.at(merge);
      variables[merge] = here_slots.at(merge);
    }
    if (j > 0) {
      const FastBranch branch = *fast_branch(kernels::binary<kernels::Ne, int64_t, bool>);
      const uint32_t reached = emit(branch.unless_const);
      at(reached).a = narrow(count);
      at(reached).constant = make_slot(static_cast<int64_t>(j * calls));
      done.emplace_back(reached, variables);
    }
    emit_rest(loop, *window, at_place[j]);
    for (std::size_t v = 0; v < loop.variables.size(); ++v) {
      const NodeId merge = loop.variables[v].merge;
      if (window->variable_waits[v]) variables[merge] = slot_of_.at(merge);
    }
  }
  const auto store_variables = [&](const SlotMap& from) {
    std::vector<Move> moves;
    for (const LoopShape::Variable& variable : loop.variables) {
      moves.push_back({outside.at(variable.merge), {false, Slot(), from.at(variable.merge)}});
    }
    emit_moves(std::move(moves));
  };
  for (std::size_t v = 0; v < loop.variables.size(); ++v) {
    const NodeId merge = loop.variables[v].merge;
    if (!window->variable_waits[v]) variables[merge] = after_last.at(merge);
  }
  store_variables(variables);
  set_jump(emit(Opcode::JumpBack), top);
  for (const auto& [jump, slots] : done) {
    set_jump(jump, here());
    store_variables(slots);
    to_end.push_back(emit(Opcode::Jump));
  }
  to_end.push_back(leaves[0]);
  set_jump(room, here());
  slot_of_ = outside;
  held_ = held_outside;
  pending_ = pending_outside;
  for (const auto& [variable, reads] : behind) pending_[variable] = reads;
  keeping_ = kept_before;
  in_window_ = false;
  exported_ = exported_before;
  task_before_ = task_before;
  return true;
}

bool BodyEmitter::can_capture(LoopId id, const Window& window) const {
  if (!window.task || !context_.ownership.has_data()) return true;
  // A variant that is only tested before the loop stands in no slot.
  return std::ranges::all_of(window.task->captures, [&](NodeId value) {
    return structure_[structure_.block_of[value.index()]].loop == id || slot_of_.contains(value);
  });
}

/// What of an iteration runs before its calls.
BodyEmitter::WindowPlace BodyEmitter::emit_ahead(const LoopShape& loop, const Window& window) {
  std::vector<OutPort> next_ahead;
  for (std::size_t v = 0; v < loop.variables.size(); ++v) {
    const OutPort next = graph_[loop.variables[v].next].inputs[0];
    expect({&next, 1});
    if (!window.variable_waits[v]) {
      next_ahead.push_back(next);
      if (is_data(loop.variables[v].merge)) dying_.push_back(loop.variables[v].merge);
    } else {
      held_.erase(loop.variables[v].merge);  // it has no value yet
    }
  }
  std::vector<Item> calls;
  for (CallSite site : window.calls) {
    calls.push_back({.kind = Item::Kind::Call, .index = static_cast<uint32_t>(site.index())});
  }
  std::vector<NodeId> captures;
  if (window.task)
    std::ranges::copy_if(window.task->captures, std::back_inserter(captures),
                         [&](NodeId value) { return is_data(value); });
  expect(window.rest);
  expect(calls);
  for (NodeId value : captures) expect(value);
  for (const TaskItem& item : window.ahead) expect({&item.item, 1});
  drop_dead();
  for (const TaskItem& item : window.ahead) met(item.item);
  emit_task_items(window.ahead);
  drop_dead();

  // What the calls read without taking it over stays until all have returned.
  std::vector<OutPort> handed;
  for (CallSite site : window.calls) std::ranges::copy(handed_to(site), std::back_inserter(handed));
  for (const Item& call : calls) met(call);
  const std::set<NodeId> borrowed = borrowed_by(calls);
  for (NodeId value : borrowed) expect(value);
  emit_retains(hand_on(handed, borrowed));
  met(next_ahead);
  emit_retains(hand_on(next_ahead));
  dying_.clear();

  WindowPlace place{slot_of_, {}, pending_, captures};
  place.read_by_calls.insert(place.read_by_calls.end(), borrowed.begin(), borrowed.end());
  for (const auto& [value, held] : held_) {
    if (is_of_iteration(loop, value)) place.held.emplace(value, held);
  }
  return place;
}

/// Whether the value is one of the loop's variables or is computed in its body, so that each place has one.
bool BodyEmitter::is_of_iteration(const LoopShape& loop, NodeId value) const {
  for (BlockId block = structure_.block_of[value.index()]; block.valid(); block = structure_[block].parent) {
    if (block == loop.condition || block == loop.body) return true;
  }
  return false;
}

/// What of an iteration needs its calls, or those of earlier ones.
void BodyEmitter::emit_rest(const LoopShape& loop, const Window& window, const WindowPlace& place) {
  slot_of_ = place.slots;
  pending_ = place.pending;
  std::erase_if(held_, [&](const auto& one) { return is_of_iteration(loop, one.first); });
  held_.insert(place.held.begin(), place.held.end());
  for (CallSite site : window.calls) hold_results(site);
  if (window.task) {
    for (NodeId result : window.task->results) {
      if (is_data(result)) hold(result, true);
    }
  }
  std::vector<OutPort> next_values;
  for (std::size_t v = 0; v < loop.variables.size(); ++v) {
    if (!window.variable_waits[v]) continue;
    next_values.push_back(graph_[loop.variables[v].next].inputs[0]);
    if (is_data(loop.variables[v].merge)) hold(loop.variables[v].merge, true);
  }
  for (NodeId value : place.read_by_calls) met(value);
  for (const auto& [value, held] : place.held) dying_.push_back(value);
  drop_dead();
  emit_expected(window.rest);
  met(next_values);
  emit_retains(hand_on(next_values));
  drop_dead();
  HIATON_CHECK(
      std::ranges::none_of(held_, [&](const auto& one) { return is_of_iteration(loop, one.first); }));
  take_next_values(loop, window.variable_waits, true);
}

/// The variables that wait for calls, or the others, stand for their next values from here on.
void BodyEmitter::take_next_values(const LoopShape& loop, const std::vector<bool>& variable_waits,
                                   bool waiting) {
  std::vector<std::pair<NodeId, uint32_t>> next;
  std::vector<uint32_t> constants;
  for (std::size_t v = 0; v < loop.variables.size(); ++v) {
    if (variable_waits[v] != waiting) continue;
    const Operand value = operand(graph_[loop.variables[v].next].inputs[0]);
    next.emplace_back(loop.variables[v].merge, in_slot(value, constants));
  }
  for (const auto& [merge, slot] : next) slot_of_[merge] = slot;
}

void BodyEmitter::emit_window_calls(const Window& window, std::vector<WindowPlace>& at_place,
                                    uint32_t count) {
  std::vector<Callee> callees;
  std::vector<std::vector<Argument>> arguments;
  std::vector<uint32_t> results;
  std::vector<uint32_t> constants;
  for (WindowPlace& place : at_place) {
    std::swap(slot_of_, place.slots);
    for (CallSite site : window.calls) {
      callees.push_back({.site = site});
      arguments.push_back(arguments_of(site, constants));
      results.push_back(define_results(site));
    }
    std::swap(slot_of_, place.slots);
  }
  const Forked forked = emit_group(callees, arguments, results, {}, count);
  set_jump(forked.over, here());
}

void BodyEmitter::emit_window_tasks(const OutlinedTask& task, std::vector<WindowPlace>& at_place,
                                    uint32_t count) {
  const Callee callee{.task = context_.tasks.size()};
  context_.tasks.push_back({function_, Plan::Body::Part::Iteration, task, fork_depth_});
  std::vector<std::vector<Argument>> arguments;
  std::vector<uint32_t> results;
  for (WindowPlace& place : at_place) {
    std::vector<Argument>& captured = arguments.emplace_back();
    for (NodeId value : task.captures) captured.push_back({narrow(place.slots.at(value)), 0});
    results.push_back(take_slots(static_cast<uint32_t>(task.results.size())));
    for (std::size_t i = 0; i < task.results.size(); ++i) {
      place.slots[task.results[i]] = results.back() + static_cast<uint32_t>(i);
    }
  }
  const std::vector<Callee> callees(at_place.size(), callee);
  const Forked forked = emit_group(callees, arguments, results, {}, count);
  set_jump(forked.over, here());
}

}  // namespace hiaton::exec::direct
