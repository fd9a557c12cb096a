#include "exec/direct/compile/schedule_body.h"

#include <algorithm>
#include <iterator>

#include "exec/direct/compile/operation_kinds.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

Statements BodyScheduler::run() {
  begin_params();
  schedule_tail(structure_.bodies[function_.index()], context_.schedule.ending(function_, forking_));
  return std::move(statements_);
}

void BodyScheduler::count(BlockId block) {
  if (context_.options.count_regions) append(statements::Count{block});
}

void BodyScheduler::schedule_block(BlockId block) {
  if (block.valid()) schedule_list(structure_[block].items);
}

void BodyScheduler::schedule_list(std::span<const Item> items) {
  expect(items);
  schedule_expected(items);
}

void BodyScheduler::schedule_expected(std::span<const Item> items) {
  for (std::size_t i = 0; i < items.size();) {
    i = schedule_items(items, i);
    append_drops();
  }
}

void BodyScheduler::schedule_tail(BlockId block, const Ending& ending) {
  const std::span<const Item> items =
      block.valid() ? std::span<const Item>(structure_[block].items) : std::span<const Item>();
  if (to_hole_ && ending.kind == Ending::Kind::TailCall && is_sent(CallSite(items.back().index))) {
    Ending own = ending;  // another process cannot write to the hole
    own.kind = Ending::Kind::Return;
    ++own.items;
    return schedule_tail(block, own);
  }
  expect(ending.results);
  block_ = block;
  if (block.valid()) {
    expect(items);
    append_drops();
    count(block);
  }
  // What goes to a hole is computed first: the instruction that returns it computes nothing.
  const NodeId operation = to_hole_ ? NodeId() : ending.operation;
  if (operation.valid()) returned_.insert(operation);
  // What the last conditional is beside runs without it.
  const bool branches = ending.kind == Ending::Kind::Branch;
  const std::span<const Item> before = branches ? items.first(ending.items) : items;
  for (std::size_t i = 0; i < ending.items;) {
    i = schedule_items(before, i);
    append_drops();
  }
  switch (ending.kind) {
    case Ending::Kind::Branch:
      met(ending.results);
      met(items.back());
      dying_.clear();  // each side of it knows which values are dead there
      return schedule_tail_conditional(items.back(), ending);
    case Ending::Kind::TailConstructor:
      return schedule_constructor_tail(items, ending);
    case Ending::Kind::TailCall: {
      met(ending.results);
      met(items.back());
      const CallSite site(items.back().index);
      ScheduledCall call = call_of(site);
      call.to_hole = to_hole_;
      if (to_hole_) context_.hole_forms.push_back(graph_[site].callee);
      return append(statements::TailCall{std::move(call), leave_with(handed_to(site))});
    }
    case Ending::Kind::Return:
    case Ending::Kind::ReturnOperation:
      append_drops();
      met(ending.results);
      return append(statements::Return{ending.results, operation,
                                       operation.valid() ? Leave() : leave_with(ending.results)});
  }
}

void BodyScheduler::schedule_constructor_tail(std::span<const Item> items, const Ending& ending) {
  const CallSite site(items[ending.items].index);
  for (const Item& item : items.subspan(ending.items)) met(item);
  met(ending.results);
  statements::TailConstructor tail{
      .call = call_of(site), .makes = ending.makes, .leave = {}, .forking = false};
  tail.call.to_hole = true;
  tail.forking = forking_ && !no_room_;
  context_.hole_forms.push_back(graph_[site].callee);
  std::vector<OutPort> handed = handed_to(site);
  for (const HoleIn& made : ending.makes) {
    const auto& inputs = graph_[made.make].inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (i != made.field) handed.push_back(inputs[i]);
    }
  }
  tail.leave.handover = hand_on(handed, borrowed_by(items.subspan(ending.items, 1)));
  tail.leave.drops = dead_values();
  append(std::move(tail));
}

