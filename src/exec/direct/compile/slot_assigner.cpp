#include "exec/direct/compile/slot_assigner.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "exec/direct/compile/operation_kinds.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

// --- Bodies ----------------------------------------------------------------------------------------------

void SlotAssigner::run(ScheduledBody& body) {
  to_hole_ = body.to_hole;
  for (OutPort param : graph_[function_].params) {
    place(param.node, slots_.take());
    body.slots.entered.push_back(slot_of_.at(param.node));
  }
  if (to_hole_) body.slots.hole = checked(slots_.take());  // the last argument
  load_parameters(body.slots);
  if (schedule_.has_groups[function_.index()]) body.slots.join = checked(slots_.take());
  run(body.statements);
  body.slots.count = std::max(slots_.count(), body.forking ? kept_slots_ : 0);
}

void SlotAssigner::run_task(ScheduledTask& task) {
  keeping_ = true;
  for (NodeId value : task.task.captures) {
    place(value, take_slot());
    task.slots.entered.push_back(slot_of_.at(value));
  }
  task.slots.join = checked(take_slot());
  load_parameters(task.slots);
  run(task.statements);
  noted_ = &task.slots.at_end;
  leave(task.leave);
  noted_ = nullptr;
  task.slots.count = kept_slots_;
}

void SlotAssigner::load_parameters(BodySlots& slots) {
  if (graph_.parameters().empty()) return;
  for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
    const Node& node = graph_.nodes()[n];
    if (node.function != function_ || node.kind != NodeKind::Const || node.parameter < 0) continue;
    const auto [slot, is_new] = slots.loaded.try_emplace(node.parameter, 0);
    if (is_new) slot->second = take_slot();
    place(NodeId(n), slot->second);
  }
}

// --- Slots -----------------------------------------------------------------------------------------------

uint32_t SlotAssigner::take_slots(uint32_t count) {
  if (!keeping_) {
    // On the second of two ways, slots that the first has freed still hold values.
    return count == 1 && !frees_slots_ ? slots_.take_new() : slots_.take_run(count);
  }
  next_kept_slot_ += count;
  kept_slots_ = std::max(kept_slots_, next_kept_slot_);
  return next_kept_slot_ - count;
}

uint32_t SlotAssigner::checked(uint32_t slot) const {
  if (slot >= std::numeric_limits<uint16_t>::max()) throw TooManySlots{function_};
  return slot;
}

uint32_t SlotAssigner::temporary(uint32_t slot) {
  noted_->temporaries.push_back(checked(slot));
  return slot;
}

void SlotAssigner::place(NodeId value, uint32_t slot) {
  slot_of_[value] = checked(slot);
  depth_of_[value] = depth_;
}

void SlotAssigner::define(NodeId value, uint32_t slot) {
  place(value, slot);
  noted_->values.push_back(slot);
}

void SlotAssigner::give_back(Temporaries& temporaries) {
  for (uint32_t slot : temporaries) {
    if (!keeping_) slots_.give_back(slot);
  }
  temporaries.clear();
}

Operand SlotAssigner::operand(OutPort port) const {
  if (is_known(port)) return {true, graph_[structure_.origin(port)].constant.slot()};
  return {false, Slot(), slot_of_.at(structure_.origin(port))};
}

void SlotAssigner::in_slot(OutPort port, Temporaries& temporaries) {
  if (is_known(port)) temporaries.push_back(temporary(take_slot()));
}

void SlotAssigner::move(std::vector<Move> moves) {
  Temporaries asides;
  const auto take_aside = [&] {
    asides.push_back(temporary(take_slot()));
    return asides.back();
  };
  make_moves(std::move(moves), take_aside, [](uint32_t, const Operand&) {});
  give_back(asides);
}

// --- Values ----------------------------------------------------------------------------------------------

bool SlotAssigner::is_param(NodeId value) const {
  return std::ranges::any_of(graph_[function_].params, [&](OutPort param) { return param.node == value; });
}

uint32_t SlotAssigner::reads_left(NodeId value) {
  return reads_left_.try_emplace(value, lifetimes_.reads[value.index()]).first->second;
}

uint32_t SlotAssigner::body_reads_left(NodeId variable) {
  return body_reads_left_.try_emplace(variable, lifetimes_.body_reads[variable.index()]).first->second;
}

