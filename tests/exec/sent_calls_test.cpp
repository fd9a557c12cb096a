// What is placed on other processes runs there, by calls that are sent.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "exec/in_processes.h"
#include "exec/partitioned.h"
#include "exec/place_program.h"
#include "exec/stealing.h"
#include "sized.h"

namespace hiaton::exec::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view kTwoPlaces =
    "fn even(n: i64) -> i64 on \"process:0\" = if n == 0 then 1 else 2 * odd(n - 1) % 998244353\n"
    "fn odd(n: i64) -> i64 on \"process:1\" = if n == 0 then 0 else 3 * even(n - 1) % 998244353\n"
    "fn main(n: i64) -> i64 = even(n)\n";
constexpr std::string_view kSpreadBody =
    "fn fact(n: i64) -> i64 = if n == 1 then n else on \"process:1\" (n * on \"\" fact(n - 1))\n"
    "fn main(n: i64) -> i64 = fact(n)\n";
constexpr std::string_view kLeaves =
    "fn leaf(n: i64, wrong: i64) -> i64 on \"process:1\" = 100 / (n - wrong)\n"
    "fn search(low: i64, high: i64, wrong: i64) -> i64 =\n"
    "  if high - low == 1 then 0 + leaf(low, wrong)\n"
    "  else search(low, (low + high) / 2, wrong) + search((low + high) / 2, high, wrong)\n"
    "fn main(wrong: i64) -> i64 = 1 + search(0, 512, wrong)\n";

class SentCallsTest : public ::testing::TestWithParam<net::Delivery> {};

std::vector<Value> alone(std::string_view text, const std::vector<Value>& arguments) {
  RunOptions options;
  options.executor = Executor::Reference;
  PlanCache plans;
  return exec::run(graph_of(text), arguments, options, plans).values;
}

/// How often a function ran, in all processes.
uint64_t firings(const Shared& run, std::string_view function) {
  uint64_t sum = 0;
  for (const RegionStats& region : run.stats.regions) {
    if (region.function == function && region.name == "body") sum += region.firings;
  }
  return sum;
}

TEST_P(SentCallsTest, MutualRecursionGoesToAndFro) {
  for (const int64_t n : {0, 1, 2, 7, 1000}) {
    const Shared found = run_shared(kTwoPlaces, {n}, 2, GetParam());
    ASSERT_EQ(found.values, alone(kTwoPlaces, {n})) << found.error;
    EXPECT_EQ(found.stats.remote_calls, static_cast<uint64_t>(n));
  }
}

TEST_P(SentCallsTest, APlacedExpressionTakesOneMessageAWay) {
  RunOptions options;
  options.count_regions = true;
  const Shared found = run_shared(kSpreadBody, {int64_t{20}}, 2, GetParam(), options);
  EXPECT_EQ(found.values, alone(kSpreadBody, {int64_t{20}})) << found.error;
  EXPECT_EQ(found.stats.remote_calls, 19u);
  EXPECT_EQ(firings(found, "fact_on_1"), 19u);
  EXPECT_EQ(firings(found, "fact"), 20u);
}

struct Messages {
  uint64_t literal;
  uint64_t production;
};

/// What goes from one process to another in both forms. A call that is sent is answered.
Messages messages_of(std::string_view text, const std::vector<Value>& arguments, int processes,
                     net::Delivery delivery) {
  const graph::Graph graph = graph_of(text);
  const partition::Partition parts = partition::split(graph, {.processes = processes});
  const RunResult split = run_partitioned(graph, parts, arguments, {});
  const Shared found = run_shared(text, arguments, processes, delivery);
  EXPECT_EQ(found.values, split.values) << found.error;
  return {split.stats.remote_tokens, 2 * found.stats.remote_calls};
}

