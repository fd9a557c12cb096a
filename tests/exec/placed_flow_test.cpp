// What is placed in programs with gradients, or with tensors that gain from batches, runs there: by calls of
// flow, phase by phase.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exec/in_processes.h"
#include "exec/reference.h"
#include "sized.h"

namespace hiaton::exec::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class PlacedFlowTest : public ::testing::TestWithParam<net::Delivery> {};

graph::Graph graph_with_slopes(std::string_view text) {
  const ir::Module module = lang::parse(std::make_shared<const Source>("main.hia", std::string(text)));
  return passes::lower(passes::add_gradients(passes::loops_to_calls(module)));
}

constexpr std::string_view kSpreadSlope =
    "fn f(x: f64, n: i64) -> f64 =\n"
    "  if n == 0 then x else on \"process:1\" (sin(on \"process:2\" f(x * x, n - 1)))\n"
    "fn slope(x: f64, n: i64) -> f64 = grad(f)\n"
    "fn main(x: f64, n: i64) -> f64 = slope(x, n) / f64(n)\n";

TEST_P(PlacedFlowTest, GradientsGoToAndFroPhaseByPhase) {
  const graph::Graph graph = graph_with_slopes(kSpreadSlope);
  const std::vector<Value> arguments{Value(0.5), Value(int64_t{9})};
  for (const int processes : {2, 3, 4}) {
    const Shared found = run_shared(graph, arguments, processes, GetParam());
    EXPECT_EQ(found.values, run_reference(graph, arguments, {}).values) << found.error;
    EXPECT_EQ(found.stats.fallback, "");
    EXPECT_EQ(found.stats.remote_tokens, 0u);
    EXPECT_GT(found.stats.remote_calls, 9u);
  }
}

TEST_P(PlacedFlowTest, GradientsOfLoopsAndBranchesGoToAndFro) {
  const graph::Graph graph = graph_with_slopes(
      "fn f(x: f64, n: i64) -> f64 =\n"
      "  let (_, y) = with i = 0, y = x while i < n do (i + 1, on \"process:1\" (y * y) - on \"process:2\" "
      "x)\n"
      "  if y > 0.0 then on \"process:2\" (y * x) else on \"process:1\" (if x > 1.0 then y else -y)\n"
      "fn slope(x: f64, n: i64) -> f64 = grad(f)\n"
      "fn main(x: f64, n: i64) -> f64 = slope(x, n)\n");
  for (const double x : {0.3, 1.2, -0.7}) {
    const std::vector<Value> arguments{Value(x), Value(int64_t{4})};
    const Shared found = run_shared(graph, arguments, 3, GetParam());
    EXPECT_EQ(found.values, run_reference(graph, arguments, {}).values) << found.error;
    EXPECT_EQ(found.stats.fallback, "");
  }
}

TEST_P(PlacedFlowTest, CopiesShareGradients) {
  const graph::Graph graph = graph_with_slopes(
      "fn f(x: f64, n: i64) -> f64 on \"copies\" = if n == 0 then x else f(x * 0.5, n - 1) + f(x, n - 1) * "
      "x\n"
      "fn slope(x: f64, n: i64) -> f64 = grad(f)\n"
      "fn main(x: f64, n: i64) -> f64 = slope(x, n)\n");
  RunOptions options;
  for (const std::vector<int>& copies : {std::vector{0, 1}, {1, 2}, {0, 1, 2}}) {
    options.places["copies"] = copies;
    const std::vector<Value> arguments{Value(0.9), Value(int64_t{6})};
    const Shared found = run_shared(graph, arguments, 3, GetParam(), options);
    EXPECT_EQ(found.values, run_reference(graph, arguments, {}).values) << found.error;
    EXPECT_GT(found.stats.remote_calls, 1u);
  }
}