std::size_t BodyScheduler::schedule_items(std::span<const Item> items, std::size_t i) {
  if (early_.erase(items[i].key()) > 0) return i + 1;
  if (is_done(items[i])) {
    met(items[i]);
    return i + 1;
  }
  std::size_t end = i + 1;
  while (end < items.size() && items[end].group == items[i].group) ++end;
  const std::span<const Item> group = items.subspan(i, end - i);
  if (forks(group)) {
    schedule_fork(group);
    return end;
  }
  if (!forking_ && group.size() > 1) append(statements::GroupBegins{group[0].key()});
  if (items[i].kind == Item::Kind::Call) {
    std::vector<Item> calls;
    for (; i < end && items[i].kind == Item::Kind::Call; ++i) {
      met(items[i]);
      if (!is_done(items[i])) calls.push_back(items[i]);
    }
    schedule_calls(calls, group[0].key());
    return i;
  }
  met(items[i]);
  switch (items[i].kind) {
    case Item::Kind::Op:
      schedule_op(NodeId(items[i].index), items.subspan(i + 1));
      break;
    case Item::Kind::Conditional:
      schedule_conditional(items[i]);
      break;
    case Item::Kind::Loop:
      schedule_loop(LoopId(items[i].index));
      break;
    case Item::Kind::Call:
      break;
  }
  return i + 1;
}

void BodyScheduler::schedule_op(NodeId id, std::span<const Item> rest) {
  using Where = statements::Compute::Where;
  const Node& node = graph_[id];
  if (is_tensor_operation(graph_, structure_, node)) return schedule_tensor_op(id);
  const bool is_string_read = is_string_length(node) || is_code_point(node);
  if (!is_string_read && !has_kernel(graph_, structure_, node)) return schedule_data_op(id, rest);
  const Where where = is_string_read           ? Where::Here
                      : returned_.contains(id) ? Where::InReturn
                      : is_in_branch(id)       ? Where::InBranch
                      : is_in_call(id)         ? Where::InCall
                                               : Where::Here;
  append(statements::Compute{.node = id, .where = where});
  if (where == Where::Here) define(id);
}

/// The operands that nothing reads after it are let go of by the instruction itself.
void BodyScheduler::schedule_tensor_op(NodeId id) {
  statements::Compute operation{.node = id};
  for (OutPort input : graph_[id].inputs) {
    const NodeId value = structure_.origin(input);
    const auto held = held_.find(value);
    const bool takes = held != held_.end() && held->second.owned && pending_[value] == 0;
    if (takes) held_.erase(held);
    operation.takes.push_back(takes);
  }
  append(std::move(operation));
  define(id);
  if (is_data(id)) hold(id, true);
}

void BodyScheduler::schedule_data_op(NodeId id, std::span<const Item> rest) {
  const Node& node = graph_[id];
  if (has_role(node, Role::Field)) return schedule_fields(id, rest);
  statements::Compute operation{.node = id};
  if (has_role(node, Role::Make)) {
    operation.handover = hand_on(node.inputs);
  } else if (has_role(node, Role::Variant)) {
    if (is_only_tested(id)) operation.where = statements::Compute::Where::InBranch;
  } else if (has_role(node, Role::Print) || has_role(node, Role::Settle) || has_role(node, Role::PassAfter) ||
             has_role(node, Role::Identity)) {
    if (is_data(id)) operation.handover = hand_on(std::span(node.inputs).first(1));
  } else {
    throw Unplannable{"an operation has no kernel for scalars"};
  }
  const bool is_here = operation.where == statements::Compute::Where::Here;
  append(std::move(operation));
  if (!is_here) return;
  define(id);
  if (is_data(id)) hold(id, true);
}

