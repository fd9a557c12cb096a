// The verifier of schedules finds what breaks the rules of statements.h.
#include "exec/direct/compile/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "exec/scheduled.h"

namespace hiaton::exec::direct {
namespace {

using ::testing::HasSubstr;

/// Puts a statement without effect in place of `what`.
template <class What>
void remove(Statements& in, const What& what) {
  for_each_list(in, [&](Statements& list) {
    for (Statement& statement : list) {
      if (std::get_if<What>(&statement.what) == &what) return void(statement.what = statements::Count{});
    }
  });
}

const auto kTakesApart = [](const statements::ReadFields& reads) { return reads.takes_apart; };
const auto kHasMoves = [](const auto& end) { return !end.leave.handover.moved.empty(); };

TEST(Schedules, AsTheyAreMadeAreRight) {
  for (const std::string_view text : {kTrees, kLists, kBranches, kWindows}) {
    EXPECT_EQ(Scheduled(text).message(), "") << text;
  }
  for (const testing::ProgramCase& program : testing::programs()) {
    EXPECT_EQ(Scheduled(program.text).message(), "") << program.name;
  }
}

/// Whether the operation that sets an element in `body` takes the array over, so that it changes in place.
bool changes_in_place(const std::string& body) {
  Scheduled program(
      "fn most(xs: i64[_], i: i64) -> i64 = if i == 0 then 0 else max(xs[i - 1], most(xs, i - 1))\n"
      "fn changed(n: i64, xs: i64[_]) -> (i64, i64[_]) =\n" +
      body + "fn main(n: i64) -> (i64, i64[_]) = changed(n, [n, 1, 2])\n");
  EXPECT_EQ(program.message(), "");
  bool takes = false;
  first<statements::Compute>(program.body("changed").statements, [&](const statements::Compute& compute) {
    const bool sets = compute.takes.size() == 3;
    if (sets) takes = compute.takes[0];
    return sets;
  });
  return takes;
}

TEST(Schedules, ChangeAnArrayBehindWhatReadsIt) {
  EXPECT_TRUE(changes_in_place("  let m = most(xs, n)\n  (m, xs with [0] = 7)\n"));
  EXPECT_TRUE(changes_in_place("  let ys = xs with [0] = 7\n  (most(xs, n), ys)\n"));
  EXPECT_TRUE(changes_in_place(
      "  let m = if n > 2 then most(xs, n) else 0\n  (m, if n > 1 then xs with [0] = 7 else xs)\n"));
  EXPECT_FALSE(changes_in_place("  let ys = xs with [0] = 7\n  (most(xs, most(ys, n)), ys)\n"));
}

TEST(Schedules, LetCallsOfARecursionRunAtTheSameTimeWithAnArrayAndAChangedOne) {
  Scheduled program(
      "fn best(xs: i64[_], i: i64) -> i64 =\n"
      "  if i == 0 then sum(xs) else max(best(xs, i - 1), best(xs with [i - 1] = 7, i - 1))\n"
      "fn main(n: i64) -> i64 = best([n, 1, 2], 3)\n");
  EXPECT_EQ(program.message(), "");
  const auto& fork = first<statements::Calls>(program.body("best", true).statements,
                                              [](const statements::Calls& calls) { return calls.is_group; });
  EXPECT_EQ(fork.calls.size(), 2u);
}

TEST(Schedules, ThatForgetAReferenceAreFound) {
  Scheduled lists(kLists);
  auto& moves = first<statements::Return>(lists.body("append").statements, kHasMoves).leave.handover.moved;
  moves.clear();
  EXPECT_THAT(lists.message(), HasSubstr("schedule of append (sequential): hands on %"));
}

TEST(Schedules, ThatReleaseTwiceAreFound) {
  Scheduled lists(kLists);
  auto& leave = first<statements::Return>(lists.body("append").statements, kHasMoves).leave;
  leave.drops.push_back({Drop::Kind::Release, leave.handover.moved[0]});
  EXPECT_THAT(lists.message(), HasSubstr(", which is not the frame's own"));
}

TEST(Schedules, ThatReleaseNothingAreFound) {
  Scheduled trees(kTrees);
  Statements& insert = trees.body("main").statements;
  const Drop& release =
      first<Drop>(insert, [](const Drop& drop) { return drop.kind == Drop::Kind::Release; });
  remove(insert, release);
  EXPECT_THAT(trees.message(), HasSubstr(", which nobody releases"));
}

TEST(Schedules, ThatReadWhatHasGoneAreFound) {
  Scheduled lists(kLists);
  Statements& main = lists.body("main").statements;
  auto& calls = first<statements::Calls>(main);
  ASSERT_FALSE(calls.handover.retained.empty());
  calls.handover.moved.push_back(calls.handover.retained.back());
  calls.handover.retained.pop_back();
  EXPECT_THAT(lists.message(), HasSubstr("which the frame does not hold any more"));
}

TEST(Schedules, ThatRetainTooOftenAreFound) {
  Scheduled lists(kLists);
  auto& calls = first<statements::Calls>(lists.body("main").statements);
  ASSERT_FALSE(calls.handover.retained.empty());
  calls.handover.retained.push_back(calls.handover.retained[0]);
  EXPECT_THAT(lists.message(), HasSubstr("more often than it hands it on"));
}

TEST(Schedules, ThatReadTooEarlyAreFound) {
  Scheduled branches(kBranches);
  Statements& count = branches.body("count").statements;
  remove(count, first<statements::Compute>(count));
  EXPECT_THAT(branches.message(), HasSubstr("which is not computed"));
}

TEST(Schedules, ThatComputeTwiceAreFound) {
  Scheduled branches(kBranches);
  Statements& count = branches.body("count").statements;
  const auto& sum = first<statements::Compute>(count);
  auto& other = first<statements::Compute>(
      count, [&](const statements::Compute& compute) { return compute.node != sum.node; });
  other.node = sum.node;
  EXPECT_THAT(branches.message(), HasSubstr("computes %"));
}

TEST(Schedules, ThatTakeTheWrongVariantApartAreFound) {
  Scheduled lists(kLists);
  auto& reads = first<statements::ReadFields>(lists.body("append").statements, kTakesApart);
  reads.variant = 1 - reads.variant;
  EXPECT_THAT(lists.message(), HasSubstr("as of a variant that it need not be of"));
}

TEST(Schedules, ThatKeepWhatTheyTakeApartAreFound) {
  Scheduled lists(kLists);
  first<statements::ReadFields>(lists.body("append").statements, kTakesApart).takes_apart = false;
  EXPECT_THAT(lists.message(), HasSubstr("of which the frame has no reference"));
}

TEST(Schedules, ThatDropFieldsWithoutACountAreFound) {
  Scheduled lists(kLists);
  Drop& immediate = first<Drop>(lists.body("append").statements,
                                [](const Drop& drop) { return drop.kind == Drop::Kind::Immediate; });
  Scheduled other(kTrees);
  Drop& release = first<Drop>(other.body("main").statements,
                              [](const Drop& drop) { return drop.kind == Drop::Kind::Release; });
  release.kind = Drop::Kind::Immediate;
  EXPECT_THAT(other.message(), HasSubstr("without a count, though it may have fields"));
  immediate.kind = Drop::Kind::Borrowed;
  EXPECT_THAT(lists.message(), HasSubstr("as borrowed, which it is not"));
}

TEST(Schedules, ThatDifferBehindABranchAreFound) {
  Scheduled loops(
      "fn main(n: i64, xs: List[i64]) -> List[i64] =\n"
      "  with all = xs for i in 0..n do if i % 2 == 0 then Cons(i, all) else all\n");
  auto& branch = first<statements::If>(loops.body("main").statements);
  auto& moved = branch.sides[1].leave.handover.moved;
  ASSERT_FALSE(moved.empty());
  branch.sides[1].leave.handover.retained.push_back(moved.back());
  moved.pop_back();
  EXPECT_THAT(loops.message(), HasSubstr("behind a branch, %"));
}

TEST(Schedules, ThatDifferBehindAnIterationAreFound) {
  Scheduled trees(kTrees);
  auto& loop = first<statements::Loop>(trees.body("grown").statements);
  loop.next.handover.moved.clear();
  EXPECT_THAT(trees.message(), HasSubstr("hands on %"));
}

TEST(Schedules, ThatCallWhatIsNotThereAreFound) {
  Scheduled lists(kLists);
  std::erase_if(lists.schedule.bodies, [](const ScheduledBody& body) { return body.to_hole; });
  EXPECT_THAT(lists.message(), HasSubstr("calls a form of append that there is not"));
  Scheduled branches(kBranches);
  first<statements::Calls>(branches.body("count").statements).calls[0].site = graph::CallSite(0);
  EXPECT_THAT(branches.message(), HasSubstr("schedule of count"));
}

TEST(Schedules, ThatDisagreeWithTheCalleeAreFound) {
  Scheduled trees(kTrees);
  auto& calls = first<statements::Calls>(trees.body("main").statements, [&](const statements::Calls& each) {
    return trees.graph[trees.graph[each.calls[0].site].callee].name == "count";
  });
  calls.calls[0].is_taken_over[0] = !calls.calls[0].is_taken_over[0];
  EXPECT_THAT(trees.message(), HasSubstr("do not agree on who holds argument 0"));
}

TEST(Schedules, WithAnArgumentTooFewAreFound) {
  Scheduled branches(kBranches);
  ScheduledCall& call = first<statements::Calls>(branches.body("count").statements).calls[0];
  call.arguments.pop_back();
  call.is_taken_over.pop_back();
  EXPECT_THAT(branches.message(), HasSubstr("arguments in place of 2"));
}

TEST(Schedules, WithATaskThatNobodyCallsAreFound) {
  Scheduled branches(kBranches);
  auto& fork = first<statements::Fork>(branches.body("count", true).statements);
  ASSERT_TRUE(fork.calls[0].task.has_value());
  fork.calls[1].task = fork.calls[0].task;
  EXPECT_THAT(branches.message(), HasSubstr("task "));
}

TEST(Schedules, OfGroupsWithoutASequentialFormAreFound) {
  Scheduled trees(kTrees);
  auto& together = first<statements::Calls>(trees.body("count", true).statements,
                                            [](const statements::Calls& calls) { return calls.is_group; });
  ++together.group;
  EXPECT_THAT(trees.message(), HasSubstr("does not say where a group stands"));
  Scheduled branches(kBranches);
  ScheduledBody& forking = branches.body("count", true);
  std::swap(branches.body("count").statements, forking.statements);
  EXPECT_THAT(branches.message(), HasSubstr("a sequential form"));
}

TEST(Schedules, OfWindowsInsideOfWindowsAreFound) {
  Scheduled windows(kWindows);
  Statements& twice = windows.body("main", true).statements;
  auto& outer = first<statements::Loop>(twice);
  auto& inner =
      first<statements::Loop>(twice, [&](const statements::Loop& loop) { return loop.loop != outer.loop; });
  ASSERT_NE(outer.window, nullptr);
  ASSERT_NE(inner.window, nullptr);
  Statements& rest = outer.window->rest;
  rest.add({std::move(inner)});
  std::rotate(rest.begin(), rest.end() - 1, rest.end());
  EXPECT_THAT(windows.message(), HasSubstr("a window stands in a window"));
}

TEST(Schedules, OfWindowsThatLoseAReferenceAreFound) {
  Scheduled window(kWindows);
  auto& loop = first<statements::Loop>(window.body("main", true).statements);
  ASSERT_NE(loop.window, nullptr);
  loop.window->leave.handover.moved.clear();
  EXPECT_THAT(window.message(), HasSubstr("hands on %"));
}

TEST(Schedules, WithoutAnEndAreFound) {
  Scheduled branches(kBranches);
  Statements& count = branches.body("count").statements;
  remove(count, first<statements::Return>(count));
  EXPECT_THAT(branches.message(), HasSubstr("a way through the body has no end"));
}

}  // namespace
}  // namespace hiaton::exec::direct