TEST_P(SentCallsTest, NoMoreMessagesAreSentThanTheLiteralFormSends) {
  const Messages spread = messages_of(kSpreadBody, {int64_t{3}}, 2, GetParam());
  EXPECT_EQ(spread.literal, 12u);
  EXPECT_EQ(spread.production, 4u);
  const std::pair<std::string_view, int64_t> programs[] = {
      {kSpreadBody, 20}, {kLeaves, -5}, {kTwoPlaces, 30}};
  for (const auto& [text, n] : programs) {
    for (const int processes : {2, 3}) {
      const Messages sent = messages_of(text, {n}, processes, GetParam());
      EXPECT_LE(sent.production, sent.literal) << text << processes << " processes";
    }
  }
}

/// The one case in which a value takes a longer way: from a process to another one, neither of which is its
/// home.
TEST_P(SentCallsTest, AValueGoesByTheHomeOfItsBody) {
  const Messages sent = messages_of(
      "fn main(n: i64) -> i64 =\n"
      "  let there = on \"process:1\" (n * n)\n"
      "  on \"process:2\" (there + 1)\n",
      {int64_t{5}}, 3, GetParam());
  EXPECT_EQ(sent.production, 4u);
  EXPECT_EQ(sent.literal, 3u);
}

TEST_P(SentCallsTest, OperationsOnConstantsAreStarted) {
  constexpr std::string_view kConstants =
      "fn main(a: bool) -> i64 =\n"
      "  let c = 0.75\n"
      "  let d: f32 = 1.5\n"
      "  let x = on \"process:1\" f64(d)\n"
      "  let y = on \"process:1\" round(c)\n"
      "  let b = x > y\n"
      "  if b then on \"process:1\" 7 else 8\n";
  const Shared found = run_shared(kConstants, {true}, 2, GetParam());
  EXPECT_EQ(found.values, alone(kConstants, {true})) << found.error;
}

TEST_P(SentCallsTest, ManyCallsAreUnderWayAtOnce) {
  const Shared found = run_shared(kLeaves, {int64_t{-5}}, 3, GetParam());
  EXPECT_EQ(found.values, alone(kLeaves, {int64_t{-5}})) << found.error;
  EXPECT_EQ(found.stats.remote_calls, 512u);
}

TEST_P(SentCallsTest, AnErrorNamesTheProcessAndTheCallsOnTheWay) {
  const std::string found = run_shared(kLeaves, {int64_t{371}}, 3, GetParam()).error;
  EXPECT_THAT(found, HasSubstr("division by zero: 100 / 0 (process 1 on "));
  EXPECT_THAT(found, HasSubstr("in leaf(n = 371, wrong = 371)"));
  EXPECT_THAT(found, HasSubstr("in search(low = 371, high = 372, wrong = 371)"));
  const std::string deep =
      "fn even(n: i64) -> i64 on \"process:0\" = if n == 0 then 1 / n else 1 + odd(n - 1)\n"
      "fn odd(n: i64) -> i64 on \"process:1\" = if n == 0 then 1 / n else 1 + even(n - 1)\n"
      "fn main(n: i64) -> i64 = even(n)\n";
  const std::string chain = run_shared(deep, {int64_t{4}}, 2, GetParam()).error;
  EXPECT_THAT(chain, HasSubstr("division by zero: 1 / 0 (process 0 on "));
  EXPECT_THAT(chain, HasSubstr("in even(n = 0)"));
  EXPECT_THAT(chain, HasSubstr("in odd(n = 1)"));
  EXPECT_THAT(chain, HasSubstr("in odd(n = 3)"));
}

TEST_P(SentCallsTest, BudgetsEndTheRunOfAllProcesses) {
  RunOptions options;
  options.max_frames = 40;
  EXPECT_THAT(run_shared(kTwoPlaces, {int64_t{1000}}, 2, GetParam(), options).error,
              HasSubstr("frame budget: more than 40 frames are live"));
  options.max_frames = RunOptions().max_frames;
  options.timeout = std::chrono::milliseconds(20);
  constexpr std::string_view kEndless =
      "fn there(n: i64) -> i64 on \"process:1\" = if n < 0 then n else back(n + 1)\n"
      "fn back(n: i64) -> i64 on \"process:0\" = if n < 0 then n else there(n + 1)\n"
      "fn main(n: i64) -> i64 = back(n)\n";
  EXPECT_THAT(run_shared(kEndless, {int64_t{0}}, 2, GetParam(), options).error,
              HasSubstr("time budget: the run takes longer than 20 ms"));
  constexpr std::string_view kFarAway =
      "fn far(n: i64) -> i64 = if n < 0 then n else far(n + 1)\n"
      "fn main(n: i64) -> i64 = on \"process:1\" far(n)\n";
  EXPECT_THAT(run_shared(kFarAway, {int64_t{0}}, 2, GetParam(), options).error,
              AllOf(HasSubstr("time budget: the run takes longer than 20 ms"), HasSubstr("(process 0 on ")))
      << "also where the process waits for another one, and so has no frame to show";
}

