// Conditionals and loops: see schedule_body.h.
#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "exec/direct/compile/schedule_body.h"
#include "exec/graph_names.h"

namespace hiaton::exec::direct {

// --- What branches look at -------------------------------------------------------------------------------

bool BodyScheduler::is_in_branch(NodeId id) const {
  const auto& in_branch = context_.schedule.placements.in_branch;
  const auto found = in_branch.find(id);
  if (found == in_branch.end() || exported_.contains(id)) return false;
  return !found->second.valid() || is_in_branch(found->second);
}

bool BodyScheduler::is_only_tested(NodeId variant) const {
  const auto tests = context_.schedule.placements.tests.find(variant);
  return tests != context_.schedule.placements.tests.end() && !exported_.contains(variant) &&
         std::ranges::none_of(tests->second, [&](NodeId test) { return exported_.contains(test); });
}

std::optional<Ownership::VariantTest> BodyScheduler::tested_in_branch(OutPort predicate) const {
  const auto test = ownership_.variant_test(predicate);
  if (!test) return std::nullopt;
  const Node& comparison = graph_[structure_.origin(predicate)];
  if (!is_only_tested(structure_.origin(comparison.inputs[0]))) return std::nullopt;
  return test;
}

Condition BodyScheduler::condition_of(OutPort predicate) const {
  const NodeId value = structure_.origin(predicate);
  Condition condition{.predicate = predicate};
  if (!is_in_branch(value)) return condition;
  if (const auto test = tested_in_branch(predicate)) {
    condition.kind = Condition::Kind::Variant;
    condition.test = *test;
  } else if (context_.schedule.placements.conjunctions.contains(value)) {
    condition.kind = Condition::Kind::Both;
  } else {
    condition.kind = Condition::Kind::Comparison;
  }
  return condition;
}

/// What the conditional tests, where it can be part of one jump: sides that are counted stand between the
/// tests.
std::optional<Ownership::VariantTest> BodyScheduler::test_of_match(uint32_t conditional) const {
  const auto test = tested_in_branch(structure_.conditionals[conditional].predicate);
  if (!test || context_.options.count_regions ||
      test->variant >= graph_[test->data].type.data->variants.size()) {
    return std::nullopt;
  }
  return test;
}

/// The next test of the match, where no variant on the way to it is needed for itself.
std::optional<uint32_t> BodyScheduler::next_test(uint32_t conditional) const {
  const auto& next_tests = context_.schedule.placements.next_tests;
  const auto found = next_tests.find(conditional);
  if (found == next_tests.end() || !test_of_match(conditional)) return std::nullopt;
  const BlockId other = structure_.conditionals[conditional].sides[1];
  const bool is_direct = std::ranges::all_of(structure_[other].items, [&](const Item& item) {
    const NodeId id(item.index);
    return item.kind != Item::Kind::Op || !has_role(graph_[id], Role::Variant) || is_only_tested(id);
  });
  return is_direct && test_of_match(found->second) ? std::optional(found->second) : std::nullopt;
}

std::size_t BodyScheduler::count_tests(uint32_t conditional) const {
  if (!test_of_match(conditional)) return 0;
  std::size_t tests = 1;
  for (auto next = next_test(conditional); next; next = next_test(*next)) ++tests;
  return tests;
}

/// Where the other variant is the only one with fields, its side comes first, so that its test and what takes
/// it apart become one instruction.
int BodyScheduler::first_side(const Condition& condition) const {
  if (condition.kind != Condition::Kind::Variant || graph_[condition.test.data].kind == NodeKind::Const)
    return 0;
  const uint32_t variant = condition.test.variant;
  const std::vector<Variant>& variants = graph_[condition.test.data].type.data->variants;
  const bool other_alone = variants.size() == 2 && variant < 2 && variants[variant].fields.empty() &&
                           !variants[1 - variant].fields.empty();
  return other_alone ? 1 : 0;
}

// --- Conditionals ----------------------------------------------------------------------------------------

void BodyScheduler::schedule_conditional(const Item& item) {
  const Conditional& conditional = structure_.conditionals[item.index];
  statements::If branch{.conditional = item.index, .condition = condition_of(conditional.predicate)};
  branch.tests = count_tests(item.index);
  branch.first = first_side(branch.condition);
  for (const Join& join : conditional.joins) define(join.merge);
  const HeldValues before = held_;
  dying_.clear();
  schedule_side(item, branch.first, branch.sides[branch.first]);
  const HeldValues after = std::exchange(held_, before);
  const int other = 1 - branch.first;
  branch.has_other = side_has_code(item, other);
  if (branch.has_other) {
    schedule_side(item, other, branch.sides[other]);
    HIATON_CHECK(std::ranges::equal(
        held_, after, {}, [](const auto& one) { return one.first; },
        [](const auto& one) { return one.first; }));
  } else {
    held_ = after;
  }
  append(std::move(branch));
  for (const Join& join : conditional.joins) {
    if (is_data(join.merge)) hold(join.merge, true);
  }
}

bool BodyScheduler::side_has_code(const Item& item, int side) const {
  const Conditional& conditional = structure_.conditionals[item.index];
  if (!conditional.joins.empty()) return true;
  if (conditional.sides[side].valid() && !structure_[conditional.sides[side]].items.empty()) return true;
  return std::ranges::any_of(ownership_.reads_of(item), [&](NodeId value) {
    const auto held = held_.find(value);
    return held != held_.end() && held->second.owned && !is_live(value);
  });
}

void BodyScheduler::schedule_side(const Item& item, int side, statements::If::Side& to) {
  const Conditional& conditional = structure_.conditionals[item.index];
  const BlockId block = conditional.sides[side];
  std::vector<OutPort> given;
  for (const Join& join : conditional.joins) given.push_back(join.from[side]);
  const std::span<const Item> items =
      block.valid() ? std::span<const Item>(structure_[block].items) : std::span<const Item>();
  const BlockId around = std::exchange(block_, block);
  expect(given);
  expect(items);
  note_reads(item);
  to.statements = list_of([&] {
    append_drops();
    if (!block.valid()) return;
    if (task_before_ == nullptr || !task_before_->split_sides.contains(block)) count(block);
    schedule_expected(items);
  });
  met(given);
  to.leave = leave_with(given);
  block_ = around;
}

void BodyScheduler::schedule_tail_conditional(const Item& item, const Ending& ending) {
  const Conditional& conditional = structure_.conditionals[item.index];
  statements::TailIf branch{.conditional = item.index, .condition = condition_of(conditional.predicate)};
  branch.tests = count_tests(item.index);
  branch.first = first_side(branch.condition);
  const HeldValues before = held_;
  for (const int side : {branch.first, 1 - branch.first}) {
    const Ending& end = ending.sides[static_cast<std::size_t>(side)];
    held_ = before;
    branch.only_returns[side] = only_returns(branch.condition, conditional.sides[side], end);
    branch.sides[side] = list_of([&] {
      note_reads(item);
      schedule_tail(conditional.sides[side], end);
    });
  }
  append(std::move(branch));
}

bool BodyScheduler::only_returns(const Condition& condition, BlockId block, const Ending& ending) const {
  if ((block.valid() && !structure_[block].items.empty()) || context_.options.count_regions || to_hole_ ||
      ending.kind != Ending::Kind::Return || ending.results.size() != 1) {
    return false;
  }
  if (condition.kind == Condition::Kind::Value || condition.kind == Condition::Kind::Variant) return false;
  if (std::ranges::any_of(held_, [](const auto& one) { return one.second.owned; })) return false;
  return !is_data(ending.results[0]) || graph_[structure_.origin(ending.results[0])].kind == NodeKind::Const;
}

// --- Loops -----------------------------------------------------------------------------------------------

void BodyScheduler::schedule_loop(LoopId id) {
  const LoopShape& loop = structure_.loops[id.index()];
  statements::Loop scheduled{.loop = id};
  // What the body reads from outside stays for the next iteration.
  std::vector<NodeId> kept;
  std::ranges::copy_if(context_.lifetimes.kept_through[id.index()], std::back_inserter(kept),
                       [&](NodeId value) { return is_data(value); });
  for (NodeId value : kept) expect(value);
  std::vector<OutPort> initial;
  for (const LoopShape::Variable& variable : loop.variables) {
    initial.push_back(graph_[variable.enter].inputs[0]);
  }
  scheduled.initial = hand_on(initial);
  for (const LoopShape::Variable& variable : loop.variables) {
    define(variable.merge);
    if (is_data(variable.merge)) hold(variable.merge, true);
  }
  // What the initial values leave behind goes before the loop, not in its first iteration.
  expect_variables(loop);
  scheduled.before = dead_values();
  meet_variables(loop);
  scheduled.window = schedule_window(id);
  scheduled.predicate = condition_of(loop.predicate);
  scheduled.condition_first = context_.lifetimes.body_needs_condition[id.index()];
  const auto schedule_counted_condition = [&] {
    scheduled.condition = list_of([&] {
      count(loop.condition);
      schedule_condition(loop);
    });
  };
  if (scheduled.condition_first) {
    const HeldValues before = held_;
    schedule_counted_condition();
    const HeldValues at_end = held_;
    schedule_loop_body(loop, scheduled);
    held_ = at_end;
    for (const auto& [value, held] : at_end) {
      if (!before.contains(value)) dying_.push_back(value);
    }
    scheduled.at_end = dead_values();
  } else {
    schedule_loop_body(loop, scheduled);
    schedule_counted_condition();
  }
  for (NodeId value : kept) met(value);
  for (const LoopShape::Variable& variable : loop.variables) {
    if (is_data(variable.merge)) dying_.push_back(variable.merge);
  }
  scheduled.after = dead_values();
  append(std::move(scheduled));
}

void BodyScheduler::expect_variables(const LoopShape& loop) {
  for (const LoopShape::Variable& variable : loop.variables) {
    if (is_data(variable.merge)) expect(variable.merge);
  }
}

void BodyScheduler::meet_variables(const LoopShape& loop) {
  for (const LoopShape::Variable& variable : loop.variables) {
    if (is_data(variable.merge)) met(variable.merge);
  }
  dying_.clear();
}

/// All variables are there for the body and the end of the loop.
void BodyScheduler::schedule_condition(const LoopShape& loop) {
  expect_variables(loop);
  schedule_block(loop.condition);
  meet_variables(loop);
}

/// What follows the loop reads the variables of the last iteration, not those that an iteration begins with.
BodyScheduler::PendingReads BodyScheduler::set_reads_behind_aside(const LoopShape& loop) {
  PendingReads behind;
  for (const LoopShape::Variable& variable : loop.variables) {
    if (is_data(variable.merge)) behind[variable.merge] = std::exchange(pending_[variable.merge], 0);
  }
  return behind;
}

void BodyScheduler::schedule_loop_body(const LoopShape& loop, statements::Loop& to) {
  const PendingReads behind = set_reads_behind_aside(loop);
  std::vector<OutPort> next_values;
  for (const LoopShape::Variable& variable : loop.variables) {
    next_values.push_back(graph_[variable.next].inputs[0]);
    if (is_data(variable.merge)) dying_.push_back(variable.merge);
  }
  const std::span<const Item> items = structure_[loop.body].items;
  expect(next_values);
  expect(items);
  to.body = list_of([&] {
    append_drops();
    count(loop.body);
    schedule_expected(items);
  });
  met(next_values);
  to.next = leave_with(next_values);
  for (const LoopShape::Variable& variable : loop.variables) {
    if (is_data(variable.merge)) hold(variable.merge, true);
  }
  dying_.clear();
  for (const auto& [variable, reads] : behind) pending_[variable] = reads;
}

}  // namespace hiaton::exec::direct