/// The fields of one value that the block reads are read together: where nothing else reads the value after
/// them, it is taken apart.
void BodyScheduler::schedule_fields(NodeId id, std::span<const Item> rest) {
  const Node& first = graph_[id];
  const NodeId value = structure_.origin(first.inputs[0]);
  const auto variant = static_cast<uint32_t>(first.attributes[0]);
  std::vector<NodeId> fields{id};
  for (const Item& item : rest) {
    if (item.kind != Item::Kind::Op || is_done(item)) continue;
    const Node& node = graph_[NodeId(item.index)];
    const bool same = has_role(node, Role::Field) && structure_.origin(node.inputs[0]) == value &&
                      static_cast<uint32_t>(node.attributes[0]) == variant;
    if (!same || !early_.insert(item.key()).second) continue;
    fields.emplace_back(item.index);
    met(item);
  }
  const bool is_constant = graph_[value].kind == NodeKind::Const;  // whoever has the graph holds it
  statements::ReadFields reads{.node = id, .value = value, .variant = variant};
  reads.requires_variant = !ownership_.is_known_variant(structure_.block_of[id.index()], value, variant);
  reads.takes_apart = !is_constant && held_.at(value).owned && pending_[value] == 0;
  if (reads.takes_apart) {
    reads.earlier = live_fields_of(value);
    for (NodeId field : reads.earlier) take_over(field);
  }
  for (NodeId field : fields) {
    const bool data = is_data(field);
    if (data ? pending_[field] == 0 : context_.lifetimes.reads[field.index()] == 0) continue;
    reads.fields.push_back(field);
    define(field);
    if (data) hold(field, reads.takes_apart, reads.takes_apart || is_constant ? NodeId() : value);
  }
  if (reads.takes_apart) held_.erase(value);
  append(std::move(reads));
}

ScheduledCall BodyScheduler::call_of(CallSite site) const {
  ScheduledCall scheduled{.site = site};
  const graph::Site& call = graph_[site];
  for (std::size_t i = 0; i < call.calls.size(); ++i) {
    const OutPort input = graph_[call.calls[i]].inputs[0];
    const NodeId value = structure_.origin(input);
    if (is_in_call(value)) {
      scheduled.arguments.push_back(
          {graph_[value].inputs[0], context_.schedule.placements.in_call.at(value), value});
    } else {
      scheduled.arguments.push_back({input});
    }
    scheduled.is_taken_over.push_back(is_data(value) && !ownership_.is_borrowed(call.callee, i));
  }
  return scheduled;
}

void BodyScheduler::schedule_calls(std::span<const Item> items, uint64_t group) {
  statements::Calls together{.forking = forking_ && !no_room_, .group = group};
  std::vector<OutPort> handed;
  for (const Item& item : items) {
    together.calls.push_back(call_of(CallSite(item.index)));
    std::ranges::copy(handed_to(CallSite(item.index)), std::back_inserter(handed));
  }
  together.handover = hand_on(handed, borrowed_by(items));
  together.is_group = items.size() > 1 && together.forking && (!in_window_ || in_task_);
  append(std::move(together));
  for (const Item& item : items) {
    for (NodeId result : graph_[CallSite(item.index)].returns) define(result);
    hold_results(CallSite(item.index));
  }
}

void schedule_bodies(ScheduleContext& context) {
  Schedule& schedule = context.schedule;
  const auto add = [&](FunctionId function, bool forking, bool to_hole) {
    ScheduledBody& body = schedule.bodies.emplace_back(ScheduledBody{function, forking, to_hole});
    body.first_task = schedule.tasks.size();
    body.statements = BodyScheduler(context, function, forking, to_hole).run();
    for (std::size_t i = body.first_task; i < schedule.tasks.size(); ++i) {
      BodyScheduler(context, function, forking, false).run_task(schedule.tasks[i]);
    }
    body.end_task = schedule.tasks.size();
  };
  const auto add_forms = [&](FunctionId function, bool to_hole) {
    add(function, false, to_hole);
    if (schedule.forks[function.index()]) add(function, true, to_hole);
  };
  for (std::size_t f = 0; f < context.graph.functions().size(); ++f) {
    if (context.structure.functions[f]) add_forms(FunctionId(f), false);
  }
  std::unordered_set<FunctionId> added;
  while (!context.hole_forms.empty()) {
    const FunctionId function = context.hole_forms.back();
    context.hole_forms.pop_back();
    if (added.insert(function).second) add_forms(function, true);
  }
}

}  // namespace hiaton::exec::direct
