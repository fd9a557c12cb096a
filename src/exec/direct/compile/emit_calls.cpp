#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "exec/direct/compile/body_emitter.h"
#include "exec/direct/kernel_table.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

/// One constant fits into a call of two or three arguments; where they stand in a list, all do.
std::vector<Argument> BodyEmitter::arguments_of(CallSite site, std::vector<uint32_t>& temporaries) {
  std::vector<Argument> arguments;
  const std::size_t count = graph_[site].calls.size();
  std::size_t constants_left = count > kMostPassed ? count : count == 2 || count == 3 ? 1 : 0;
  for (NodeId call : graph_[site].calls) {
    const OutPort input = graph_[call].inputs[0];
    const NodeId value = structure_.origin(input);
    if (is_in_call(value)) {
      const uint32_t slot = operand(graph_[value].inputs[0]).slot;
      arguments.push_back({narrow(slot), context_.schedule.placements.in_call.at(value)});
      continue;
    }
    const Operand from = operand(input);
    const auto number = static_cast<int16_t>(from.constant.i64);
    if (from.is_constant && constants_left > 0 && number == from.constant.i64) {
      arguments.push_back({direct::kNoSlot, number});
      --constants_left;
    } else {
      arguments.push_back({in_slot(from, temporaries), 0});
    }
  }
  return arguments;
}

void BodyEmitter::release_arguments(CallSite site) {
  for (NodeId call : graph_[site].calls) {
    const OutPort input = graph_[call].inputs[0];
    const NodeId value = structure_.origin(input);
    if (!is_in_call(value)) {
      release(input);
    } else if (!keeping_ && take_read(value) == 0) {
      release(graph_[value].inputs[0]);
    }
  }
}

uint32_t BodyEmitter::define_results(CallSite site) {
  const std::vector<NodeId>& returns = graph_[site].returns;
  const uint32_t first =
      returns.size() == 1 ? result_slot(returns[0]) : take_slots(static_cast<uint32_t>(returns.size()));
  for (std::size_t i = 0; i < returns.size(); ++i) define(returns[i], first + static_cast<uint32_t>(i));
  return first;
}

uint32_t BodyEmitter::emit_call(Opcode one, const Callee& callee, const std::vector<Argument>& arguments,
                                bool forking) {
  HIATON_CHECK(!arguments.empty() || callee.task);
  const std::size_t count = arguments.size();
  const auto constant = std::ranges::find_if(arguments, &Argument::is_constant);
  const bool has_constant = constant != arguments.end();
  const bool fits = !callee.task && count <= kMostPassed && (!has_constant || count == 2 || count == 3);
  constexpr std::size_t kList = kMostPassed;
  const std::size_t form = !fits ? kList : has_constant ? kList + count - 1 : count - 1;
  const uint32_t index = emit(static_cast<Opcode>(static_cast<std::size_t>(one) + form));
  plan_.sites[index] = callee.site;
  EntryReference reference{EntryReference::Kind::Instruction,
                           index,
                           0,
                           function_of(callee),
                           forking,
                           callee.task,
                           callee.to_hole,
                           is_sent(callee)};
  if (callee.to_hole) context_.hole_forms.push_back(function_of(callee));
  if (form == kList) {
    reference.kind = EntryReference::Kind::CallList;
    reference.index = static_cast<uint32_t>(plan_.call_lists.size());
    plan_.call_lists.push_back({nullptr, arguments});
    at(index).calls = &plan_.call_lists.back();
  } else {
    const auto slot_of = [](const Argument& argument) {
      return argument.is_constant() ? uint16_t{0} : argument.slot;
    };
    at(index).a = slot_of(arguments[0]);
    if (count > 1) at(index).b() = slot_of(arguments[1]);
    if (count > 2) at(index).c() = slot_of(arguments[2]);
    for (std::size_t i = 0; i < std::min<std::size_t>(count, 3); ++i) at(index).plus[i] = arguments[i].plus;
    if (count == kMostPassed) at(index).plus[3] = static_cast<int16_t>(arguments[3].slot);
    if (has_constant) at(index).plus[3] = static_cast<int16_t>(constant - arguments.begin());
  }
  context_.entries.push_back(reference);
  return index;
}

