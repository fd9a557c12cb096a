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
// Every place has its own slots, so that the iterations do not disturb each other.

#include <algorithm>

#include "base/check.h"
#include "exec/direct/compile/body_emitter.h"
#include "exec/direct/compile/window.h"
#include "exec/direct/kernel_table.h"
#include "kernels/scalar.h"

namespace hiaton::exec::direct {

using graph::CallSite;
using graph::LoopId;
using graph::NodeId;

namespace {

/// Bounds for the code that one window may take.
constexpr std::size_t kMostPlaces = 32;
constexpr std::size_t kMostItems = 1000;

}  // namespace

bool BodyEmitter::emit_window(LoopId id, std::vector<uint32_t>& to_end) {
  const LoopShape& loop = structure_.loops[id.index()];
  if (!forking_ || no_room_ || in_window_ || join_slot_ == kNoSlot ||
      context_.lifetimes.body_needs_condition[id.index()]) {
    return false;
  }
  const std::optional<Window> window = find_window(graph_, structure_, id);
  if (!window || hands_data_on(loop, *window)) return false;
  const std::size_t items = structure_[loop.condition].items.size() + structure_[loop.body].items.size() + 1;
  const std::size_t places = std::min<std::size_t>(
      {static_cast<std::size_t>(context_.options.parallel_iterations), kMostPlaces, kMostItems / items});
  if (places < 2) return false;

  const SlotMap outside = slot_of_;
  const std::size_t calls = window->task ? 1 : window->calls.size();  // of a place
  const bool kept_before = keeping_;
  const auto exported_before = exported_;
  const OutlinedTask* const task_before = task_before_;
  keeping_ = in_window_ = true;
  if (window->task) exported_.insert(window->task->captures.begin(), window->task->captures.end());
  const uint32_t count = take_slot();
  const uint32_t top = here();
  const uint32_t room = emit(Opcode::ForkRoom);

  std::vector<SlotMap> at_place;  ///< at the end of what runs ahead
  std::vector<uint32_t> to_calls;
  std::vector<uint32_t> leaves;
  for (std::size_t j = 0; j < places; ++j) {
    count_region(loop.condition);
    emit_block(loop.condition);
    leaves.push_back(emit_branch(loop.predicate, false));
    count_region(loop.body);
    emit_task_items(window->ahead);
    at_place.push_back(slot_of_);
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
  } else {
    emit_window_calls(*window, at_place, count);
  }

  std::vector<std::pair<uint32_t, SlotMap>> done;  ///< jumps to the end, with the variables' slots there
  SlotMap variables = outside;
  for (std::size_t j = 0; j < places; ++j) {
    SlotMap here_slots = at_place[j];
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
    slot_of_ = here_slots;
    emit_list(window->rest);
    take_next_values(loop, window->variable_waits, true);
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
  keeping_ = kept_before;
  in_window_ = false;
  exported_ = exported_before;
  task_before_ = task_before;
  return true;
}

/// Whether iterations hand data values to each other, or make some outside of their tasks: then they run in
/// order, since a value that runs ahead may never be read.
bool BodyEmitter::hands_data_on(const LoopShape& loop, const Window& window) const {
  const Ownership& ownership = context_.ownership;
  if (!ownership.has_data()) return false;
  const auto left_outside = [&](const Item& item, const auto& self) -> bool {
    if (window.task && window.task->done.contains(item)) return false;
    if (item.kind != Item::Kind::Conditional) return ownership.touches_data(item);
    const Conditional& conditional = structure_.conditionals[item.index];
    if (ownership.variant_test(conditional.predicate)) return true;
    for (const Join& join : conditional.joins) {
      if (is_data(join.merge)) return true;
    }
    return std::ranges::any_of(conditional.sides, [&](BlockId side) {
      return side.valid() && std::ranges::any_of(structure_[side].items,
                                                 [&](const Item& inner) { return self(inner, self); });
    });
  };
  const auto any_left = [&](const std::vector<Item>& items) {
    return std::ranges::any_of(items, [&](const Item& item) { return left_outside(item, left_outside); });
  };
  for (const LoopShape::Variable& variable : loop.variables) {
    if (is_data(variable.merge)) return true;
  }
  for (const TaskItem& item : window.ahead) {
    if (ownership.touches_data(item.item)) return true;
  }
  for (CallSite site : window.calls) {
    const Item call{.kind = Item::Kind::Call, .index = static_cast<uint32_t>(site.index())};
    if (ownership.touches_data(call)) return true;
  }
  if (window.task && std::ranges::any_of(window.task->results, [&](NodeId value) { return is_data(value); }))
    return true;
  return any_left(structure_[loop.condition].items) || any_left(window.rest);
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

void BodyEmitter::emit_window_calls(const Window& window, std::vector<SlotMap>& at_place, uint32_t count) {
  std::vector<Callee> callees;
  std::vector<std::vector<Argument>> arguments;
  std::vector<uint32_t> results;
  std::vector<uint32_t> constants;
  for (SlotMap& place : at_place) {
    std::swap(slot_of_, place);
    for (CallSite site : window.calls) {
      callees.push_back({.site = site});
      arguments.push_back(arguments_of(site, constants));
      results.push_back(define_results(site));
    }
    std::swap(slot_of_, place);
  }
  const Forked forked = emit_group(callees, arguments, results, {}, count);
  set_jump(forked.over, here());
}

void BodyEmitter::emit_window_tasks(const OutlinedTask& task, std::vector<SlotMap>& at_place,
                                    uint32_t count) {
  const Callee callee{.task = context_.tasks.size()};
  context_.tasks.push_back({function_, Plan::Body::Part::Iteration, task, fork_depth_});
  std::vector<std::vector<Argument>> arguments;
  std::vector<uint32_t> results;
  for (SlotMap& place : at_place) {
    std::vector<Argument>& captured = arguments.emplace_back();
    for (NodeId value : task.captures) captured.push_back({narrow(place.at(value)), 0});
    results.push_back(take_slots(static_cast<uint32_t>(task.results.size())));
    for (std::size_t i = 0; i < task.results.size(); ++i) {
      place[task.results[i]] = results.back() + static_cast<uint32_t>(i);
    }
  }
  const std::vector<Callee> callees(at_place.size(), callee);
  const Forked forked = emit_group(callees, arguments, results, {}, count);
  set_jump(forked.over, here());
}

}  // namespace hiaton::exec::direct
