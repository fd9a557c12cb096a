// What other workers may take: windows of loops (window.h), outlined tasks (outlined_task.h), and branches
// and loops that run at the same time as others. See schedule_body.h.
//
// Every place of a window holds counted values of its own: what its rest reads stays with it while the next
// place begins, and what it hands on to that one has a reference of its own. A place whose condition is false
// has made nothing.
#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "exec/direct/compile/schedule_body.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

namespace {

/// Each fork has the code of its items twice, so forks inside of forks would take much.
constexpr uint32_t kMostForkDepth = 4;

}  // namespace

// --- Windows ---------------------------------------------------------------------------------------------

std::unique_ptr<statements::WindowOfLoop> BodyScheduler::schedule_window(LoopId id) {
  const LoopShape& loop = structure_.loops[id.index()];
  const std::optional<ScheduledWindow>& scheduled = context_.schedule.windows[id.index()];
  const bool has_join = in_task_ || context_.schedule.has_groups[function_.index()];
  if (!forking_ || no_room_ || in_window_ || !has_join || !scheduled) return nullptr;
  const Window& window = scheduled->window;
  if (!can_capture(id, window)) return nullptr;

  const auto defined_outside = defined_;
  const HeldValues held_outside = held_;
  const PendingReads behind = set_reads_behind_aside(loop);
  const PendingReads pending_outside = pending_;
  const auto exported_before = exported_;
  const OutlinedTask* const task_before = task_before_;
  in_window_ = true;
  if (window.task) exported_.insert(window.task->captures.begin(), window.task->captures.end());

  auto result = std::make_unique<statements::WindowOfLoop>();
  result->condition = list_of([&] {
    count(loop.condition);
    schedule_condition(loop);
  });
  result->predicate = condition_of(loop.predicate);
  const std::vector<NodeId> read_by_calls = schedule_ahead(loop, window, *result);
  if (window.task) {
    context_.schedule.tasks.push_back({function_, ScheduledTask::Part::Iteration, *window.task, fork_depth_});
    result->calls.push_back(call_of_task(context_.schedule.tasks.size() - 1));
    task_before_ = &*window.task;
    exported_.insert(window.task->results.begin(), window.task->results.end());
  } else {
    for (CallSite site : window.calls) result->calls.push_back(call_of(site));
  }
  schedule_rest(loop, window, read_by_calls, *result);

  defined_ = defined_outside;
  held_ = held_outside;
  pending_ = pending_outside;
  for (const auto& [variable, reads] : behind) pending_[variable] = reads;
  in_window_ = false;
  exported_ = exported_before;
  task_before_ = task_before;
  return result;
}

bool BodyScheduler::can_capture(LoopId id, const Window& window) const {
  if (!window.task || !ownership_.has_data()) return true;
  // A variant that is only tested before the loop is not computed for itself.
  return std::ranges::all_of(window.task->captures, [&](NodeId value) {
    return structure_[structure_.block_of[value.index()]].loop == id || defined_.contains(value);
  });
}

/// What of an iteration runs before its calls.
std::vector<graph::NodeId> BodyScheduler::schedule_ahead(const LoopShape& loop, const Window& window,
                                                         statements::WindowOfLoop& to) {
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
  std::vector<NodeId> stay;
  if (window.task)
    std::ranges::copy_if(window.task->captures, std::back_inserter(stay),
                         [&](NodeId value) { return is_data(value); });
  expect(window.rest);
  expect(calls);
  for (NodeId value : stay) expect(value);
  for (const TaskItem& item : window.ahead) expect({&item.item, 1});
  to.ahead = list_of([&] {
    count(loop.body);
    append_drops();
    for (const TaskItem& item : window.ahead) met(item.item);
    schedule_task_items(window.ahead);
    append_drops();
  });

  // What the calls read without taking it over stays until all have returned.
  std::vector<OutPort> handed;
  for (CallSite site : window.calls) std::ranges::copy(handed_to(site), std::back_inserter(handed));
  for (const Item& call : calls) met(call);
  const std::set<NodeId> borrowed = borrowed_by(calls);
  for (NodeId value : borrowed) expect(value);
  to.to_calls = hand_on(handed, borrowed);
  met(next_ahead);
  to.to_next = hand_on(next_ahead);
  dying_.clear();
  stay.insert(stay.end(), borrowed.begin(), borrowed.end());
  return stay;
}

