// Calls that processes give each other: results, counts, errors and budgets are those of one process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exec/in_processes.h"
#include "exec/stealing.h"

namespace hiaton::exec::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kSearch =
    "fn search(low: i64, high: i64, wrong: i64) -> i64 =\n"
    "  if high - low == 1 then 100 / (low - wrong)\n"
    "  else search(low, (low + high) / 2, wrong) + search((low + high) / 2, high, wrong)\n"
    "fn main(wrong: i64) -> i64 = 1 + search(0, 512, wrong)\n";

class RemoteCallsTest : public ::testing::TestWithParam<net::Delivery> {};

TEST_P(RemoteCallsTest, GiveTheResultsAndCountsOfOneProcess) {
  RunOptions options;
  options.share_every_call = true;
  options.count_regions = true;
  const Shared alone = run_shared(kFib, {int64_t{16}}, 1, GetParam(), options);
  EXPECT_EQ(alone.values[0].as<int64_t>(), 1597);
  for (int processes = 2; processes <= 4; ++processes) {
    for (const int workers : {1, 2}) {
      options.workers = workers;
      uint64_t given = 0;  // a run may be over before the others have asked
      for (int run = 0; run < 100 && given == 0; ++run) {
        const Shared shared = run_shared(kFib, {int64_t{16}}, processes, GetParam(), options);
        ASSERT_EQ(shared.values.size(), 1u) << shared.error;
        EXPECT_EQ(shared.values[0].as<int64_t>(), 1597);
        EXPECT_EQ(shared.stats.calls, alone.stats.calls);
        given = shared.stats.remote_calls;
        EXPECT_GT(shared.stats.remote_bytes, given * 2 * sizeof(int64_t));
      }
      EXPECT_GT(given, 0u) << "nothing is shared";
    }
  }
}

TEST_P(RemoteCallsTest, AnErrorSaysWhatItSaysInOneProcessAndNamesTheProcess) {
  RunOptions options;
  options.share_every_call = true;
  const Value wrong = int64_t{371};
  const std::string expected = run_shared(kSearch, {wrong}, 1, GetParam()).error;
  EXPECT_THAT(expected, HasSubstr("division by zero: 100 / 0"));
  EXPECT_THAT(expected, HasSubstr("in search(low = 371, high = 372, wrong = 371)"));
  for (int i = 0; i < 10; ++i) {
    for (int processes = 2; processes <= 4; ++processes)
      EXPECT_EQ(without_process(run_shared(kSearch, {wrong}, processes, GetParam(), options).error),
                expected);
  }
}

TEST_P(RemoteCallsTest, BudgetsEndTheRunOfAllProcesses) {
  RunOptions options;
  options.share_every_call = true;
  options.max_frames = 40;
  const std::string deep =
      "fn depth(n: i64) -> i64 = if n == 0 then 0 else 1 + depth(n - 1)\n"
      "fn main(n: i64) -> i64 = depth(n) + depth(2 * n) + depth(3 * n)\n";
  for (int processes = 2; processes <= 3; ++processes) {
    const std::string error = run_shared(deep, {int64_t{1000}}, processes, GetParam(), options).error;
    EXPECT_THAT(without_process(error),
                HasSubstr("frame budget: more than 40 frames are live; what grew is depth"))
        << error;
  }
  options.max_frames = RunOptions().max_frames;
  options.timeout = std::chrono::milliseconds(20);
  EXPECT_THAT(without_process(run_shared(kFib, {int64_t{60}}, 3, GetParam(), options).error),
              HasSubstr("time budget: the run takes longer than 20 ms"));
}

TEST_P(RemoteCallsTest, RunsFollowEachOtherInTheSameProcesses) {
  const graph::Graph graph = graph_of(kSearch);
  net::act_in_processes(net::disordered_links(3, GetParam(), 3), [&](net::Transport& transport) {
    PlanCache plans;
    RunOptions options;
    options.processes = &transport;
    options.share_every_call = true;
    int errors = 0;
    for (int64_t i = 0; i < 20; ++i) {
      try {
        const std::vector<Value> arguments{i % 2 == 0 ? int64_t{-1000} : i};
        const std::vector<Value> values = exec::run(graph, arguments, options, plans).values;
        EXPECT_EQ(values.size(), transport.self() == 0 ? 1u : 0u);
      } catch (const RunError& error) {
        ++errors;
        EXPECT_THAT(error.what(), HasSubstr("division by zero"));
      }
    }
    EXPECT_EQ(errors, transport.self() == 0 ? 10 : 0);
  });
}

TEST_P(RemoteCallsTest, WhatTakesNoTimeIsNotGivenAnyMore) {
  constexpr std::string_view kSmall =
      "fn leaf(n: i64) -> i64 = n + 1\n"
      "fn both(n: i64) -> i64 = leaf(n) + leaf(n + 1)\n"
      "fn main(n: i64) -> i64 = with sum = 0 for i in 0..n do sum + both(i)\n";
  constexpr int64_t kCalls = 1'000'000;
  EXPECT_TRUE(gives_fewer_calls(kSmall, kCalls, kCalls * (kCalls + 2), GetParam(), 100));
}

INSTANTIATE_TEST_SUITE_P(, RemoteCallsTest, ::testing::ValuesIn(kDeliveries),
                         [](const auto& delivery) { return name_of(delivery.param); });

}  // namespace
}  // namespace hiaton::exec::testing
