// Calls of flow that processes give each other, where nothing is placed: results, errors and budgets are
// those of one process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "exec/in_processes.h"
#include "exec/reference.h"
#include "grown_tree.h"
#include "sized.h"

namespace hiaton::exec::testing {
namespace {

using ::testing::HasSubstr;

class SharedFlowTest : public ::testing::TestWithParam<net::Delivery> {};

const std::string kGrownTree = grown_tree_with(
    "fn main(n: i64) -> (f32[3], i64, Tree) =\n"
    "  let x: f32[3] = [0.1, 0.2, -0.3] * f32(n)\n"
    "  let (sum, number) = fold(grow(x, n, 1), x)\n"
    "  (sum, number, grow(x, 2, 5))\n");

/// All functions in flow, also those that would run in direct code.
RunOptions in_flow(bool every_call) {
  RunOptions options;
  options.executor = Executor::Flow;
  options.share_every_call = every_call;
  return options;
}

TEST_P(SharedFlowTest, GivesTheBitsOfOneProcess) {
  const graph::Graph graph = graph_of(kGrownTree);
  const std::vector<Value> arguments{Value(int64_t{6})};
  const std::vector<Value> expected = run_reference(graph, arguments, {}).values;
  for (int processes = 2; processes <= 4; ++processes) {
    const Shared found = run_shared(graph, arguments, processes, GetParam(), in_flow(true));
    EXPECT_EQ(found.values, expected) << found.error;
    EXPECT_EQ(found.stats.fallback, "");
    EXPECT_GT(found.stats.remote_calls, 100u);
    EXPECT_EQ(run_shared(graph, arguments, processes, GetParam(), in_flow(false)).values, expected);
  }
}

TEST_P(SharedFlowTest, AnIdleProcessGetsCalls) {
  const graph::Graph graph = graph_of(kGrownTree);
  const std::vector<Value> arguments{Value(int64_t{sized(12, 9)})};
  const std::vector<Value> expected = run_shared(graph, arguments, 1, GetParam()).values;
  uint64_t given = 0;  // a run may be over before the others have asked
  for (int run = 0; run < 100 && given == 0; ++run) {
    const Shared found = run_shared(graph, arguments, 3, GetParam(), in_flow(false));
    EXPECT_EQ(found.values, expected) << found.error;
    given = found.stats.remote_calls;
  }
  EXPECT_GT(given, 0u);
}

TEST_P(SharedFlowTest, PhasesOfGradientsGoToAndFro) {
  const ir::Module module = lang::parse(std::make_shared<const Source>(
      "main.hia", std::string("fn f(x: f32[4], n: i64) -> f32 =\n"
                              "  if n == 0 then sum(x) else f(tanh(x), n - 1) * f(x * 0.5, n - 1) + sum(x)\n"
                              "fn slope(x: f32[4], n: i64) -> f32[4] = grad(f)\n"
                              "fn main(n: i64) -> f32[4] = slope([0.3, 0.1, -0.2, 0.4], n)\n")));
  const graph::Graph graph = passes::lower(passes::add_gradients(passes::loops_to_calls(module)));
  const std::vector<Value> arguments{Value(int64_t{5})};
  const std::vector<Value> expected = run_shared(graph, arguments, 1, GetParam()).values;
  ASSERT_EQ(expected.size(), 1u);
  for (int processes = 2; processes <= 3; ++processes) {
    const Shared found = run_shared(graph, arguments, processes, GetParam(), in_flow(true));
    EXPECT_EQ(found.values, expected) << found.error;
    EXPECT_GT(found.stats.remote_calls, 10u);
  }
}

TEST_P(SharedFlowTest, AnErrorSaysWhatItSaysInOneProcessAndNamesTheProcess) {
  const std::string text =
      "fn f(x: f32[2], n: i64) -> f32 =\n"
      "  if n == 0 then x[i64(x[0]) - 7] else f(x + 1.0, n - 1) + (if n < 5 then 1.0 else g(x, n - 5))\n"
      "fn g(x: f32[2], n: i64) -> f32 = if n == 0 then sum(x) else g(x, n - 1) * 0.5\n"
      "fn main(n: i64) -> f32 = f([1, 2], n) * 2.0\n";
  const std::string expected = run_shared(text, {int64_t{8}}, 1, GetParam()).error;
  EXPECT_THAT(expected, HasSubstr("in main(n = 8)"));
  for (int processes = 2; processes <= 4; ++processes)
    EXPECT_EQ(without_process(run_shared(text, {int64_t{8}}, processes, GetParam(), in_flow(true)).error),
              expected);
}

TEST_P(SharedFlowTest, BudgetsEndTheRunOfAllProcesses) {
  const std::string endless =
      "fn f(x: f32[2], n: i64) -> f32 = sum(x) + f(x, n + 1) * f(x, n + 2)\n"
      "fn main() -> f32 = f([1, 2], 0)\n";
  for (const bool all : {true, false}) {
    RunOptions options = in_flow(all);
    options.max_frames = 1000;
    EXPECT_THAT(run_shared(endless, {}, 2, GetParam(), options).error, HasSubstr("frame budget"));
    options.max_frames = RunOptions().max_frames;
    options.timeout = std::chrono::milliseconds(20);
    EXPECT_THAT(run_shared(endless, {}, 3, GetParam(), options).error, HasSubstr("time budget"));
  }
}

INSTANTIATE_TEST_SUITE_P(, SharedFlowTest, ::testing::ValuesIn(kDeliveries),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace
}  // namespace hiaton::exec::testing