/// Whether the value is one of the loop's variables or is computed in its body, so that each place has one.
bool BodyScheduler::is_of_iteration(const LoopShape& loop, NodeId value) const {
  for (BlockId block = structure_.block_of[value.index()]; block.valid(); block = structure_[block].parent) {
    if (block == loop.condition || block == loop.body) return true;
  }
  return false;
}

/// What of an iteration needs its calls, or those of earlier ones.
void BodyScheduler::schedule_rest(const LoopShape& loop, const Window& window,
                                  const std::vector<NodeId>& read_by_calls, statements::WindowOfLoop& to) {
  std::vector<NodeId> held_ahead;
  for (const auto& [value, held] : held_) {
    if (is_of_iteration(loop, value)) held_ahead.push_back(value);
  }
  for (CallSite site : window.calls) {
    for (NodeId result : graph_[site].returns) define(result);
    hold_results(site);
  }
  if (window.task) {
    for (NodeId result : window.task->results) {
      define(result);
      if (is_data(result)) hold(result, true);
    }
  }
  std::vector<OutPort> next_values;
  for (std::size_t v = 0; v < loop.variables.size(); ++v) {
    if (!window.variable_waits[v]) continue;
    next_values.push_back(graph_[loop.variables[v].next].inputs[0]);
    if (is_data(loop.variables[v].merge)) hold(loop.variables[v].merge, true);
  }
  for (NodeId value : read_by_calls) met(value);
  dying_.insert(dying_.end(), held_ahead.begin(), held_ahead.end());
  to.returned = dead_values();
  to.rest = list_of([&] { schedule_expected(window.rest); });
  met(next_values);
  to.leave = leave_with(next_values);
  HIATON_CHECK(
      std::ranges::none_of(held_, [&](const auto& one) { return is_of_iteration(loop, one.first); }));
}

// --- Tasks -----------------------------------------------------------------------------------------------

void BodyScheduler::run_task(ScheduledTask& scheduled) {
  const OutlinedTask& task = scheduled.task;
  in_task_ = true;
  fork_depth_ = scheduled.depth;
  // The function's frame waits for the task, so that the task borrows what it captures.
  for (NodeId value : task.captures) {
    define(value);
    if (is_data(value)) hold(value, false);
  }
  exported_.insert(task.results.begin(), task.results.end());
  exported_.insert(task.captures.begin(), task.captures.end());
  std::vector<OutPort> results;
  for (NodeId result : task.results) results.push_back({result, 0});
  expect(results);
  schedule_task_items(task.items);
  met(results);
  scheduled.leave = leave_with(results);
  scheduled.statements = std::move(statements_);
}

void BodyScheduler::schedule_task_items(const std::vector<TaskItem>& items) {
  for (const TaskItem& item : items) expect({&item.item, 1});
  std::vector<Item> whole;  // calls of one group stay together
  const auto schedule_whole = [&] {
    for (const Item& item : whole) met(item);
    schedule_list(whole);
    whole.clear();
  };
  for (const TaskItem& item : items) {
    if (!item.is_split) {
      whole.push_back(item.item);
      continue;
    }
    schedule_whole();
    schedule_split(item);
  }
  schedule_whole();
}

void BodyScheduler::schedule_split(const TaskItem& item) {
  const Conditional& conditional = structure_.conditionals[item.item.index];
  met(item.item);
  const HeldValues before = held_;
  statements::SplitIf split{
      .conditional = item.item.index, .condition = condition_of(conditional.predicate), .joins = item.joins};
  const bool is_ahead = !item.joins.empty();  // of a task or what follows, which counts the region
  for (const Join& join : item.joins) define(join.merge);
  for (int side = 0; side < 2; ++side) {
    held_ = before;
    split.sides[side] = list_of([&] {
      if (conditional.sides[side].valid() && !is_ahead) count(conditional.sides[side]);
      schedule_task_items(item.sides[side]);
    });
    note_reads(item.item);
    split.drops[side] = dead_values();
  }
  append(std::move(split));
}

// --- Forks -----------------------------------------------------------------------------------------------