constexpr std::string_view kPlacedTree =
    "data Tree = Leaf(value: i64) | Node(left: Tree, right: Tree)\n"
    "param E: f32[32, 8] = normal(1.0)\n"
    "param W: f32[16, 8] = normal(0.5)\n"
    "param V: f32[8, 8] = normal(0.5)\n"
    "fn grown(n: i64, at: i64) -> Tree =\n"
    "  if n == 0 then Leaf(at % 32) else Node(grown(n - 1, 2 * at), grown(n - 1, 2 * at + 1))\n"
    "fn leaf(word: i64) -> f32[8] on \"process:1\" = tanh(E[word] @ V)\n"
    "fn encode(t: Tree) -> f32[8] =\n"
    "  match t\n"
    "    Leaf(value) -> leaf(value)\n"
    "    Node(left, right) -> on \"process:2\" tanh(concat(on \"\" encode(left), on \"\" encode(right), "
    "axis=0) @ W)\n"
    "fn main(n: i64) -> f32[8] = encode(grown(n, 1))\n";

TEST_P(PlacedFlowTest, BatchesGatherInEachProcess) {
  const graph::Graph graph = graph_of(kPlacedTree);
  RunOptions options;
  const std::vector<Value> parameters = initial_parameters(graph.parameters(), 7);
  options.parameters = parameters;
  options.count_regions = true;
  PlanCache plans;
  const std::vector<Value> alone = exec::run(graph, std::vector{Value(int64_t{6})}, options, plans).values;
  const Shared found = run_shared(graph, {Value(int64_t{6})}, 3, GetParam(), options);
  EXPECT_EQ(found.values, alone) << found.error;
  EXPECT_EQ(found.stats.remote_calls, 64u + 63u);
}

/// A learned parameter stands in every process, wherever the program places the expression that names it:
/// what reads it alone is not sent for it, also where that process is not there.
TEST_P(PlacedFlowTest, AParameterIsReadWhereItIsNeeded) {
  const graph::Graph graph = graph_of(
      "param b: f64[3] = normal(1.0)\n"
      "fn main(x: f64) -> f64 = on \"process:1\" sum((on \"process:1\" sin(on \"process:3\" b)) * x)\n");
  RunOptions options;
  const std::vector<Value> parameters = initial_parameters(graph.parameters(), 7);
  options.parameters = parameters;
  const std::vector<Value> arguments{Value(0.5)};
  for (const int processes : {2, 3, 4}) {
    const Shared found = run_shared(graph, arguments, processes, GetParam(), options);
    EXPECT_EQ(found.values, run_reference(graph, arguments, options).values) << found.error;
    EXPECT_EQ(found.stats.remote_calls, 1u);
  }
}

/// 64 calls with a number and 63 with two rows of 8 floats go out, and as many rows come back.
TEST_P(PlacedFlowTest, CallsOfABatchCrossTogether) {
  const graph::Graph graph = graph_of(kPlacedTree);
  RunOptions options;
  const std::vector<Value> parameters = initial_parameters(graph.parameters(), 7);
  options.parameters = parameters;
  const Shared found = run_shared(graph, {Value(int64_t{6})}, 3, GetParam(), options);
  constexpr uint64_t kMessages = 2 * (64 + 63);
  constexpr uint64_t kValues = 64 * (8 + 32) + 63 * (64 + 32);
  EXPECT_GE(found.stats.remote_bytes, kValues) << found.error;
  EXPECT_LT(found.stats.remote_bytes, kValues + kMessages * sizeof(net::Header));
}