TEST_P(SentCallsTest, ValuesOfAllTypesTravel) {
  constexpr std::string_view kTrees =
      "data Tree = Leaf(value: i64, row: f32[2]) | Node(left: Tree, right: Tree) | None\n"
      "fn grown(n: i64) -> Tree on \"process:1\" =\n"
      "  if n <= 0 then Leaf(n, [1, 2]) else Node(grown(n - 1), on \"\" None)\n"
      "fn turned(tree: Tree) -> Tree on \"process:2\" =\n"
      "  match tree\n"
      "    Leaf(value, row) -> Leaf(value + 1, on \"process:0\" (row + row))\n"
      "    Node(left, right) -> Node(turned(right), turned(left))\n"
      "    None -> None\n"
      "fn sum(tree: Tree) -> f32 =\n"
      "  match tree\n"
      "    Leaf(value, row) -> row[0] + row[1]\n"
      "    Node(left, right) -> sum(left) + sum(right)\n"
      "    None -> 0\n"
      "fn main(n: i64) -> (Tree, f32) = let tree = turned(turned(grown(n))) in (tree, sum(tree))\n";
  for (const int processes : {2, 3}) {
    const Shared found = run_shared(kTrees, {int64_t{6}}, processes, GetParam());
    ASSERT_EQ(found.values.size(), 2u) << found.error;
    const std::vector<Value> expected = alone(kTrees, {int64_t{6}});
    EXPECT_EQ(found.values[1], expected[1]);
    EXPECT_EQ(found.values[0], expected[0]);
  }
}

TEST_P(SentCallsTest, LoopsAndBranchesGoWhereTheyArePlaced) {
  constexpr std::string_view kLoop =
      "fn main(n: i64) -> i64 =\n"
      "  let (_, s) = on \"process:1\" with i = 0, s = 0 while i < n do (i + 1, s + on \"process:2\" (i * "
      "i))\n"
      "  on \"process:1\" (if s > 100 then s % 100 else on \"\" (s + n))\n";
  for (const int64_t n : {0, 3, 20}) {
    for (const int processes : {2, 3}) {
      const Shared found = run_shared(kLoop, {n}, processes, GetParam());
      EXPECT_EQ(found.values, alone(kLoop, {n})) << found.error;
      EXPECT_GT(found.stats.remote_calls, 0u);
    }
  }
}

TEST_P(SentCallsTest, RunsFollowEachOtherInTheSameProcesses) {
  const graph::Graph graph = graph_of(kLeaves);
  net::act_in_processes(net::disordered_links(3, GetParam(), 3), [&](net::Transport& transport) {
    PlanCache plans;
    RunOptions options;
    options.processes = &transport;
    for (const int64_t wrong : {-1, 371, -2, 5, -1}) {
      RunStats stats;
      options.stats = &stats;
      try {
        exec::run(graph, {{wrong}}, options, plans);
        EXPECT_TRUE(wrong < 0 || transport.self() != 0);
      } catch (const RunError&) {
        EXPECT_TRUE(wrong >= 0 && transport.self() == 0);
      }
      EXPECT_EQ(stats.frames_live_at_end, 0u);
    }
  });
}

