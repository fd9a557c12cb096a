// Branches and loops beside each other, outside of loops that run ahead: the results and errors of one after
// the other, whoever takes which.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "exec/direct/direct_plan.h"
#include "exec/production.h"
#include "exec/stealing.h"
#include "sized.h"

namespace hiaton::exec::direct::testing {
using namespace exec::testing;

namespace {

using std::chrono::milliseconds;

/// A call of it gives a second worker nothing to do: what is stolen is a task, or a call beside one.
constexpr std::string_view kDown = "fn down(n: i64) -> i64 = if n <= 0 then 0 else 1 + down(n - 1)\n";

struct BranchProgram {
  std::string name;
  std::string text;  ///< after kDown
  bool forks = true;

  friend std::ostream& operator<<(std::ostream& out, const BranchProgram& program) {
    return out << program.name;
  }
};

const std::vector<BranchProgram>& branch_programs() {
  static const std::vector<BranchProgram> all = {
      {"two_branches",
       "fn main(n: i64) -> i64 =\n"
       "  (if n > 2 then down(n * 300) else 0) * 3 - (if n % 5 != 1 then down(n * 200) + n else n)"},
      {"calls_on_both_sides",
       "fn main(n: i64) -> i64 =\n"
       "  (if n % 2 == 0 then down(n * 300) else down(n * 290)) * 3 -\n"
       "  (if n % 3 == 0 then down(n * 270) else down(n * 280) * 2)"},
      {"four_branches",
       "fn main(n: i64) -> i64 =\n"
       "  let a = if n > 2 then down(n * 200) else n\n"
       "  let b = if n % 2 == 0 then 7 else down(n * 210)\n"
       "  let c = if n % 3 == 0 then down(n * 190) else a\n"
       "  let d = if n > 5 then down(n * 180) else 1\n"
       "  let e = if n > 6 then down(n * 180) else 2\n"
       "  a * 2 + b * 3 + c * 5 + d * 7 + e * 11"},
      {"a_branch_beside_a_call",
       "fn main(n: i64) -> i64 = down(n * 300 + 5) * 3 - (if n > 2 then down(n * 200) + n else n)"},
      {"a_branch_beside_two_calls",
       "fn main(n: i64) -> i64 =\n"
       "  down(n * 300 + 5) * 3 - (if n > 2 then down(n * 200) + n else n) * down(n * 400)"},
      {"branches_in_a_branch",
       "fn main(n: i64) -> i64 =\n"
       "  let a = if n > 1 then\n"
       "    (if n % 2 == 0 then down(n * 200) else n) * 2 - (if n % 3 != 0 then down(n * 170) else 1)\n"
       "  else 3\n"
       "  let b = if n > 2 then (if n % 4 != 0 then down(n * 150) else 4) + down(n * 111) else 0\n"
       "  a * 2 + b"},
      {"branches_in_branches_in_branches",
       "fn main(n: i64) -> i64 =\n"
       "  (if n > 1 then\n"
       "    (if n > 2 then\n"
       "      (if n > 3 then\n"
       "        (if n > 4 then\n"
       "          (if n > 5 then down(n * 90) else 1) + (if n % 2 == 0 then down(n * 80) else 2)\n"
       "        else 3) * 3 - (if n % 3 == 1 then down(n * 70) else 4)\n"
       "      else 5) * 5 - (if n % 4 == 1 then down(n * 60) else 6)\n"
       "    else 7) * 7 - (if n % 5 == 1 then down(n * 50) else 8)\n"
       "  else 9) * 11 - (if n % 6 == 1 then down(n * 40) else 10)"},
      {"several_results_of_branches",
       "fn main(n: i64) -> (i64, i64, i64) =\n"
       "  let (a, b) = if n > 2 then (down(n * 200), n) else (n, 2)\n"
       "  let (c, d, e) = if n % 3 != 1 then (1, down(n * 210), down(n * 100)) else (n, n + 1, 5)\n"
       "  (a - d, b * c, e)"},
      {"branches_that_are_results",
       "fn pair(n: i64) -> (i64, i64) =\n"
       "  (if n > 2 then down(n * 200) else n, if n % 2 == 0 then down(n * 210) else 4)\n"
       "fn main(n: i64) -> (i64, i64, i64) = let (a, b) = pair(n) in let (c, d) = pair(n + 1) in (a, b + c, "
       "d)"},
      {"a_branch_that_is_one_of_the_results",
       "fn main(n: i64) -> (i64, i64) = (down(n * 200), if n > 2 then down(n * 200) else n)"},
      {"branches_of_one_predicate",
       "fn main(n: i64) -> i64 =\n"
       "  let p = down(n * 10) > 40\n"
       "  let a = if p then down(n * 200) else n\n"
       "  let b = if p and n > 2 then down(n * 180) else n\n"
       "  (if p then a + b else a - b)"},
      {"branches_that_need_branches",
       "fn main(n: i64) -> i64 =\n"
       "  let a = if n > 2 then down(n * 200) else n\n"
       "  let b = if n % 2 == 0 then down(n * 180) else n\n"
       "  let c = if a > b then down(a / 2) else 1\n"
       "  let d = if a < b * 2 then down(b) + c - c else 2\n"
       "  let e = if n > 3 then down(a) else 2\n"
       "  a + b * 2 + c * 3 + d * 5 + e * 7"},
      {"a_branch_that_nobody_reads",
       "fn main(n: i64) -> i64 =\n"
       "  let unread = if n > 1 then down(n * 200) else n\n"
       "  let (a, also_unread) = if n > 2 then (down(n * 210), 1) else (n, n)\n"
       "  let b = if n > 3 then down(n * 220) else n\n"
       "  a * 2 + b"},
      {"loops_beside_branches",
       "fn main(n: i64) -> i64 =\n"
       "  let a = with s = 1 for i in 0..n do down((s + i) % 90) + i\n"
       "  let b = if n > 2 then down(n * 200) else n\n"
       "  let c = with s = b - b for i in 0..n do s * 2 + down(i * 20)\n"
       "  a + b * 2 + c * 3"},
      {"branches_in_a_loop_that_cannot_run_ahead",
       "fn main(n: i64) -> i64 = with acc = n for i in 0..6 do\n"
       "  (if acc % 3 != 0 then down(acc % 500) else i) * 3 + (if acc % 4 != 1 then down(acc % 700) else 1)"},
      {"branches_in_a_loop_that_runs_ahead",
       "fn main(n: i64) -> i64 = with acc = n for i in 0..20 do\n"
       "  acc * 2 + (if i % 3 != 0 then down(i * 30) else i) - (if i % 4 != 1 then down(i * 31) else 1)"},
      {"branches_after_calls_and_before_calls",
       "fn fib(n: i64) -> i64 = if n <= 1 then 1 else fib(n - 1) + fib(n - 2)\n"
       "fn main(n: i64) -> i64 =\n"
       "  let a = fib(n % 9) - fib(n % 7)\n"
       "  let b = if a > 3 then fib(a % 13) else 2\n"
       "  let c = if a % 2 == 0 then fib(a % 11) else 3\n"
       "  let d = fib((b + c) % 10) * fib(b % 9)\n"
       "  let e = if d > 5 then fib(d % 8) else 2\n"
       "  let f = if d % 2 == 0 then fib(d % 10) else 3\n"
       "  fib((e + f) % 10) - fib(e % 9) + a * b * c"},
      {"a_tree",
       "fn count(low: i64, high: i64) -> i64 =\n"
       "  let middle = (low + high) / 2\n"
       "  let left = if low < middle then count(low, middle) else 0\n"
       "  let right = if middle + 1 < high then count(middle + 1, high) else 0\n"
       "  left + right + 1\n"
       "fn main(n: i64) -> i64 = count(0, n * 100 + 1)"},
      {
          "a_tree_of_two_functions_with_two_results",
          "fn odd(n: i64) -> (i64, i64) =\n"
          "  let (a, b) = if n > 1 then even(n - 1) else (1, n)\n"
          "  let c = if n % 3 > 0 then down(n) else 5\n"
          "  (a + c, b - a)\n"
          "fn even(n: i64) -> (i64, i64) =\n"
          "  let (a, b) = if n > 2 then odd(n - 1) else (n, 1)\n"
          "  let (c, d) = if n % 2 == 0 then odd(n - 3) else (b, a)\n"
          "  (a - d, b + c)\n"
          "fn main(n: i64) -> (i64, i64) = even(n + 8)",
      },
      {"one_branch", "fn main(n: i64) -> i64 = n * (if n > 2 then down(n * 300) else 0)", false},
      {"branches_without_calls",
       "fn main(n: i64) -> i64 = (if n > 2 then n * 300 else 0) * 3 - (if n > 1 then n + 2 else n) * down(n)",
       false},
      {"a_branch_that_needs_the_other",
       "fn main(n: i64) -> i64 = let a = if n > 2 then down(n * 300) else 0 in n * (if a > 1 then down(a) "
       "else n)",
       false},
      {"tail_calls",
       "fn f(n: i64, k: i64) -> i64 = if n == 0 then k else if n % 2 == 0 then f(n - 1, k + 1) else f(n - 1, "
       "k)\n"
       "fn main(n: i64) -> i64 = f(n * 100, 0)",
       false},
  };
  return all;
}

class Branches : public ::testing::TestWithParam<BranchProgram> {
 protected:
  const graph::Graph graph_ = graph_of(std::string(kDown) + GetParam().text);
};

INSTANTIATE_TEST_SUITE_P(Programs, Branches, ::testing::ValuesIn(branch_programs()),
                         [](const auto& info) { return info.param.name; });

TEST_P(Branches, GiveTheResultsOfTheReference) {
  uint64_t steals = 0;
  for (int64_t n = 0; n <= 9; ++n) {
    const std::vector<Value> expected = run(Mode{Executor::Reference}, graph_, {n}).values;
    for (int workers : {1, 2, 3, 8}) {
      if (!has_to_run(workers)) continue;
      for (int i = 0; i < std::max(1, kRepeats / 100); ++i) {
        const RunResult result = run(Mode{Executor::Production, workers}, graph_, {n});
        ASSERT_EQ(result.values, expected) << n << ", " << workers << " workers";
        ASSERT_EQ(result.stats.frames_live_at_end, 0u);
        steals += result.stats.steals;
      }
    }
  }
  RunOptions options;
  for (int i = 0; GetParam().forks && wants_another_run(i, 0, steals, options); ++i) {
    steals += run(Mode{Executor::Production, 2}, graph_, {int64_t{9}}, options).stats.steals;
  }
  EXPECT_EQ(steals > 0, GetParam().forks);
}

TEST_P(Branches, AreTasksWhereTheyDoNotNeedEachOther) {
  std::string reason;
  const auto plan = compile(graph_, {.forking = true}, reason);
  ASSERT_NE(plan, nullptr) << reason;
  const bool has_tasks = std::ranges::any_of(
      plan->bodies, [](const Plan::Body& body) { return body.part == Plan::Body::Part::Branch; });
  EXPECT_EQ(has_tasks, GetParam().forks);
  const auto sequential = compile(graph_, {}, reason);
  for (const Plan::Body& body : sequential->bodies) EXPECT_EQ(body.part, Plan::Body::Part::Whole);
}

/// A tree of branches, in which the call number `bad` fails. The left calls are in a branch of a branch.
constexpr std::string_view kOneBadNode =
    "fn tree(depth: i64, number: i64, bad: i64) -> i64 =\n"
    "  let mine = 100 / (number - bad)\n"
    "  let left = if depth > 0 then (if number > 0 then tree(depth - 1, number * 2, bad) else 1) else 0\n"
    "  let right = if depth > 0 then tree(depth - 1, number * 2 + 1, bad) else 0\n"
    "  left + right - mine\n"
    "fn main(depth: i64, bad: i64) -> i64 = 1 + tree(depth, 1, bad)\n";

class BranchErrors : public ::testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Workers, BranchErrors, ::testing::Values(1, 2, 3, 8));

TEST_P(BranchErrors, AreThoseOfTheReference) {
  const graph::Graph graph = graph_of(kOneBadNode);
  constexpr int64_t kDepth = 7;
  for (int64_t i = 0; i < kRepeats; ++i) {
    const std::vector<Value> arguments{kDepth, 1 + i * 37 % (int64_t{2} << kDepth)};
    std::string expected;
    try {
      run(Mode{Executor::Reference}, graph, arguments);
    } catch (const RunError& error) {
      expected = error.what();
    }
    if (expected.empty()) continue;
    const Failure failure = failure_of(graph, arguments, GetParam());
    ASSERT_EQ(std::string(failure.error.what()), expected);
    ASSERT_EQ(failure.stats.frames_live_at_end, 0u);
  }
}

/// Not endless, but nobody lives to see its end.
constexpr std::string_view kWideBranches =
    "fn wide(n: i64) -> i64 = (if n > 0 then wide(n - 1) else 0) + (if n > 1 then wide(n - 2) else 1)\n"
    "fn main(n: i64) -> i64 = wide(n)\n";
constexpr std::string_view kGrowingBranches =
    "fn grow(n: i64) -> i64 = (if n > 0 then grow(n + 1) else 0) + (if n > 1 then grow(n + 2) else 1)\n"
    "fn main(n: i64) -> i64 = grow(n)\n";

TEST_P(BranchErrors, OfBudgetsEndAllWorkers) {
  const graph::Graph wide = graph_of(kWideBranches);
  const graph::Graph growing = graph_of(kGrowingBranches);
  for (int i = 0; i < kRepeats / 30; ++i) {
    RunOptions timeout;
    timeout.timeout = milliseconds(1 + i % 10);
    std::atomic<bool> cancel{false};
    RunOptions cancelled;
    cancelled.cancel = &cancel;
    std::thread canceller([&] {
      std::this_thread::sleep_for(milliseconds(i % 10));
      cancel.store(true);
    });
    RunOptions frames;
    frames.max_frames = 1 + 50 * static_cast<uint64_t>(i);
    RunOptions bytes;
    bytes.max_bytes = (uint64_t{64} << 10) * static_cast<uint64_t>(1 + i);
    const auto expect_end = [&](const graph::Graph& graph, int64_t n, const RunOptions& options,
                                Fault fault) {
      const Failure failure = failure_of(graph, {n}, GetParam(), options);
      EXPECT_EQ(failure.error.fault(), fault) << failure.error.what();
      EXPECT_EQ(failure.stats.frames_live_at_end, 0u);
      EXPECT_LT(failure.stats.seconds, 20.0);
    };
    expect_end(wide, 80, cancelled, Fault::Interrupted);
    canceller.join();
    expect_end(wide, 80, timeout, Fault::Timeout);
    expect_end(growing, 5, frames, Fault::MaxFrames);
    expect_end(growing, 5, bytes, Fault::MaxBytes);
  }
}

}  // namespace
}  // namespace hiaton::exec::direct::testing
