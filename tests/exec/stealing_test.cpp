// Several workers on one run: the results of one, whoever takes which call; errors and budgets end the run
// for all of them.
#include "exec/stealing.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "exec/direct/run/direct_run.h"
#include "exec/direct/run/direct_worker.h"
#include "exec/direct/run/interpret.h"
#include "hiaton/thread_pool.h"

namespace hiaton::exec::direct::testing {
using namespace exec::testing;

namespace {

using std::chrono::milliseconds;

/// A tree of calls with numbered leaves, one of which divides by zero. (A tail call in main would take main's
/// place in the chain of calls.)
constexpr std::string_view kOneBadLeaf =
    "fn tree(depth: i64, number: i64, bad: i64) -> i64 =\n"
    "  if depth == 0 then 100 / (number - bad)\n"
    "  else tree(depth - 1, number * 2, bad) + tree(depth - 1, number * 2 + 1, bad)\n"
    "fn main(depth: i64, bad: i64) -> i64 = 1 + tree(depth, 1, bad)\n";
/// Not endless, but nobody lives to see its end; never deeper than its argument.
constexpr std::string_view kWide =
    "fn wide(n: i64) -> i64 = if n == 0 then 0 else wide(n - 1) + wide(n - 1)\n"
    "fn main(n: i64) -> i64 = wide(n)\n";
constexpr std::string_view kGrowing =
    "fn grow(n: i64) -> i64 = grow(n + 1) + grow(n + 2)\n"
    "fn main(n: i64) -> i64 = grow(n)\n";

struct Case {
  std::string name;
  std::string text;
  std::vector<Value> arguments;
  std::vector<Value> longer;  ///< so that a run takes long enough for others to come by themselves