TEST(SentCalls, ARowOfAPlacedTableTravels) {
  const graph::Graph graph = graph_of(
      "param E: f32[100, 2] on \"table\"\n"
      "param W: f32[2, 2]\n"
      "fn sum(n: i64) -> f32[2] = if n == 0 then E[n] @ W else E[n] @ W + sum(n - 1)\n"
      "fn main(n: i64) -> f32[2] = sum(n)\n");
  RunOptions options;
  const std::vector<Value> parameters = initial_parameters(graph.parameters(), 7);
  options.parameters = parameters;
  options.places = {{"table", {1}}};
  const Shared found = run_shared(graph, {int64_t{9}}, 2, net::Delivery::InOrder, options);
  RunOptions alone = options;
  alone.places = {};
  alone.executor = Executor::Reference;
  PlanCache plans;
  EXPECT_EQ(found.values, exec::run(graph, {{int64_t{9}}}, alone, plans).values) << found.error;
  EXPECT_EQ(found.stats.remote_calls, 10u);
  EXPECT_LT(found.stats.remote_bytes, 10u * 100);
}

TEST(SentCalls, NamesOfPlacesMustBeThoseOfTheProgram) {
  RunOptions options;
  options.places = {{"table", {1}}};
  EXPECT_THROW(run_shared(kLeaves, {int64_t{-1}}, 2, net::Delivery::InOrder, options), Error);
  options.places = {};
  constexpr std::string_view kCopies =
      "fn fib(n: i64) -> i64 on \"fibs\" = if n < 2 then n else fib(n - 1) + fib(n - 2)\n"
      "fn main(n: i64) -> i64 = fib(n)\n";
  options.places = {{"fibs", {1, 2}}};
  const Shared found = run_shared(kCopies, {int64_t{12}}, 3, net::Delivery::InOrder, options);
  EXPECT_EQ(found.values, alone(kCopies, {int64_t{12}})) << found.error;
}

constexpr std::string_view kManyCalls =
    "fn leaf(n: i64) -> i64 on \"leaves\" = n * n\n"
    "fn search(low: i64, high: i64) -> i64 =\n"
    "  if high - low == 1 then 0 + leaf(low)\n"
    "  else search(low, (low + high) / 2) + search((low + high) / 2, high)\n"
    "fn main(n: i64) -> i64 = 1 + search(0, n)\n";

// A copy that answers late, for its messages or for its thread, rightly gets fewer calls: that each gets
// about a third must hold in one of several runs.
TEST_P(SentCallsTest, CallsOfOneSiteAreBalancedOverTheCopies) {
  constexpr int kMostRuns = 10;
  RunOptions options;
  options.places = {{"leaves", {1, 2, 3}}};
  uint64_t fewest = 0;
  for (int run = 0; run < kMostRuns && fewest <= 100; ++run) {
    const Shared found = run_shared(kManyCalls, {int64_t{600}}, 4, GetParam(), options);
    EXPECT_EQ(found.values, alone(kManyCalls, {int64_t{600}})) << found.error;
    const std::vector<uint64_t>& calls = found.stats.remote_calls_by_process;
    ASSERT_EQ(calls.size(), 4u);
    EXPECT_EQ(calls[0], 0u);
    EXPECT_EQ(calls[1] + calls[2] + calls[3], 600u);
    fewest = std::min({calls[1], calls[2], calls[3]});
    EXPECT_GT(fewest, 0u);
  }
  EXPECT_GT(fewest, 100u);
}

TEST_P(SentCallsTest, AProcessWithACopyKeepsItBusyItself) {
  RunOptions options;
  options.count_regions = true;
  options.places = {{"leaves", {0, 1}}};
  const Shared found = run_shared(kManyCalls, {int64_t{600}}, 2, GetParam(), options);
  EXPECT_EQ(found.values, alone(kManyCalls, {int64_t{600}})) << found.error;
  EXPECT_EQ(firings(found, "leaf"), 600u);
  EXPECT_GT(found.stats.remote_calls, 0u);
  EXPECT_LT(found.stats.remote_calls, 600u);
}

