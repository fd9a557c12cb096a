// Tasks: see outlined_task.h. A task is called like a function, with what it captures as its arguments, and
// returns its results. Its frame is left out of chains of calls: it belongs to the function.
#include "exec/direct/compile/body_emitter.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

void BodyEmitter::run_task(TaskBody& to_emit) {
  const OutlinedTask& task = to_emit.task;
  to_emit.begin = here();
  Plan::Body body{.function = function_, .forking = forking_, .part = to_emit.part, .begin = here()};
  emit(Opcode::Header);
  keeping_ = in_task_ = true;
  fork_depth_ = to_emit.depth;
  // The function's frame waits for the task, so that the task borrows what it captures.
  for (NodeId value : task.captures) {
    define(value, take_slot());
    if (is_data(value)) hold(value, false);
  }
  join_slot_ = take_slot();
  begin_parameters();
  exported_.insert(task.results.begin(), task.results.end());
  exported_.insert(task.captures.begin(), task.captures.end());
  std::vector<graph::OutPort> results;
  for (NodeId result : task.results) results.push_back({result, 0});
  expect(results);
  emit_task_items(task.items);
  met(results);
  hand_on_now(results);
  drop_dead();
  ReturnList list;
  for (NodeId result : task.results) list.slots.push_back(narrow(slot_of_.at(result)));
  plan_.return_lists.push_back(std::move(list));
  const uint32_t index = emit(Opcode::ReturnN);
  at(index).returns = &plan_.return_lists.back();
  finish_matches();
  fuse_instructions(body.begin);
  body.slots = narrow(kept_slots_);
  at(body.begin).d = body.slots;
  body.end = here();
  plan_.bodies.push_back(body);
}

void BodyEmitter::emit_task_items(const std::vector<TaskItem>& items) {
  for (const TaskItem& item : items) expect({&item.item, 1});
  std::vector<Item> whole;  // calls of one group stay together
  const auto emit_whole = [&] {
    for (const Item& item : whole) met(item);
    emit_list(whole);
    whole.clear();
  };
  for (const TaskItem& item : items) {
    if (!item.is_split) {
      whole.push_back(item.item);
      continue;
    }
    emit_whole();
    emit_split(item);
  }
  emit_whole();
}

void BodyEmitter::emit_split(const TaskItem& item) {
  const Conditional& conditional = structure_.conditionals[item.item.index];
  met(item.item);
  const HeldValues before = held_;
  const uint32_t branch = emit_branch(conditional.predicate, false);
  uint32_t over = branch;
  const bool is_ahead = !item.joins.empty();  // of a task or what follows, which counts the region
  for (const Join& join : item.joins) define(join.merge, take_slot());
  open_branch();
  for (int side = 0; side < 2; ++side) {
    held_ = before;
    if (conditional.sides[side].valid() && !is_ahead) count_region(conditional.sides[side]);
    emit_task_items(item.sides[side]);
    for (const Join& join : item.joins) emit_move(slot_of_.at(join.merge), operand(join.from[side]));
    note_reads(item.item);
    drop_dead();
    if (side == 0) {
      over = emit(Opcode::Jump);
      set_jump(branch, here());
    }
  }
  close_branch();
  set_jump(over, here());
}

}  // namespace hiaton::exec::direct