void BodyEmitter::emit_nested_call(const Callee& callee, const std::vector<Argument>& arguments,
                                   uint32_t results, const Group* group, bool forking) {
  const bool drawn = context_.options.traced && !callee.task;
  if (drawn) emit(Opcode::BeginCall);
  const uint32_t call = emit_call(Opcode::Call1, callee, arguments, forking);
  at(call).d = narrow(results);
  plan_.groups_at[call] = group;
  if (drawn) emit(Opcode::EndCall);
}

bool BodyEmitter::is_sent(const Callee& callee) const {
  return !callee.task && context_.options.is_sent(graph_, callee.site);
}

graph::FunctionId BodyEmitter::function_of(const Callee& callee) const {
  return callee.task ? function_ : graph_[callee.site].callee;
}

void BodyEmitter::emit_calls(std::span<const Item> items, uint64_t group_start) {
  std::vector<CallSite> sites;
  for (const Item& item : items) sites.emplace_back(item.index);
  std::vector<uint32_t> temporaries;
  std::vector<std::vector<Argument>> arguments;
  for (CallSite site : sites) arguments.push_back(arguments_of(site, temporaries));
  std::vector<OutPort> handed;
  for (CallSite site : sites) std::ranges::copy(handed_to(site), std::back_inserter(handed));
  const Handover handover = hand_on(handed, borrowed_by(items));
  const bool alone = sites.size() == 1;
  if (alone) {
    emit_retains(handover);
    give_back(temporaries);
    release_arguments(sites[0]);
    free_moved(handover);
  }
  // While several calls are under way, the arguments of those not yet started must stay.
  std::vector<uint32_t> results;
  for (CallSite site : sites) results.push_back(define_results(site));
  const auto one_after_another = [&](bool forking) {
    for (std::size_t i = 0; i < sites.size(); ++i) {
      emit_nested_call({.site = sites[i]}, arguments[i], results[i], nullptr, forking);
    }
  };
  if (alone || !forking_ || no_room_ || (keeping_ && !in_task_)) {
    if (!alone && !forking_) sequential_.group_starts[group_start] = here();
    if (!alone) emit_retains(handover);
    one_after_another(forking_ && !no_room_);
  } else {
    std::vector<Callee> callees;
    for (CallSite site : sites) callees.push_back({.site = site});
    const Forked forked = emit_group(callees, arguments, results, handover);
    if (in_task_) {
      set_jump(forked.fork, here());
      emit_retains(handover);
      one_after_another(false);
    } else {
      set_jump(forked.fork, sequential_.group_starts.at(group_start));
    }
    set_jump(forked.over, here());
  }
  if (!alone) {
    give_back(temporaries);
    for (CallSite site : sites) release_arguments(site);
    free_moved(handover);
  }
  for (CallSite site : sites) {
    hold_results(site);
    for (NodeId result : graph_[site].returns) give_back_if_unread(result);
  }
}

/// The values that a call or task gets, by argument.
std::vector<NodeId> BodyEmitter::passed_values(const Callee& callee) const {
  if (callee.task) return context_.tasks[*callee.task].task.captures;
  std::vector<NodeId> values;
  for (NodeId call : graph_[callee.site].calls) values.push_back(structure_.origin(graph_[call].inputs[0]));
  return values;
}

/// Which of them that are counted the callee takes over; a task borrows all that it captures.
std::vector<bool> BodyEmitter::taken_over_arguments(const Callee& callee) const {
  const std::vector<NodeId> values = passed_values(callee);
  std::vector<bool> is_taken_over(values.size(), false);
  for (std::size_t i = 0; i < values.size() && !callee.task; ++i) {
    is_taken_over[i] = is_data(values[i]) && !context_.ownership.is_borrowed(graph_[callee.site].callee, i);
  }
  return is_taken_over;
}

/// What another process has to know of the arguments and results.
void BodyEmitter::describe_types(const Callee& callee, const std::vector<NodeId>& passed,
                                 Group::Call& call) const {
  const std::vector<NodeId>& results =
      callee.task ? context_.tasks[*callee.task].task.results : graph_[callee.site].returns;
  for (NodeId value : passed) call.argument_types.push_back(graph_[value].type);
  for (NodeId value : results) call.result_types.push_back(graph_[value].type);
}