void SlotAssigner::release(OutPort port) {
  if (keeping_) return;
  const NodeId value = structure_.origin(port);
  if (graph_[value].kind == NodeKind::Const || is_counted(value)) return;
  if (const auto found = body_of_variable_.find(value); found != body_of_variable_.end() && found->second) {
    body_reads_left(value);
    --body_reads_left_[value];
  }
  release_value(value);
}

void SlotAssigner::release_all(const graph::OutPorts& ports) {
  for (OutPort port : ports) release(port);
}

void SlotAssigner::release_value(NodeId value) {
  if (keeping_ || is_counted(value)) return;  // of counted values the statements know
  HIATON_CHECK(reads_left(value) > 0);
  if (take_read(value) == 0 && !is_param(value)) give_back_slot(value);
}

void SlotAssigner::give_back_slot(NodeId value) {
  if (shares_slot_.contains(value)) return;  // the value it was written for gives it back
  slots_.give_back(slot_of_.at(value));
}

void SlotAssigner::give_back_if_unread(NodeId value) {
  if (!keeping_ && !is_counted(value) && reads_left(value) == 0) give_back_slot(value);
}

void SlotAssigner::free_slot(NodeId value) {
  if (keeping_ || !frees_slots_ || is_param(value) || shares_slot_.contains(value)) return;
  const uint32_t slot = slot_of_.at(value);
  if (depth_of_.at(value) == depth_) {
    slots_.give_back(slot);
  } else {
    parked_.back()[slot] = depth_of_.at(value);  // the other side of the branch may still read it
  }
}

void SlotAssigner::free_moved(const Handover& handover) {
  for (NodeId value : handover.moved) free_slot(value);
}

void SlotAssigner::drop(std::span<const Drop> drops) {
  for (const Drop& drop : drops) visit(drop);
}

void SlotAssigner::leave(const Leave& leave) {
  free_moved(leave.handover);
  drop(leave.drops);
}

uint32_t SlotAssigner::result_slot(NodeId value) {
  if (const auto join = wanted_in_.find(value); join != wanted_in_.end()) {
    if (!keeping_) shares_slot_.insert(value);
    return join->second;
  }
  if (const auto variable = next_of_.find(value);
      !keeping_ && variable != next_of_.end() && body_reads_left(variable->second) == 0) {
    shares_slot_.insert(value);
    return slot_of_.at(variable->second);
  }
  return take_slot();
}

void SlotAssigner::give_result(NodeId value) {
  define(value, result_slot(value));
  give_back_if_unread(value);
}

void SlotAssigner::open_branch() {
  ++depth_;
  parked_.emplace_back();
}

void SlotAssigner::close_branch() {
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

// --- Statements ------------------------------------------------------------------------------------------

void SlotAssigner::run(Statements& statements) {
  StatementSlots* const around = noted_;
  for (Statement& statement : statements) {
    if (statement.slots.size() <= place_) statement.slots.resize(place_ + 1);
    noted_ = &statement.slots[place_];
    std::visit([&](auto& what) { visit(what); }, statement.what);
  }
  noted_ = around;
}

void SlotAssigner::visit(const Drop& drop) {
  if (drop.kind == Drop::Kind::TakeApart) {
    take(drop.value, static_cast<uint32_t>(graph_[drop.fields[0]].attributes[0]), drop.fields);
  }
  free_slot(drop.value);
}

void SlotAssigner::visit(const statements::Compute& compute) {
  if (compute.where != statements::Compute::Where::Here) return;
  const Node& node = graph_[compute.node];
  const bool reads_string = is_string_length(node) || is_code_point(node);
  if (!reads_string && !is_tensor_operation(graph_, structure_, node)) {
    if (has_kernel(graph_, structure_, node)) return compute_kernel(compute.node);
    if (has_role(node, Role::Make)) return make(compute);
    if (!has_role(node, Role::Variant)) return copy(compute);
  }
  Temporaries temporaries;
  const std::size_t operands = is_string_length(node) ? 1 : node.inputs.size();
  for (std::size_t i = 0; i < operands; ++i) in_slot(node.inputs[i], temporaries);
  if (has_role(node, Role::Variant) && !reads_string) {
    define(compute.node, result_slot(compute.node));
    give_back(temporaries);
    return give_back_if_unread(compute.node);
  }
  give_back(temporaries);
  for (std::size_t i = 0; i < compute.takes.size(); ++i) {
    if (compute.takes[i]) take_operand(structure_.origin(node.inputs[i]));
  }
  release_all(node.inputs);
  give_result(compute.node);
}

/// The last reader takes a value: where that is a variable of the loop around, its next value may have its
/// slot.
void SlotAssigner::take_operand(NodeId value) {
  if (const auto found = body_of_variable_.find(value); found != body_of_variable_.end() && found->second)
    body_reads_left_[value] = 0;
  free_slot(value);
}

void SlotAssigner::compute_kernel(NodeId id) {
  const Node& node = graph_[id];
  const auto held = held_operands(graph_, structure_, node, overflow_);
  Temporaries temporaries;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!held[i]) in_slot(node.inputs[i], temporaries);
  }
  give_back(temporaries);
  release_all(node.inputs);
  give_result(id);
}