TEST_P(SentCallsTest, CopiesThatCallThemselvesShareTheRecursion) {
  constexpr std::string_view kFib =
      "fn fib(n: i64) -> i64 on \"fibs\" = if n < 2 then n else fib(n - 1) + fib(n - 2)\n"
      "fn main(n: i64) -> i64 = fib(n)\n";
  RunOptions options;
  options.places = {{"fibs", {1, 2}}};
  const Shared found = run_shared(kFib, {int64_t{18}}, 3, GetParam(), options);
  EXPECT_EQ(found.values, alone(kFib, {int64_t{18}})) << found.error;
  const std::vector<uint64_t>& calls = found.stats.remote_calls_by_process;
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_GT(calls[1], 0u);
  EXPECT_GT(calls[2], 0u);
  EXPECT_LT(calls[1] + calls[2], 8361u / 2) << "most calls stay in the copy that makes them";
}

TEST_P(SentCallsTest, CopiesTakeValuesOfAllTypes) {
  constexpr std::string_view kTrees =
      "data Tree = Leaf(value: i64, row: f32[2]) | Node(left: Tree, right: Tree)\n"
      "fn grown(n: i64) -> Tree on \"growers\" =\n"
      "  if n <= 0 then Leaf(n, on \"process:0\" [1, 2]) else Node(grown(n - 1), grown(n - 2))\n"
      "fn turned(tree: Tree) -> Tree on \"turners\" =\n"
      "  match tree\n"
      "    Leaf(value, row) -> Leaf(value + 1, on \"process:1\" (row + row))\n"
      "    Node(left, right) -> Node(turned(right), turned(left))\n"
      "fn depth(tree: Tree) -> i64 on \"turners\" =\n"
      "  match tree\n"
      "    Leaf(value, row) -> value + i64(row[0])\n"
      "    Node(left, right) -> 1 + max(depth(left), depth(right))\n"
      "fn main(n: i64) -> (Tree, i64) = let tree = turned(turned(grown(n))) in (tree, depth(tree))\n";
  RunOptions options;
  options.places = {{"growers", {0, 1}}, {"turners", {2, 1, 0}}};
  const Shared found = run_shared(kTrees, {int64_t{6}}, 3, GetParam(), options);
  const std::vector<Value> expected = alone(kTrees, {int64_t{6}});
  ASSERT_EQ(found.values.size(), 2u) << found.error;
  EXPECT_EQ(found.values[0], expected[0]);
  EXPECT_EQ(found.values[1], expected[1]);
}

TEST_P(SentCallsTest, AnErrorInACopyNamesTheCallsOnTheWay) {
  constexpr std::string_view kWrong =
      "fn leaf(n: i64, wrong: i64) -> i64 on \"leaves\" = 100 / (n - wrong)\n"
      "fn search(low: i64, high: i64, wrong: i64) -> i64 =\n"
      "  if high - low == 1 then 0 + leaf(low, wrong)\n"
      "  else search(low, (low + high) / 2, wrong) + search((low + high) / 2, high, wrong)\n"
      "fn main(wrong: i64) -> i64 = 1 + search(0, 512, wrong)\n";
  RunOptions options;
  options.places = {{"leaves", {0, 1}}};
  const std::string found = run_shared(kWrong, {int64_t{371}}, 2, GetParam(), options).error;
  EXPECT_THAT(found, HasSubstr("division by zero: 100 / 0 (process "));
  EXPECT_THAT(found, HasSubstr("in leaf(n = 371, wrong = 371)"));
  EXPECT_THAT(found, HasSubstr("in search(low = 371, high = 372, wrong = 371)"));
}

TEST_P(SentCallsTest, AProgramThatIsElsewhereIsCalled) {
  constexpr std::string_view kElsewhere =
      "fn main(n: i64) -> i64 on \"process:1\" = on \"process:2\" (100 / n) + n\n";
  const Messages sent = messages_of(kElsewhere, {int64_t{5}}, 3, GetParam());
  EXPECT_EQ(sent.literal, 4u);
  EXPECT_EQ(sent.production, 4u);
  const std::string wrong = run_shared(kElsewhere, {int64_t{0}}, 3, GetParam()).error;
  EXPECT_THAT(wrong, HasSubstr("division by zero: 100 / 0 (process 2 on "));
  EXPECT_THAT(wrong, HasSubstr("in main(n = 0)"));
  EXPECT_EQ(wrong.find("in main("), wrong.rfind("in main(")) << wrong;
  const std::string here =
      run_shared("fn main(n: i64) -> i64 on \"process:1\" = 100 / n\n", {int64_t{0}}, 2, GetParam()).error;
  EXPECT_THAT(here, HasSubstr("division by zero: 100 / 0 (process 1 on "));
  EXPECT_THAT(here, HasSubstr("in main(n = 0)"));
}