  friend std::ostream& operator<<(std::ostream& out, const Case& program) { return out << program.name; }
};

std::vector<Case> cases() {
  return {
      {"fib", std::string(kFib), {int64_t{18}}, {int64_t{25}}},
      {"tak",
       "fn tak(x: i64, y: i64, z: i64) -> i64 = if y >= x then z else tak(tak(x - 1, y, z), tak(y - 1, z, "
       "x), tak(z - 1, x, y)) fn main(x: i64, y: i64, z: i64) -> i64 = tak(x, y, z)",
       {int64_t{12}, int64_t{8}, int64_t{2}},
       {int64_t{18}, int64_t{12}, int64_t{6}}},
      {"loops_of_calls",
       "fn place(row: i64, n: i64, taken: i64) -> i64 =\n"
       "  if row == n then 1 else\n"
       "  with found = 0 for column in 0..n do\n"
       "    if taken % (column + 2) == 0 then found + place(row + 1, n, taken * 3 + column) else found + 1\n"
       "fn count(row: i64, n: i64, taken: i64) -> i64 =\n"
       "  if row == n then 1 else\n"
       "  with found = 0 for column in 0..n do\n"
       "    found + count(row + 1, n, taken * 3 + column) % 1000 + taken\n"
       "fn main(n: i64) -> (i64, i64) = (place(0, n, 0), count(0, n, 1))\n",
       {int64_t{5}},
       {int64_t{6}}},
      {"calls_of_several_results",
       "fn two(n: i64) -> (i64, i64) = if n <= 1 then (n, 1) else\n"
       "  let (a, b) = two(n - 1)\n"
       "  let (c, d) = two(n - 2)\n"
       "  (a + d, b - c)\n"
       "fn main(n: i64) -> (i64, i64) = two(n)\n",
       {int64_t{17}},
       {int64_t{24}}},
      {"five_calls_of_four_arguments",
       "fn many(n: i64, a: i64, b: i64, c: i64) -> i64 = if n == 0 then a - b + c else\n"
       "  many(n - 1, b, c, a) + many(n - 1, a + 1, b, c) * 2 - many(n - 1, c, b, a) +\n"
       "  many(n - 1, n, n, n) - many(n - 1, a, a, b)\n"
       "fn main(n: i64) -> i64 = many(n, 1, 2, 3)\n",
       {int64_t{5}},
       {int64_t{7}}},
      {"groups_below_groups",
       "fn left(n: i64) -> i64 = if n <= 0 then 1 else right(n - 1) + left(n - 2)\n"
       "fn right(n: i64) -> i64 = if n <= 0 then 2 else\n"
       "  let a = left(n - 1)\n"
       "  let b = left(n - 2) + right(n - 2)\n"
       "  a * 3 - b\n"
       "fn main(n: i64) -> i64 = left(n)\n",
       {int64_t{14}},
       {int64_t{22}}},
  };
}

class Stealing : public ::testing::TestWithParam<std::tuple<int, Case>> {};

TEST_P(Stealing, GivesTheResultsOfOneWorkerInEveryRun) {
  const auto& [workers, program] = GetParam();
  const graph::Graph graph = graph_of(program.text);
  const std::vector<Value> expected = run(Mode{Executor::Production, 1}, graph, program.longer).values;
  PlanCache plans;
  RunOptions options;
  options.workers = workers;
  uint64_t steals = 0;
  for (int i = 0; wants_another_run(i, kRepeats / 5, steals, options); ++i) {
    const RunResult result = exec::run(graph, program.longer, options, plans);
    ASSERT_EQ(result.values, expected) << "in run " << i;
    ASSERT_EQ(result.stats.frames_live_at_end, 0u);
    steals += result.stats.steals;
  }
  EXPECT_GT(steals, 0u) << "a test of stealing in which nothing is stolen";
}

INSTANTIATE_TEST_SUITE_P(Workers, Stealing,
                         ::testing::Combine(::testing::Values(2, 3, 8), ::testing::ValuesIn(cases())),
                         [](const auto& info) {
                           return std::get<1>(info.param).name + "_" +
                                  std::to_string(std::get<0>(info.param)) + "_workers";
                         });

TEST_P(Stealing, OfEveryCallGivesTheSame) {
  const auto& [workers, program] = GetParam();
  const graph::Graph graph = graph_of(program.text);
  const std::vector<Value> expected = run(Mode{Executor::Reference}, graph, program.arguments).values;
  RunOptions options;
  options.share_every_call = true;
  for (int i = 0; i < 3; ++i) {
    const RunResult result = run(Mode{Executor::Production, workers}, graph, program.arguments, options);
    ASSERT_EQ(result.values, expected);
    ASSERT_EQ(result.stats.frames_live_at_end, 0u);
    EXPECT_GT(result.stats.steals, 0u);
  }
}

class StolenErrors : public ::testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Workers, StolenErrors, ::testing::Values(2, 3, 8));

TEST_P(StolenErrors, NameTheCallsThatLedToThem) {
  const graph::Graph graph = graph_of(kOneBadLeaf);
  constexpr int64_t kDepth = 13;
  RunOptions options;
  uint64_t steals = 0;
  for (int i = 0; wants_another_run(i, kRepeats, steals, options); ++i) {
    const int64_t bad = (int64_t{1} << kDepth) + i * 37 % (int64_t{1} << kDepth);
    const Failure failure = failure_of(graph, {kDepth, bad}, GetParam(), options);
    ASSERT_EQ(failure.error.fault(), Fault::DivisionByZero) << failure.error.what();
    ASSERT_EQ(failure.stats.frames_live_at_end, 0u);
    ASSERT_EQ(failure.error.chain().size(), kDepth + 2u) << failure.error.what();
    for (int64_t depth = 0; depth <= kDepth; ++depth) {
      const auto& call = failure.error.chain()[static_cast<std::size_t>(depth)];
      ASSERT_EQ(call.function, "tree");
      const std::vector<std::string> arguments{"depth = " + std::to_string(depth),
                                               "number = " + std::to_string(bad >> depth),
                                               "bad = " + std::to_string(bad)};
      ASSERT_EQ(call.arguments, arguments) << failure.error.what();
    }
    ASSERT_EQ(failure.error.chain().back().function, "main");
    steals += failure.stats.steals;
  }
  EXPECT_GT(steals, 0u);
}

TEST_P(StolenErrors, AreOneWhereManyCallsFailAtOnce) {
  const graph::Graph graph = graph_of(
      "fn f(n: i64) -> i64 = if n < 4 then 1 / (n - n) else f(n - 1) + f(n - 2)\n"
      "fn main(n: i64) -> i64 = f(n)\n");
  for (int i = 0; i < kRepeats; ++i) {
    const Failure failure = failure_of(graph, {int64_t{16}}, GetParam());
    ASSERT_EQ(failure.error.fault(), Fault::DivisionByZero) << failure.error.what();
    ASSERT_EQ(failure.stats.frames_live_at_end, 0u);
  }
}

TEST_P(StolenErrors, LeaveThePlanUsable) {
  const graph::Graph graph = graph_of(kOneBadLeaf);
  PlanCache plans;
  RunOptions options;
  options.workers = GetParam();
  const std::vector<Value> good{int64_t{8}, int64_t{0}};
  const std::vector<Value> expected = run(Mode{Executor::Reference}, graph, good).values;
  for (int i = 0; i < kRepeats / 10; ++i) {
    const std::vector<Value> failing{int64_t{8}, int64_t{300}};
    EXPECT_THROW(exec::run(graph, failing, options, plans), RunError);
    ASSERT_EQ(exec::run(graph, good, options, plans).values, expected);
  }
}

class StolenBudgets : public ::testing::TestWithParam<int> {
 protected:
  /// The run must end with this fault, long before anybody would give up waiting, and leave no frame.
  void expect_end(std::string_view text, int64_t argument, const RunOptions& options, Fault fault) {
    const Failure failure = failure_of(graph_of(text), {argument}, GetParam(), options);
    EXPECT_EQ(failure.error.fault(), fault) << failure.error.what();
    EXPECT_EQ(failure.stats.frames_live_at_end, 0u);
    EXPECT_LT(failure.stats.seconds, 20.0);
  }
};

INSTANTIATE_TEST_SUITE_P(Workers, StolenBudgets, ::testing::Values(2, 3, 8));

TEST_P(StolenBudgets, TheTimeoutEndsAllWorkers) {
  RunOptions options;
  for (int i = 0; i < kRepeats / 30; ++i) {
    options.timeout = milliseconds(1 + i % 10);
    expect_end(kWide, 60, options, Fault::Timeout);
  }
}

TEST_P(StolenBudgets, ACancelEndsAllWorkers) {
  for (int i = 0; i < kRepeats / 30; ++i) {
    std::atomic<bool> cancel{false};
    RunOptions options;
    options.cancel = &cancel;
    std::thread canceller([&] {
      std::this_thread::sleep_for(milliseconds(i % 10));
      cancel.store(true);
    });
    expect_end(kWide, 60, options, Fault::Interrupted);
    canceller.join();
  }
}

TEST_P(StolenBudgets, MaxFramesEndsAllWorkers) {
  RunOptions options;
  for (int i = 0; i < kRepeats / 10; ++i) {
    options.max_frames = static_cast<uint64_t>(1 + 50 * i);
    expect_end(kGrowing, 0, options, Fault::MaxFrames);
  }
}

TEST_P(StolenBudgets, MaxBytesEndsAllWorkers) {
  RunOptions options;
  for (int i = 0; i < kRepeats / 10; ++i) {
    options.max_bytes = (uint64_t{64} << 10) * static_cast<uint64_t>(1 + i % 64);
    expect_end(kGrowing, 0, options, Fault::MaxBytes);
  }
}

TEST(OtherWorkers, AreThreadsOfThePool) {
  const graph::Graph graph = graph_of(kFib);
  ThreadPool pool(2);
  RunOptions options{.pool = &pool};
  uint64_t steals = 0;
  for (int runs = 0; wants_another_run(runs, 10, steals, options); ++runs) {
    const RunResult result = run(Mode{Executor::Production, 2}, graph, {Value(int64_t{22})}, options);
    EXPECT_EQ(result.values, std::vector<Value>{Value(int64_t{28'657})});
    steals += result.stats.steals;
  }
  EXPECT_GT(steals, 0u);
}

/// A pool that is busy for others has no thread for this run.
TEST(OtherWorkers, DoNotComeWhereThePoolIsBusy) {
  const graph::Graph graph = graph_of(kFib);
  ThreadPool pool(2);
  std::atomic<bool> is_over{false};
  const std::function<void(std::size_t)> wait = [&](std::size_t) { is_over.wait(false); };
  ASSERT_TRUE(pool.begin_help(1, wait));
  const RunResult result = run(Mode{Executor::Production, 2}, graph, {Value(int64_t{22})}, {.pool = &pool});
  EXPECT_EQ(result.values, std::vector<Value>{Value(int64_t{28'657})});
  EXPECT_EQ(result.stats.steals, 0u);
  is_over.store(true);
  is_over.notify_all();
  pool.end_help();
}

/// The first run of a plan calls the others at once, and those after a short one when they take long
/// themselves.
TEST(OtherWorkers, ComeToALongRunAfterShortOnes) {
  const graph::Graph graph = graph_of(kFib);
  PlanCache plans;
  ThreadPool pool(2);
  const auto steals_of = [&](int64_t n) {
    return exec::run(graph, std::vector<Value>{Value(n)}, {.workers = 2, .pool = &pool}, plans).stats.steals;
  };
  uint64_t steals = 0;
  for (int runs = 0; runs < 1000 && steals == 0; ++runs) {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(steals_of(1), 0u) << "there is nothing to take";
    steals = steals_of(28);
  }
  EXPECT_GT(steals, 0u);
}

/// A worker that has nothing to give goes on in the forking form of the first function that has one.
TEST(ARequest, IsNotForgottenInACallOfAFunctionThatDoesNotFork) {
  const graph::Graph graph = graph_of(
      "fn spin(n: i64) -> i64 = if n == 0 then 0 else 1 + spin(n - 1)\n"
      "fn tree(n: i64) -> i64 = if n == 0 then spin(9) else tree(n - 1) + tree(n - 2)\n"
      "fn main(n: i64) -> i64 = tree(n)\n");
  std::string reason;
  const auto plan = compile(graph, {.forking = true}, reason);
  ASSERT_NE(plan, nullptr) << reason;
  RunState state;
  Budget budget;
  Worker worker(state, *plan, budget, nullptr);
  Frame* const frame = worker.start_chain(nullptr, plan->halt, 16);
  ASSERT_NE(frame, nullptr);
  int calls = 0;
  int forking = 0;
  for (const Plan::Body& body : plan->bodies) {
    if (body.forking) continue;
    for (uint32_t i = body.begin; i < body.end; ++i) {
      if (plan->opcodes[i] != Opcode::Call1) continue;
      const Instruction* const call = &plan->code[i];
      worker.hungry = Worker::kCallsToLook;
      ASSERT_NE(start_call(worker, frame, call), nullptr);
      const bool goes_on_forking = worker.pc != call->target;
      EXPECT_EQ(worker.hungry, goes_on_forking ? 0 : Worker::kCallsToLook);
      EXPECT_EQ(plan->body_at(worker.pc).forking, goes_on_forking);
      ++calls;
      forking += goes_on_forking ? 1 : 0;
    }
  }
  EXPECT_EQ(calls, 3) << "spin in itself, tree in itself twice";
  EXPECT_EQ(forking, 2);
  worker.leave_chain();
}

TEST(ARequest, IsLookedAfterForSomeCallsOnly) {
  RunState state;
  std::string reason;
  const auto plan = compile(graph_of(kFib), {.forking = true}, reason);
  ASSERT_NE(plan, nullptr) << reason;
  Budget budget;
  Worker worker(state, *plan, budget, nullptr);
  worker.hungry = Worker::kCallsToLook;
  for (uint32_t i = 1; i < Worker::kCallsToLook; ++i) {
    EXPECT_TRUE(worker.answer_poll());
    EXPECT_TRUE(worker.poll.load());
  }
  EXPECT_TRUE(worker.answer_poll());
  EXPECT_FALSE(worker.poll.load());
}

TEST(Forks, AWideGroupCountsAsManyNarrowOnes) {
  EXPECT_EQ(fork_weight(2), 1u);
  EXPECT_EQ(fork_weight(3), 1u);
  EXPECT_EQ(fork_weight(4), 2u);
  EXPECT_EQ(fork_weight(10), 3u);
  EXPECT_EQ(fork_weight(32), 5u);
}

TEST(RunsAtOnce, OfOnePlanDoNotDisturbEachOther) {
  const graph::Graph graph = graph_of(kFib);
  std::string reason;
  const auto plan = compile(graph, {.forking = true}, reason);
  ASSERT_NE(plan, nullptr) << reason;
  std::atomic<int> wrong{0};
  LastRun last;
  const auto run_often = [&](int64_t n, int64_t expected) {
    RunOptions options;
    options.workers = 2;
    const std::vector<Value> arguments{n};
    for (int i = 0; i < kRepeats / 2; ++i) {
      if (run_plan(graph, *plan, arguments, options, last).values != std::vector<Value>{expected}) ++wrong;
    }
  };
  std::thread first(run_often, 15, 987);
  std::thread second(run_often, 16, 1597);
  first.join();
  second.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace hiaton::exec::direct::testing