void SlotAssigner::make(const statements::Compute& compute) {
  const Node& node = graph_[compute.node];
  if (!node.inputs.empty()) {
    Temporaries temporaries;
    fields_in_slots(node, temporaries);
    free_moved(compute.handover);
    give_back(temporaries);
    release_all(node.inputs);
  }
  define(compute.node, result_slot(compute.node));
}

void SlotAssigner::fields_in_slots(const Node& make, Temporaries& temporaries) {
  const std::optional<std::size_t> held = held_field(graph_, structure_, make);
  for (std::size_t i = 0; i < make.inputs.size(); ++i) {
    if (i != held) in_slot(make.inputs[i], temporaries);
  }
}

/// Gives a value on; operations that print it or settle it first look at another one, too.
void SlotAssigner::copy(const statements::Compute& compute) {
  const Node& node = graph_[compute.node];
  Temporaries temporaries;
  if (has_role(node, Role::Settle)) in_slot(node.inputs[0], temporaries);
  if (has_role(node, Role::Settle) || has_role(node, Role::Print)) in_slot(node.inputs[1], temporaries);
  give_back(temporaries);
  free_moved(compute.handover);
  release_all(node.inputs);
  give_result(compute.node);
}

void SlotAssigner::visit(const statements::ReadFields& reads) {
  Temporaries temporaries;
  in_slot({reads.value, 0}, temporaries);
  for (NodeId field : reads.fields) define(field, result_slot(field));
  give_back(temporaries);
  if (!reads.takes_apart) return;
  take(reads.value, reads.variant, reads.earlier, reads.fields);
  free_slot(reads.value);
}

bool may_refer(const Type& type) {
  if (!type.is_data()) return type.is_tensor();
  return std::ranges::any_of(type.data->variants,
                             [](const Variant& variant) { return !variant.fields.empty(); });
}

void SlotAssigner::take(NodeId value, uint32_t variant, std::span<const NodeId> first,
                        std::span<const NodeId> more) {
  const Type& type = graph_[value].type;
  std::vector<bool> is_read(type.data->variants[variant].fields.size(), false);
  for (const std::span<const NodeId> fields : {first, more}) {
    for (NodeId field : fields) {
      const auto number = static_cast<std::size_t>(graph_[field].attributes[1]);
      // A field of another variant is live only where the branches around contradict each other.
      if (number < is_read.size()) is_read[number] = true;
    }
  }
  Temporaries temporaries;
  bool has_unread = false;  // one slot serves all that are not released either
  for (std::size_t i = 0; i < is_read.size(); ++i) {
    if (is_read[i]) continue;
    const bool is_released = may_refer(field_type(type, variant, i));
    if (!is_released && has_unread) continue;
    temporaries.push_back(temporary(take_slot()));
    has_unread = has_unread || !is_released;
  }
  give_back(temporaries);
}

// --- Calls -----------------------------------------------------------------------------------------------

void SlotAssigner::pass(const ScheduledCall& call, Temporaries& temporaries) {
  const std::vector<bool> held = held_arguments(graph_, structure_, call);
  for (std::size_t i = 0; i < held.size(); ++i) {
    const PassedValue& passed = call.arguments[i];
    if (!passed.sum.valid() && !held[i]) in_slot(passed.port, temporaries);
  }
}

void SlotAssigner::release_arguments(const ScheduledCall& call) {
  for (const PassedValue& passed : call.arguments) {
    if (!passed.sum.valid() || (!keeping_ && take_read(passed.sum) == 0)) release(passed.port);
  }
}