bool BodyScheduler::forks(std::span<const Item> items) const {
  return forking_ && !no_room_ && !in_window_ && fork_depth_ < kMostForkDepth && are_tasks(items);
}

void BodyScheduler::schedule_fork(std::span<const Item> items) {
  statements::Fork fork{.group = items[0].key()};
  for (const Item& item : items) met(item);
  const HeldValues before = held_;
  const auto early_before = early_;
  fork.worth = worth_of(items);
  std::vector<OutPort> handed;
  std::vector<NodeId> given;
  for (const Item& item : items) {
    if (item.kind == Item::Kind::Call) {
      const CallSite site(item.index);
      std::ranges::copy(handed_to(site), std::back_inserter(handed));
      fork.calls.push_back(call_of(site));
      std::ranges::copy(graph_[site].returns, std::back_inserter(given));
    } else {
      fork.calls.push_back(call_of_task(add_task(item)));
      std::ranges::copy(context_.schedule.tasks.back().task.results, std::back_inserter(given));
    }
  }
  fork.handover = hand_on(handed, borrowed_by(items));
  const HeldValues forked_held = std::exchange(held_, before);

  ++fork_depth_;
  no_room_ = fork.worth.empty();  // where it is sure that two call, the items alone are for no room
  dying_.clear();
  early_ = early_before;
  fork.alone = list_of([&] {
    if (no_room_) return schedule_list(items);
    expect(items);
    for (std::size_t i = 0; i < items.size(); ++i) {
      met(items[i]);
      schedule_list(items.subspan(i, 1));
    }
  });
  no_room_ = false;
  --fork_depth_;
  const HeldValues after = std::exchange(held_, forked_held);
  for (const Item& item : items) note_reads(item);
  fork.drops = dead_values();
  held_ = after;
  for (NodeId value : given) {
    using To = statements::Fork::Given::To;
    const bool is_read = is_data(value) ? pending_[value] > 0 : context_.lifetimes.reads[value.index()] > 0;
    fork.given.push_back({value, is_read ? To::Readers : is_data(value) ? To::Release : To::Nobody});
  }
  append(std::move(fork));
}

/// Only of two items it is looked at: where one is a branch without calls, as it is at the leaves of a tree,
/// a thief would find nothing to do.
std::vector<statements::Fork::Worth> BodyScheduler::worth_of(std::span<const Item> items) const {
  std::vector<statements::Fork::Worth> worth;
  if (items.size() > 2) return worth;
  for (const Item& item : items) {
    if (item.kind != Item::Kind::Conditional) continue;
    const Conditional& conditional = structure_.conditionals[item.index];
    const auto calls = [&](BlockId side) { return side.valid() && structure_[side].has_calls; };
    if (calls(conditional.sides[0]) && calls(conditional.sides[1])) continue;
    worth.push_back({condition_of(conditional.predicate), calls(conditional.sides[0]) ? 0 : 1});
  }
  return worth;
}

ScheduledCall BodyScheduler::call_of_task(std::size_t task) const {
  ScheduledCall call{.task = task};
  for (NodeId value : context_.schedule.tasks[task].task.captures) {
    call.arguments.push_back({{value, 0}});
    call.is_taken_over.push_back(false);  // a task borrows what it captures
  }
  return call;
}

/// A comparison that is part of a branch is computed by the task: it captures what is compared.
std::size_t BodyScheduler::add_task(const Item& item) {
  ScheduledTask scheduled{function_, ScheduledTask::Part::Branch, whole_task(graph_, structure_, item),
                          fork_depth_ + 1};
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
  for (NodeId value : scheduled.task.captures) {
    const bool is_variant = graph_[value].kind == graph::NodeKind::Op && graph_[value].inputs.size() == 1 &&
                            graph_[structure_.origin(graph_[value].inputs[0])].type.is_data() &&
                            !is_data(value) && !defined_.contains(value);
    if (is_variant) {
      capture(structure_.origin(graph_[value].inputs[0]));
    } else if (is_in_branch(value)) {
      capture_compared(value, capture_compared);
    } else {
      capture(value);
    }
  }
  scheduled.task.captures = std::move(captures);
  context_.schedule.tasks.push_back(std::move(scheduled));
  return context_.schedule.tasks.size() - 1;
}

}  // namespace hiaton::exec::direct
