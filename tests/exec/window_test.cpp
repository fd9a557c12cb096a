// Loops whose iterations run ahead of each other: the results of the ordinary loop, at every edge of a
// window.
#include "exec/direct/compile/window.h"

#include <gtest/gtest.h>

#include "exec/direct/compile/direct_passes.h"
#include "exec/stealing.h"

namespace hiaton::exec::direct::testing {
using namespace exec::testing;

namespace {

constexpr std::string_view kWork =
    "fn work(n: i64) -> i64 = if n <= 1 then 1 else work(n - 1) + work(n - 2)\n";

struct Loop {
  std::string name;
  std::string text;  ///< after kWork
  bool has_window = true;

  friend std::ostream& operator<<(std::ostream& out, const Loop& loop) { return out << loop.name; }
};

const std::vector<Loop>& loops() {
  static const std::vector<Loop> all = {
      {"a_variable_that_waits", "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do acc + work(i % 9)"},
      {"a_variable_that_does_not_wait",
       "fn main(n: i64) -> (i64, i64, i64) = with i = 0, k = 3, acc = 0 while i < n do\n"
       "  (i + 1, k * 5 % 7, acc * 3 + work(k))"},
      {"a_result_of_the_last_iteration_alone",
       "fn main(n: i64) -> (i64, i64) = with i = 0, last = 0 while i < n do (i + 1, work(i % 8))"},
      {"variables_that_swap",
       "fn main(n: i64) -> (i64, i64, i64, i64) = with i = 0, a = 4, b = 9, acc = 0 while i < n do\n"
       "  (i + 1, b, a, acc * 2 + work(a) - b)"},
      {"waiting_variables_that_swap",
       "fn main(n: i64) -> (i64, i64, i64) = with i = 0, a = 1, b = 2 while i < n do\n"
       "  (i + 1, b, a + work(i % 7))"},
      {"a_variable_that_becomes_a_constant",
       "fn main(n: i64) -> (i64, i64, i64) = with i = 0, k = n, acc = 0 while i < n do\n"
       "  (i + 1, 5, acc + work(k % 10))"},
      {"two_calls_an_iteration",
       "fn main(n: i64) -> i64 = with acc = 1 for i in 0..n do acc * 3 + work(i % 6) - work((i + 3) % 8)"},
      {"a_call_that_needs_a_call",
       "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do acc + work(work(i % 5) % 9)"},
      {"a_call_that_needs_the_iteration_before",
       "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do work((acc + i) % 9)", false},
      {"some_calls_need_the_iteration_before",
       "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do work((acc + i) % 9) + work(i % 4)"},
      {"a_value_from_outside",
       "fn main(n: i64) -> i64 = let k = work(5) + n with acc = 0 for i in 0..n do acc + work(k % 7) * k"},
      {"a_call_of_several_results",
       "fn pair(n: i64) -> (i64, i64) = if n <= 0 then (1, 2) else let (a, b) = pair(n - 1) in (b, a + n)\n"
       "fn main(n: i64) -> (i64, i64, i64) = with i = 0, x = 0, y = 0 while i < n do\n"
       "  let (a, b) = pair(i % 6) in (i + 1, x + a, y * 2 - b)"},
      {"a_branch_without_calls_ahead",
       "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do\n"
       "  let k = if i % 3 == 0 then i else 7\n"
       "  acc * 2 + work(k % 8)"},
      {"a_branch_that_waits",
       "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do\n"
       "  let w = work(i % 8)\n"
       "  if w % 2 == 0 then acc + w else acc - i"},
      {"calls_in_branches",
       "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do\n"
       "  if i % 3 == 0 then acc + work(i % 7) else if i % 3 == 1 then acc - work(3) * 2 else acc * 2"},
      {"calls_in_branches_and_outside",
       "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do\n"
       "  let w = work(i % 6)\n"
       "  if i % 3 == 0 then acc + work(i % 7) + work(w % 5) else acc - w"},
      {"a_call_in_a_branch_that_a_call_decides",
       "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do\n"
       "  acc + (if work(i % 5) % 2 == 1 then work(i % 8) else 0)"},
      {"calls_in_nested_branches_of_values_of_the_iteration_before",
       "fn main(n: i64) -> (i64, i64) = with i = 0, acc = 1 while i < n do\n"
       "  let k = i * 3 % 8\n"
       "  let next = if k % 2 == 0 then\n"
       "    if k > 3 then let w = work(k) in acc * 2 + w else acc - work(i % 3)\n"
       "  else if k > 4 then acc + k else acc * work(k)\n"
       "  (i + 1, next)"},
      {"several_calls_in_a_branch",
       "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do\n"
       "  if i % 2 == 0 then acc + work(i % 7) * work(i % 5) else acc - work(work(i % 6) % 5)"},
      {"a_branch_that_reads_nothing_from_outside",
       "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do if work(3) > 2 then acc + work(5) else acc"},
      {"several_results_of_a_branch",
       "fn main(n: i64) -> (i64, i64, i64) = with i = 0, a = 0, b = 1 while i < n do\n"
       "  let (x, y) = if i % 3 == 0 then (work(i % 7), b) else (a, work(i % 4) - 1)\n"
       "  (i + 1, x + b, y + i)"},
      {"calls_in_an_inner_loop",
       "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do\n"
       "  acc * 2 + (with s = i for j in 0..i % 4 do s + (if s % 2 == 0 then work(j) else work(s % 6)))"},
      {"windows_in_tasks_of_windows",
       "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do\n"
       "  if i % 4 == 3 then acc + i else\n"
       "    acc * 3 - (with s = i for j in 0..i * 5 % 13 do\n"
       "      let t = if j % 2 == 0 then s + work(j % 6) * work(i % 4) else s - work(work(j % 4))\n"
       "      t + (with u = t for k in 0..j % 3 do u * 2 + work(k)))"},
      {"calls_in_a_branch_that_needs_the_iteration_before",
       "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do if acc % 2 == 0 then acc + work(i % 8) else "
       "acc + i",
       false},
      {"a_loop_without_calls_inside",
       "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do\n"
       "  let k = with s = 0 for j in 0..i do s + j\n"
       "  acc + work(k % 8)"},
      {"nested_loops_that_both_call",
       "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do\n"
       "  let w = work(i % 5)\n"
       "  with s = acc for j in 0..i % 5 do s + work(j) * w"},
      {"a_window_in_a_branch_in_a_recursion",
       "fn f(d: i64, n: i64) -> i64 = if d == 0 then 1 else with acc = d for i in 0..n do acc + f(d - 1, i)\n"
       "fn main(n: i64) -> i64 = f(3, n % 14)"},
      {"a_condition_of_what_a_branch_with_calls_gives",
       "fn main(n: i64) -> (i64, i64) = with i = 0, acc = 1 while i < n do\n"
       "  if i % 3 == 0 then (i + 2, acc * 2 + work(i % 8)) else (i + 1, acc - 1)"},
      {"a_condition_of_what_a_branch_of_a_branch_with_calls_gives",
       "fn main(n: i64) -> (i64, i64, i64) = with i = 0, acc = 1, k = 0 while i < n do\n"
       "  if i % 3 == 0 then (i + 2, acc * 2 + work(i % 8), work(k % 3))\n"
       "  else if i % 2 == 1 then let j = i + 1 in (if i > 4 then j + 1 else j, acc - work(j % 7), i)\n"
       "  else (i + 1, acc - 1, k)"},
      {"a_condition_of_what_a_branch_gives_and_calls_of_it",
       "fn main(n: i64) -> (i64, i64) = with i = 0, acc = 1 while i < n do\n"
       "  let (next, found) = if i % 4 != 1 then (i + 1, work(i % 7)) else (i + 3, work(5) - work(i % 4))\n"
       "  (next, acc * 3 - found + work(next % 6))"},
      {"a_condition_of_what_a_branch_without_calls_gives",
       "fn main(n: i64) -> (i64, i64) = with i = 0, acc = 1 while i < n do\n"
       "  let w = work(i % 7)\n"
       "  if i % 3 == 0 then (i + 2, acc * 2 + w) else (i + 1, acc - 1)"},
      {"a_condition_of_what_a_call_decides",
       "fn main(n: i64) -> (i64, i64) = with i = 0, acc = 1 while i < n do\n"
       "  if work(i % 3) > 1 then (i + 2, acc * 2 + work(i % 8)) else (i + 1, acc - 1)",
       false},
      {"a_data_value_that_all_iterations_read",
       "fn sum(xs: List[i64], k: i64) -> i64 = match xs Nil -> k Cons(x, rest) -> sum(rest, k * 2 + x)\n"
       "fn main(n: i64) -> i64 = let xs = Cons(n, Cons(3, Nil)) with acc = 0 for i in 0..n do acc + sum(xs, "
       "i)"},
      {"data_values_made_ahead",
       "fn sum(xs: List[i64], k: i64) -> i64 = match xs Nil -> k Cons(x, rest) -> sum(rest, k * 2 + x)\n"
       "fn main(n: i64) -> (i64, i64) = with i = 0, acc = 0 while i < n do\n"
       "  let xs = Cons(i, Cons(work(2), Nil))\n"
       "  (i + 1, acc + sum(Cons(i, Nil), 1) + (match xs Nil -> 1 Cons(x, _) -> x))"},
      {"a_data_value_that_waits",
       "fn sum(xs: List[i64]) -> i64 = match xs Nil -> 0 Cons(x, rest) -> x + 2 * sum(rest)\n"
       "fn main(n: i64) -> i64 = sum(with xs = Nil[i64] for i in 0..n do Cons(work(i % 9), xs))"},
      {"a_data_value_that_does_not_wait",
       "fn sum(xs: List[i64], k: i64) -> i64 = match xs Nil -> k Cons(x, rest) -> sum(rest, k * 2 + x)\n"
       "fn main(n: i64) -> (i64, i64, i64) =\n"
       "  let (i, xs, acc) = (with i = 0, xs = Nil[i64], acc = 0 while i < n do (i + 1, Cons(i, xs), acc + "
       "sum(xs, i)))\n"
       "  (i, sum(xs, 0), acc)"},
      {"a_condition_that_calls", "fn main(n: i64) -> i64 = with i = 0 while i < n + work(3) do i + work(2)",
       false},
  };
  return all;
}

graph::Graph graph_of_loop(const Loop& loop) {
  return graph_of(std::string(kWork) + loop.text);
}

class Windows : public ::testing::TestWithParam<std::tuple<int, Loop>> {};

TEST_P(Windows, GiveTheResultsOfTheReferenceAtEveryEdge) {
  const auto& [window, loop] = GetParam();
  const graph::Graph graph = graph_of_loop(loop);
  for (int64_t n : {0, 1, window - 1, window, window + 1, 2 * window, 3 * window + 1}) {
    const std::vector<Value> expected = run(Mode{Executor::Reference}, graph, {n}).values;
    for (int workers : {1, 2, 3}) {
      if (!has_to_run(workers)) continue;
      RunOptions options;
      options.parallel_iterations = window;
      options.checks_counts = true;
      for (int i = 0; i < std::max(1, kRepeats / 100); ++i) {
        const RunResult result = run(Mode{Executor::Production, workers}, graph, {n}, options);
        ASSERT_EQ(result.values, expected) << n << " iterations, " << workers << " workers";
        ASSERT_EQ(result.stats.frames_live_at_end, 0u);
        ASSERT_EQ(result.stats.values_live_at_end, 0u);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Windows,
                         ::testing::Combine(::testing::Values(1, 2, 10, sized(100, 25)),
                                            ::testing::ValuesIn(loops())),
                         [](const auto& info) {
                           return std::get<1>(info.param).name + "_" +
                                  std::to_string(std::get<0>(info.param));
                         });

class WindowFinding : public ::testing::TestWithParam<Loop> {};

INSTANTIATE_TEST_SUITE_P(Loops, WindowFinding, ::testing::ValuesIn(loops()),
                         [](const auto& info) { return info.param.name; });

TEST_P(WindowFinding, TellsWhereIterationsCanRunAhead) {
  const graph::Graph graph = graph_of_loop(GetParam());
  std::string reason;
  const auto structure = find_structure(graph, reason);
  ASSERT_TRUE(structure) << reason;
  bool found = false;
  for (std::size_t l = 0; l < graph.loops().size(); ++l) {
    found = found || find_window(graph, *structure, graph::LoopId(l));
  }
  EXPECT_EQ(found, GetParam().has_window);
}

/// A second worker takes calls of the program, and the results stay those of the reference.
void expect_steals(const std::string& text, int64_t argument) {
  const graph::Graph graph = graph_of(text);
  const std::vector<Value> expected = run(Mode{Executor::Reference}, graph, {argument}).values;
  RunOptions options;
  uint64_t steals = 0;
  for (int i = 0; wants_another_run(i, kRepeats / 10, steals, options); ++i) {
    const RunResult result = run(Mode{Executor::Production, 2}, graph, {argument}, options);
    ASSERT_EQ(result.values, expected);
    steals += result.stats.steals;
  }
  EXPECT_GT(steals, 0u);
}

// The calls of `down` need each other: nothing but the loop gives a second worker something to do.
TEST(Window, CallsInBranchesAreStolen) {
  expect_steals(
      "fn down(n: i64) -> i64 = if n <= 0 then 0 else 1 + down(n - 1)\n"
      "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do\n"
      "  if i % 2 == 0 then acc + down(i % 300) else acc * 2 - down(i % 200)",
      100);
}

TEST(Window, CallsOfALoopInATaskAreStolen) {
  expect_steals(
      "fn down(n: i64) -> i64 = if n <= 0 then 0 else 1 + down(n - 1)\n"
      "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do\n"
      "  acc + (with s = i for j in 0..100 do if j % 3 == 0 then s * 2 - down(200) else s + down(j))",
      1);
}

TEST(Window, CallsInBranchesThatMoveTheLoopOnAreStolen) {
  expect_steals(
      "fn down(n: i64) -> i64 = if n <= 0 then 0 else 1 + down(n - 1)\n"
      "fn main(n: i64) -> (i64, i64) = with i = 0, acc = 1 while i < n do\n"
      "  if i % 3 == 0 then (i + 2, acc * 2 + down(300 + i % 8)) else (i + 1, acc - 1)",
      100);
}

TEST(Window, TasksAreNotSeenInErrors) {
  for (const char* text : {"fn bad(n: i64) -> i64 = if n < 0 then n else 10 / n + bad(-1)\n"
                           "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do if i % 2 == 0 then acc + "
                           "bad(i * i - 16) else acc",
                           "fn f(n: i64) -> i64 = with acc = 0 for i in 0..n do\n"
                           "  acc + (if work(4) > 0 then 7 / (work(i % 9) - work(8)) else 0)\n"
                           "fn main(n: i64) -> i64 = f(n) + 1"}) {
    const graph::Graph graph = graph_of(std::string(kWork) + text);
    std::string expected;
    try {
      run(Mode{Executor::Reference}, graph, {int64_t{13}});
    } catch (const RunError& error) {
      expected = error.what();
    }
    ASSERT_NE(expected, "");
    for (int workers : {1, 2, 3}) {
      for (int i = 0; i < kRepeats / 10; ++i) {
        const Failure failure = failure_of(graph, {int64_t{13}}, workers);
        ASSERT_EQ(std::string(failure.error.what()), expected) << workers << " workers";
        ASSERT_EQ(failure.stats.frames_live_at_end, 0u);
      }
    }
  }
}

TEST(Window, CallsOfOneLoopAreStolen) {
  const graph::Graph graph =
      graph_of(std::string(kWork) + "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do acc + work(12)");
  RunOptions options;
  uint64_t steals = 0;
  for (int i = 0; wants_another_run(i, kRepeats / 10, steals, options); ++i) {
    steals += run(Mode{Executor::Production, 2}, graph, {int64_t{100}}, options).stats.steals;
  }
  EXPECT_GT(steals, 0u);
}

TEST(Window, ErrorsInTheMiddleEndTheRun) {
  const graph::Graph graph = graph_of(
      "fn work(n: i64, bad: i64) -> i64 =\n"
      "  if n == bad then 1 / (n - bad) else if n <= 1 then 1 else work(n / 2, 0 - 1) + work(n - 2, bad)\n"
      "fn main(n: i64, bad: i64, late: i64) -> i64 = with acc = 0 for i in 0..n do\n"
      "  acc + work(i * 2, bad * 2) / (i - late)\n");
  for (int window : {2, 10, 100}) {
    for (int workers : {1, 2, 3}) {
      RunOptions options;
      options.parallel_iterations = window;
      for (int64_t place = 0; place < 25; ++place) {
        const Failure in_call = failure_of(graph, {int64_t{25}, place, int64_t{-1}}, workers, options);
        ASSERT_EQ(in_call.error.fault(), Fault::DivisionByZero) << in_call.error.what();
        ASSERT_EQ(in_call.error.chain().front().function, "work") << in_call.error.what();
        ASSERT_EQ(in_call.stats.frames_live_at_end, 0u);
        const Failure after_call = failure_of(graph, {int64_t{25}, int64_t{-1}, place}, workers, options);
        ASSERT_EQ(after_call.error.fault(), Fault::DivisionByZero) << after_call.error.what();
        ASSERT_EQ(after_call.error.chain().front().function, "main") << after_call.error.what();
        ASSERT_EQ(after_call.stats.frames_live_at_end, 0u);
      }
    }
  }
}

}  // namespace
}  // namespace hiaton::exec::direct::testing
