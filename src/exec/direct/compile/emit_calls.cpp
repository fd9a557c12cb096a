#include <algorithm>

#include "base/check.h"
#include "exec/direct/compile/body_emitter.h"
#include "exec/direct/kernel_table.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

std::vector<Argument> BodyEmitter::arguments_of(const ScheduledCall& call) {
  const std::vector<bool> held = held_arguments(graph_, structure_, call);
  std::vector<Argument> arguments;
  for (std::size_t i = 0; i < held.size(); ++i) {
    const PassedValue& passed = call.arguments[i];
    const Operand from = operand(passed.port);
    if (passed.sum.valid()) {
      arguments.push_back({narrow(from.slot), passed.plus});
    } else if (held[i]) {
      arguments.push_back({direct::kNoSlot, static_cast<int16_t>(from.constant.i64)});
    } else {
      arguments.push_back({in_slot(from), 0});
    }
  }
  return arguments;
}

uint32_t BodyEmitter::define_results(const ScheduledCall& call) {
  const uint32_t first = reader_.next_value();
  const std::vector<NodeId>& results = results_of(call);
  for (std::size_t i = 0; i < results.size(); ++i) slot_of_[results[i]] = first + static_cast<uint32_t>(i);
  return first;
}

uint32_t BodyEmitter::emit_call(Opcode one, const ScheduledCall& call, const std::vector<Argument>& arguments,
                                bool forking) {
  HIATON_CHECK(!arguments.empty() || call.task);
  const std::size_t count = arguments.size();
  const auto constant = std::ranges::find_if(arguments, &Argument::is_constant);
  const bool has_constant = constant != arguments.end();
  const bool fits = !call.task && count <= kMostPassed && (!has_constant || count == 2 || count == 3);
  constexpr std::size_t kList = kMostPassed;
  const std::size_t form = !fits ? kList : has_constant ? kList + count - 1 : count - 1;
  const uint32_t index = emit(static_cast<Opcode>(static_cast<std::size_t>(one) + form));
  plan_.sites[index] = call.site;
  EntryReference reference{EntryReference::Kind::Instruction,
                           index,
                           0,
                           function_of(call),
                           forking,
                           call.task,
                           call.to_hole,
                           is_sent(call)};
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

void BodyEmitter::emit_nested_call(const ScheduledCall& call, const std::vector<Argument>& arguments,
                                   uint32_t results, const Group* group, bool forking) {
  const bool drawn = context_.options.traced && !call.task;
  if (drawn) emit(Opcode::BeginCall);
  const uint32_t index = emit_call(Opcode::Call1, call, arguments, forking);
  at(index).d = narrow(results);
  plan_.groups_at[index] = group;
  if (drawn) emit(Opcode::EndCall);
}

bool BodyEmitter::is_sent(const ScheduledCall& call) const {
  return !call.task && context_.options.is_sent(graph_, call.site);
}

graph::FunctionId BodyEmitter::function_of(const ScheduledCall& call) const {
  return call.task ? function_ : graph_[call.site].callee;
}

void BodyEmitter::emit_statement(const statements::Calls& scheduled) {
  std::vector<const ScheduledCall*> calls;
  std::vector<std::vector<Argument>> arguments;
  for (const ScheduledCall& call : scheduled.calls) {
    calls.push_back(&call);
    arguments.push_back(arguments_of(call));
  }
  const Handover& handover = scheduled.handover;
  forget_params(handover.moved);
  const bool alone = calls.size() == 1;
  if (alone) emit_retains(handover);
  std::vector<uint32_t> results;
  for (const ScheduledCall* call : calls) results.push_back(define_results(*call));
  const auto one_after_another = [&](bool forking) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      emit_nested_call(*calls[i], arguments[i], results[i], nullptr, forking);
    }
  };
  if (scheduled.is_group) {
    const Forked forked = emit_group(calls, arguments, results, handover);
    if (in_task_) {
      set_jump(forked.fork, here());
      emit_retains(handover);
      one_after_another(false);
    } else {
      set_jump(forked.fork, sequential_.group_starts.at(scheduled.group));
    }
    set_jump(forked.over, here());
  } else {
    if (!alone && !body_.forking) sequential_.group_starts[scheduled.group] = here();
    if (!alone) emit_retains(handover);
    one_after_another(scheduled.forking);
  }
}

std::vector<graph::NodeId> BodyEmitter::passed_values(const ScheduledCall& call) const {
  if (call.task) return context_.schedule.tasks[*call.task].task.captures;
  std::vector<NodeId> values;
  for (NodeId argument : graph_[call.site].calls)
    values.push_back(structure_.origin(graph_[argument].inputs[0]));
  return values;
}

Group::Call BodyEmitter::describe(const ScheduledCall& call, const std::vector<Argument>& arguments,
                                  const std::vector<NodeId>& passed) const {
  Group::Call described{nullptr, nullptr, arguments, {}, call.is_taken_over};
  for (NodeId value : passed) described.argument_types.push_back(graph_[value].type);
  for (NodeId value : results_of(call)) described.result_types.push_back(graph_[value].type);
  return described;
}

BodyEmitter::Forked BodyEmitter::emit_group(std::span<const ScheduledCall* const> calls,
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
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const ScheduledCall& call = *calls[i];
    emit_nested_call(call, arguments[i], results[i], &group, body_.forking);
    const Opcode next = counted ? Opcode::NextOfSome : Opcode::Next;
    const uint32_t after = emit(i + 1 < calls.size() ? next : Opcode::Join);
    at(after).a = static_cast<uint16_t>(i + 1);
    if (counted) at(after).d = narrow(count_slot);
    at(after).group = &group;
    std::vector<NodeId> passed = passed_values(call);
    group.calls.push_back(describe(call, arguments[i], passed));
    context_.passed.push_back({number, static_cast<uint32_t>(i), std::move(passed)});
    context_.entries.push_back({EntryReference::Kind::GroupCall, number, static_cast<uint32_t>(i),
                                function_of(call), true, call.task, false, is_sent(call)});
  }
  const uint32_t over = emit(Opcode::Jump);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const uint32_t names_results = emit(Opcode::Header);
    at(names_results).d = narrow(results[i]);
    plan_.sites[names_results] = calls[i]->site;
    const uint32_t resume = emit(Opcode::StolenReturn);
    at(resume).group = &group;
    context_.code_references.push_back({number, static_cast<uint32_t>(i), resume});
  }
  context_.code_references.push_back({number, CodeReference::kJoined, over});
  return {fork, over};
}

void BodyEmitter::emit_statement(const statements::TailCall& tail) {
  std::vector<Argument> arguments = arguments_of(tail.call);
  emit_leave(tail.leave);
  if (tail.call.to_hole) arguments.push_back({narrow(hole_slot_), 0});
  if (fuse_next_field(tail.call.site, arguments)) return;
  emit_call(Opcode::TailCall1, tail.call, arguments, body_.forking);
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
