// What runs in its literal form over several processes: programs that place something, gradients too.
#include "exec/literal_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exec/in_processes.h"
#include "exec/reference.h"
#include "sized.h"

namespace hiaton::exec::testing {
namespace {

using ::testing::HasSubstr;

class LiteralRunTest : public ::testing::TestWithParam<net::Delivery> {};

constexpr std::string_view kSlope =
    "fn f(x: f64, n: i64) -> f64 =\n"
    "  if n == 0 then x else on \"process:1\" (sin(on \"process:2\" f(x * x, n - 1)))\n"
    "fn slope(x: f64, n: i64) -> f64 = grad(f)\n"
    "fn main(x: f64, n: i64) -> f64 = slope(x, n) / f64(n)\n";

graph::Graph graph_with_gradients(std::string_view text) {
  return passes::lower(
      passes::add_gradients(lang::parse(std::make_shared<const Source>("main.hia", std::string(text)))));
}

/// What a process runs by itself.
std::vector<Value> run_here(const graph::Graph& graph, const std::vector<Value>& arguments,
                            RunOptions options, net::Transport& transport) {
  options.processes = &transport;
  const partition::Partition parts = partition::split(graph, {.processes = transport.size()});
  return run_literal(graph, parts, arguments, options).values;
}

Shared run_literally(const graph::Graph& graph, const std::vector<Value>& arguments, int processes,
                     net::Delivery delivery, const RunOptions& options = {}, uint32_t seed = 7) {
  Shared first;
  net::act_in_processes(net::disordered_links(processes, delivery, seed), [&](net::Transport& transport) {
    Shared own;
    RunOptions of_this = options;
    of_this.stats = &own.stats;
    try {
      own.values = run_here(graph, arguments, of_this, transport);
    } catch (const RunError& error) {
      own.error = error.what();
    }
    EXPECT_EQ(own.stats.frames_live_at_end, 0u) << "process " << transport.self();
    if (transport.self() == 0) {
      first = std::move(own);
    } else {
      EXPECT_TRUE(own.values.empty() && own.error.empty()) << "process " << transport.self();
    }
  });
  return first;
}

TEST_P(LiteralRunTest, GradientsGoOverProcessesByTheReferenceRules) {
  const graph::Graph graph = graph_with_gradients(kSlope);
  const std::vector<Value> arguments{Value(0.5), Value(int64_t{3})};
  for (const int processes : {2, 3}) {
    const Shared found = run_literally(graph, arguments, processes, GetParam());
    EXPECT_EQ(found.values, run_reference(graph, arguments, {}).values) << found.error;
    EXPECT_GT(found.stats.remote_tokens, 10u);
  }
}

TEST_P(LiteralRunTest, TheEndDoesNotOvertakeAnErrorInWhatNobodyReads) {
  const graph::Graph graph = graph_with_gradients(
      "fn square(x: f64) -> f64 = on \"process:1\" (x * x)\n"
      "fn main(x: f64, n: i64) -> f64 =\n"
      "  let unread = on \"process:2\" (10 / n)\n"
      "  grad(square)(x)\n");
  for (uint32_t seed = 1; seed <= sized(60u, 10u); ++seed) {
    const Shared found = run_literally(graph, {Value(1.0), Value(int64_t{0})}, 3, GetParam(), {}, seed);
    EXPECT_THAT(found.error, HasSubstr("division by zero: 10 / 0 (process 2 on "));
  }
}

TEST_P(LiteralRunTest, TokensOfSeveralRunsAndErrorsDoNotMix) {
  const graph::Graph graph = graph_with_gradients(
      "fn f(x: f64, n: i64) -> f64 = on \"process:1\" (x * f64(10 / n))\n"
      "fn slope(x: f64, n: i64) -> f64 = grad(f)\n"
      "fn main(x: f64, n: i64) -> f64 = slope(x, n)\n");
  net::act_in_processes(net::disordered_links(3, GetParam(), 3), [&](net::Transport& transport) {
    RunOptions options;
    for (const int64_t n : {5, 0, 2, 0, 1}) {
      RunStats stats;
      options.stats = &stats;
      std::string error;
      std::vector<Value> values;
      try {
        values = run_here(graph, {Value(1.0), Value(n)}, options, transport);
      } catch (const RunError& failed) {
        error = failed.what();
      }
      EXPECT_EQ(stats.frames_live_at_end, 0u);
      if (transport.self() != 0) {
        EXPECT_TRUE(values.empty() && error.empty()) << error;
      } else if (n == 0) {
        EXPECT_THAT(error, HasSubstr("division by zero: 10 / 0 (process 1 on "));
        EXPECT_THAT(error, HasSubstr("in f"));
      } else {
        EXPECT_EQ(values, std::vector{Value(static_cast<double>(10 / n))}) << error;
      }
    }
  });
}

TEST_P(LiteralRunTest, BudgetsEndTheTokensOfAllProcesses) {
  const graph::Graph graph = graph_with_gradients(
      "fn f(x: f64, n: i64) -> f64 = on \"process:1\" (x * on \"\" f(x, n + 1))\n"
      "fn slope(x: f64, n: i64) -> f64 = grad(f)\n"
      "fn main(x: f64) -> f64 = slope(x, 1)\n");
  RunOptions options;
  options.max_frames = 100;
  EXPECT_THAT(run_literally(graph, {Value(1.0)}, 2, GetParam(), options).error,
              HasSubstr("frame budget: more than 100 frames are live"));
  options.max_frames = RunOptions().max_frames;
  options.timeout = std::chrono::milliseconds(50);
  EXPECT_THAT(run_literally(graph, {Value(1.0)}, 2, GetParam(), options).error,
              HasSubstr("time budget: the run takes longer than 50 ms"));
}

INSTANTIATE_TEST_SUITE_P(, LiteralRunTest, ::testing::ValuesIn(kDeliveries),
                         [](const auto& delivery) { return name_of(delivery.param); });

}  // namespace
}  // namespace hiaton::exec::testing