/// Process 1 gets 40 calls of 64 KiB each, and computes for each of them; one of them fits into its memory
/// beside others, all of them do not.
TEST_P(SentCallsTest, AProcessThatIsSentMoreThanItHoldsSendsCallsBack) {
  const std::string large = fmt::format(
      "fn weigh(x: f64[8192], n: i64) -> f64 on \"process:1\" =\n"
      "  let (_, s) = with i = 0, s = 0.0 while i < {} do (i + 1, s + sqrt(f64(i + n)))\n"
      "  sum(x) + s\n"
      "fn search(x: f64[8192], low: i64, high: i64) -> f64 =\n"
      "  if high - low == 1 then 0 + weigh(x, low)\n"
      "  else search(x, low, (low + high) / 2) + search(x, (low + high) / 2, high)\n"
      "fn main(x: f64[8192]) -> f64 = search(x, 0, 40)\n",
      sized(300'000, 30'000));
  Tensor x(DType::F64, {8192});
  for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<double>()[i] = 0.5;
  RunOptions options;
  options.max_bytes = 800'000;
  const Shared found = run_shared(large, {Value(x)}, 2, GetParam(), options);
  PlanCache plans;
  EXPECT_EQ(found.values, exec::run(graph_of(large), std::vector{Value(x)}, {}, plans).values) << found.error;
  EXPECT_EQ(found.stats.remote_calls, 40u);
  options.max_bytes = uint64_t{1} << 30;
  const Shared roomy = run_shared(large, {Value(x)}, 2, GetParam(), options);
  EXPECT_EQ(roomy.values, found.values);
  if (GetParam() != net::Delivery::InOrder) return;
  EXPECT_GT(found.stats.remote_bytes, roomy.stats.remote_bytes + 65'536) << "some came back";
}

TEST(SentCalls, ParametersThatNoProcessHoldsArePlaced) {
  const graph::Graph graph = graph_of(
      "param E: f32[100, 2]\n"
      "param F: f32[50, 2]\n"
      "param W: f32[2, 2]\n"
      "fn sum(n: i64) -> f32[2] = if n == 0 then E[n] @ W else E[n] @ W + F[n] + sum(n - 1)\n"
      "fn main(n: i64) -> f32[2] = sum(n)\n");
  RunOptions options;
  const std::vector<Value> parameters = initial_parameters(graph.parameters(), 7);
  options.parameters = parameters;
  PlanCache plans;
  const std::vector<Value> expected = exec::run(graph, {{int64_t{9}}}, options, plans).values;
  options.place_parameters = true;
  options.max_bytes = uint64_t{1} << 24;
  Shared found = run_shared(graph, {int64_t{9}}, 2, net::Delivery::InOrder, options);
  EXPECT_EQ(found.values, expected) << found.error;
  EXPECT_EQ(found.stats.remote_calls, 0u) << "each process holds them all";
  const partition::Places places{.processes = 2, .most_bytes = 1000};
  const auto put = partition::placed_parameters(graph, places);
  EXPECT_EQ(put, (std::vector<std::optional<int>>{0, 1, std::nullopt}));
  const graph::Graph& same = graph;
  const HomedGraph homed = [&] {
    std::string reason;
    return place_program(same, places, reason).value();
  }();
  EXPECT_TRUE(std::ranges::any_of(homed.homes, [](int home) { return home == 1; }));
  EXPECT_THROW(partition::placed_parameters(graph, {.processes = 2, .most_bytes = 700}), ProgramError);
}

INSTANTIATE_TEST_SUITE_P(, SentCallsTest, ::testing::ValuesIn(kDeliveries),
                         [](const auto& delivery) { return name_of(delivery.param); });

}  // namespace
}  // namespace hiaton::exec::testing