void SlotAssigner::define_results(const ScheduledCall& call) {
  const std::vector<NodeId>& results = results_of(schedule_, graph_, call);
  const uint32_t first = !call.task && results.size() == 1
                             ? result_slot(results[0])
                             : take_slots(static_cast<uint32_t>(results.size()));
  noted_->values.push_back(checked(first));
  for (std::size_t i = 0; i < results.size(); ++i) place(results[i], first + static_cast<uint32_t>(i));
}

void SlotAssigner::visit(const statements::Calls& scheduled) {
  Temporaries temporaries;
  for (const ScheduledCall& call : scheduled.calls) pass(call, temporaries);
  // While several calls are under way, the arguments of those not yet started must stay.
  const auto end_arguments = [&] {
    give_back(temporaries);
    for (const ScheduledCall& call : scheduled.calls) release_arguments(call);
    free_moved(scheduled.handover);
  };
  const bool alone = scheduled.calls.size() == 1;
  if (alone) end_arguments();
  for (const ScheduledCall& call : scheduled.calls) define_results(call);
  if (!alone) end_arguments();
  for (const ScheduledCall& call : scheduled.calls) {
    for (NodeId result : results_of(schedule_, graph_, call)) give_back_if_unread(result);
  }
}

/// Tasks give their results into slots behind those of the sequential form: while they run, the items that
/// are not yet started need their operands.
void SlotAssigner::visit(statements::Fork& fork) {
  const bool kept_before = std::exchange(keeping_, true);
  const uint32_t next_kept_before = next_kept_slot_;
  for (const statements::Fork::Worth& worth : fork.worth) look_at(worth.condition);
  Temporaries constants;
  for (const ScheduledCall& call : fork.calls) {
    pass(call, constants);
    temporary(take_slots(static_cast<uint32_t>(results_of(schedule_, graph_, call).size())));
  }
  keeping_ = kept_before;
  run(fork.alone);
  frees_slots_ = false;  // the statements above have freed them
  keeping_ = true;
  drop(fork.drops);
  keeping_ = kept_before;
  frees_slots_ = true;
  if (!keeping_) next_kept_slot_ = next_kept_before;
}

// --- The ends of a body ----------------------------------------------------------------------------------

void SlotAssigner::visit(const statements::Return& ends) {
  if (ends.operation.valid()) return;
  Temporaries temporaries;
  // Constants get slots of their own before those of what moves are free.
  if (ends.results.size() != 1) {
    for (OutPort result : ends.results) in_slot(result, temporaries);
  }
  leave(ends.leave);
  if (to_hole_) {
    in_slot(ends.results[0], temporaries);
  } else if (ends.results.size() != 1) {
    give_back(temporaries);
  }
}

void SlotAssigner::visit(const statements::TailCall& tail) {
  Temporaries temporaries;
  pass(tail.call, temporaries);
  leave(tail.leave);
  give_back(temporaries);
}

/// The slots of what moves stay: the function ends here.
void SlotAssigner::visit(const statements::TailConstructor& tail) {
  Temporaries temporaries;
  pass(tail.call, temporaries);
  temporary(take_slot());  // the hole
  for (const HoleIn& made : tail.makes) {
    fields_in_slots(graph_[made.make], temporaries);
    temporary(take_slot());  // the new value
  }
  drop(tail.leave.drops);
  if (!to_hole_) temporary(take_slot());  // the result, which nobody reads
}

// --- All bodies ------------------------------------------------------------------------------------------

void assign_slots(Schedule& schedule, const Graph& graph, const Structure& structure,
                  const Lifetimes& lifetimes, OverflowMode overflow) {
  uint32_t sequential = 0;
  for (ScheduledBody& body : schedule.bodies) {
    if (!body.forking) sequential = 0;
    SlotAssigner(schedule, graph, structure, lifetimes, overflow, body.function, sequential).run(body);
    if (!body.forking) sequential = body.slots.count;
    for (std::size_t task = body.first_task; task < body.end_task; ++task) {
      SlotAssigner(schedule, graph, structure, lifetimes, overflow, body.function, 0)
          .run_task(schedule.tasks[task]);
    }
  }
}

}  // namespace hiaton::exec::direct