BodyEmitter::Forked BodyEmitter::emit_group(const std::vector<Callee>& callees,
                                            const std::vector<std::vector<Argument>>& arguments,
                                            const std::vector<uint32_t>& results, const Handover& handover,
                                            uint32_t count_slot) {
  const uint32_t number = static_cast<uint32_t>(plan_.groups.size());
  plan_.groups.emplace_back();
  Group& group = plan_.groups.back();
  group.join_slot = narrow(join_slot_);
  const bool counted = count_slot != kNoSlot;
  const uint32_t fork = emit(counted ? Opcode::ForkSome : Opcode::Fork);
  at(fork).group = &group;
  if (counted) at(fork).a = narrow(count_slot);
  emit_retains(handover);  // before the first call: until then nobody asks for one
  for (std::size_t i = 0; i < callees.size(); ++i) {
    emit_nested_call(callees[i], arguments[i], results[i], &group, forking_);
    const Opcode next = counted ? Opcode::NextOfSome : Opcode::Next;
    const uint32_t after = emit(i + 1 < callees.size() ? next : Opcode::Join);
    at(after).a = static_cast<uint16_t>(i + 1);
    if (counted) at(after).d = narrow(count_slot);
    at(after).group = &group;
    std::vector<NodeId> passed = passed_values(callees[i]);
    group.calls.push_back({nullptr, nullptr, arguments[i], {}, taken_over_arguments(callees[i])});
    describe_types(callees[i], passed, group.calls.back());
    context_.passed.push_back({number, static_cast<uint32_t>(i), std::move(passed)});
    context_.entries.push_back({EntryReference::Kind::GroupCall, number, static_cast<uint32_t>(i),
                                function_of(callees[i]), true, callees[i].task, false, is_sent(callees[i])});
  }
  const uint32_t over = emit(Opcode::Jump);
  for (std::size_t i = 0; i < callees.size(); ++i) {
    const uint32_t names_results = emit(Opcode::Header);
    at(names_results).d = narrow(results[i]);
    plan_.sites[names_results] = callees[i].site;
    const uint32_t resume = emit(Opcode::StolenReturn);
    at(resume).group = &group;
    context_.code_references.push_back({number, static_cast<uint32_t>(i), resume});
  }
  context_.code_references.push_back({number, CodeReference::kJoined, over});
  return {fork, over};
}

void BodyEmitter::emit_tail_call(CallSite site) {
  std::vector<uint32_t> temporaries;
  std::vector<Argument> arguments = arguments_of(site, temporaries);
  hand_on_now(handed_to(site));
  drop_dead();
  if (to_hole_) arguments.push_back({narrow(hole_slot_), 0});
  if (fuse_next_field(site, arguments)) return give_back(temporaries);
  emit_call(Opcode::TailCall1, {.site = site, .to_hole = to_hole_}, arguments, forking_);
  give_back(temporaries);
}

/// All other parameters but one to which a number is added stay as they are. Functions with groups go on with
/// a call, which can change to the forking form.
bool BodyEmitter::fuse_next_field(CallSite site, const std::vector<Argument>& arguments) {
  if (graph_[site].callee != function_ || in_task_ || context_.schedule.has_groups[function_.index()])
    return false;
  const uint32_t last = here() - 1;
  if (plan_.opcodes[last] != Opcode::Field || last_label_ == here()) return false;
  std::optional<uint16_t> next;
  Argument counter{};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    if (argument.slot == i && argument.plus == 0) continue;
    if (argument.slot == at(last).d && argument.plus == 0 && !next) {
      next = static_cast<uint16_t>(i);
    } else if (argument.slot == i && counter.plus == 0) {
      counter = argument;
    } else {
      return false;
    }
  }
  if (!next) return false;
  plan_.opcodes[last] = Opcode::NextField;
  at(last).d = *next;
  at(last).plus[0] = static_cast<int16_t>(counter.slot);
  at(last).plus[1] = counter.plus;
  at(last).jump = static_cast<int32_t>(entry_) - static_cast<int32_t>(last);
  return true;
}

}  // namespace hiaton::exec::direct