TEST_P(PlacedFlowTest, AnErrorNamesTheProcessAndTheCallsOnTheWay) {
  const graph::Graph graph = graph_with_slopes(
      "fn part(x: f64, n: i64) -> f64 on \"process:1\" = if n == 0 then x * f64(1 / n) else x * whole(x, n - "
      "1)\n"
      "fn whole(x: f64, n: i64) -> f64 on \"process:2\" = if n == 0 then x * f64(2 / n) else x + part(x, n - "
      "1)\n"
      "fn slope(x: f64, n: i64) -> f64 = grad(part)\n"
      "fn main(x: f64, n: i64) -> f64 = slope(x, n)\n");
  const std::string found = run_shared(graph, {Value(1.5), Value(int64_t{3})}, 3, GetParam()).error;
  EXPECT_THAT(
      found, AllOf(HasSubstr("division by zero: 2 / 0 (process 2 on "), HasSubstr("in whole(x = 1.5, n = 0)"),
                   HasSubstr("in part(x = 1.5, n = 1)"), HasSubstr("in whole(x = 1.5, n = 2)"),
                   HasSubstr("in part(x = 1.5, n = 3)"), HasSubstr("in main(x = 1.5, n = 3)")));
}

TEST_P(PlacedFlowTest, TheEndWaitsForWhatNobodyReads) {
  const graph::Graph graph = graph_with_slopes(
      "fn square(x: f64) -> f64 = on \"process:1\" (x * x)\n"
      "fn main(x: f64, n: i64) -> f64 =\n"
      "  let unread = on \"process:2\" (10 / n)\n"
      "  grad(square)(x)\n");
  for (uint32_t seed = 1; seed <= sized(60u, 10u); ++seed) {
    const Shared found = run_shared(graph, {Value(1.0), Value(int64_t{0})}, 3, GetParam(), {}, seed);
    EXPECT_THAT(found.error, HasSubstr("division by zero: 10 / 0 (process 2 on "));
  }
}

TEST_P(PlacedFlowTest, RunsAndErrorsDoNotMix) {
  const graph::Graph graph = graph_with_slopes(
      "fn f(x: f64, n: i64) -> f64 = on \"process:1\" (x * f64(10 / n))\n"
      "fn slope(x: f64, n: i64) -> f64 = grad(f)\n"
      "fn main(x: f64, n: i64) -> f64 = slope(x, n)\n");
  net::act_in_processes(net::disordered_links(3, GetParam(), 3), [&](net::Transport& transport) {
    PlanCache plans;
    RunOptions options;
    options.processes = &transport;
    for (const int64_t n : {5, 0, 2, 0, 1}) {
      std::string error;
      std::vector<Value> values;
      try {
        values = exec::run(graph, std::vector{Value(1.0), Value(n)}, options, plans).values;
      } catch (const RunError& failed) {
        error = failed.what();
      }
      if (transport.self() != 0) {
        EXPECT_TRUE(values.empty() && error.empty()) << error;
      } else if (n == 0) {
        EXPECT_THAT(error, AllOf(HasSubstr("division by zero: 10 / 0 (process 1 on "), HasSubstr("in f")));
      } else {
        EXPECT_EQ(values, std::vector{Value(static_cast<double>(10 / n))}) << error;
      }
    }
  });
}

TEST_P(PlacedFlowTest, BudgetsEndTheRunOfAllProcesses) {
  const graph::Graph graph = graph_with_slopes(
      "fn f(x: f64, n: i64) -> f64 = on \"process:1\" (x * on \"\" f(x, n + 1))\n"
      "fn slope(x: f64, n: i64) -> f64 = grad(f)\n"
      "fn main(x: f64) -> f64 = slope(x, 1)\n");
  RunOptions options;
  options.max_frames = 100;
  EXPECT_THAT(run_shared(graph, {Value(1.0)}, 2, GetParam(), options).error,
              HasSubstr("frame budget: more than 100 frames are live"));
  options.max_frames = RunOptions().max_frames;
  options.timeout = std::chrono::milliseconds(50);
  EXPECT_THAT(run_shared(graph, {Value(1.0)}, 2, GetParam(), options).error,
              HasSubstr("time budget: the run takes longer than 50 ms"));
}

INSTANTIATE_TEST_SUITE_P(, PlacedFlowTest, ::testing::ValuesIn(kDeliveries),
                         [](const auto& delivery) { return name_of(delivery.param); });

}  // namespace
}  // namespace hiaton::exec::testing
