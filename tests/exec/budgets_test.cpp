// Budgets end endless runs with an error that says what grew; statistics say what a run used.
#include <gtest/gtest.h>

#include <thread>

#include "exec/programs.h"

namespace hiaton::exec::testing {
namespace {

constexpr std::string_view kEndlessRecursion =
    "fn main(n: i64) -> i64 = 1 + grow(n)\n"
    "fn grow(n: i64) -> i64 = 1 + grow(n + 1)\n";
constexpr std::string_view kEndlessLoop =
    "fn spin(n: i64) -> i64 =\n"
    "  with i = n while i > -1 do if i > 9 then 0 else i + 1\n"
    "fn main(n: i64) -> i64 = spin(n)\n";

class Budgets : public ::testing::TestWithParam<Mode> {
 protected:
  RunError error_of(std::string_view text, RunOptions options) {
    options.stats = &stats_;
    try {
      run(GetParam(), text, {int64_t{0}}, options);
    } catch (const RunError& error) {
      EXPECT_EQ(stats_.frames_live_at_end, 0u);
      return error;
    }
    ADD_FAILURE() << "the run gave a result";
    return {Fault::None, ""};
  }

  RunStats stats_;
};

INSTANTIATE_TEST_SUITE_P(EveryExecutor, Budgets, ::testing::ValuesIn(all_modes()),
                         [](const auto& info) { return ::testing::PrintToString(info.param); });

TEST_P(Budgets, MaxFramesEndsAnEndlessRecursion) {
  RunOptions options;
  options.max_frames = 5000;
  const RunError error = error_of(kEndlessRecursion, options);
  EXPECT_EQ(error.fault(), Fault::MaxFrames);
  EXPECT_NE(error.message().find(
                "frame budget: more than 5000 frames are live; what grew is grow (1000 of the "
                "innermost 1000 calls); --max-frames (in C++ and Python max_frames) raises the budget"),
            std::string::npos)
      << error.message();
  EXPECT_GT(error.chain_length(), 1000u);
  EXPECT_LE(error.chain_length(), 5002u);
  ASSERT_EQ(error.chain().size(), 16u);
  EXPECT_EQ(error.chain()[0].function, "grow");
  EXPECT_EQ(error.chain()[14].arguments, std::vector<std::string>{"n = 0"});
  EXPECT_EQ(error.chain()[14].call_place, "main.hia:1:30");
  EXPECT_EQ(error.chain()[15].function, "main");
}

TEST_P(Budgets, MaxBytesEndsAnEndlessRecursion) {
  RunOptions options;
  options.max_bytes = 4 << 20;
  const RunError error = error_of(kEndlessRecursion, options);
  EXPECT_EQ(error.fault(), Fault::MaxBytes);
  EXPECT_NE(error.message().find("byte budget: the run holds more than 4194304 bytes; what grew is grow"),
            std::string::npos)
      << error.message();
}

TEST_P(Budgets, TheTimeoutEndsAnEndlessLoop) {
  RunOptions options;
  options.timeout = std::chrono::milliseconds(30);
  const RunError error = error_of(kEndlessLoop, options);
  EXPECT_EQ(error.fault(), Fault::Timeout);
  EXPECT_NE(error.message().find("time budget: the run takes longer than 30 ms"), std::string::npos)
      << error.message();
  EXPECT_NE(error.message().find("spin"), std::string::npos) << error.message();
}

TEST_P(Budgets, TheTimeoutEndsAnEndlessRecursion) {
  RunOptions options;
  options.timeout = std::chrono::milliseconds(30);
  EXPECT_EQ(error_of(kEndlessRecursion, options).fault(), Fault::Timeout);
}

TEST_P(Budgets, AnEndlessLoopTakesConstantMemory) {
  RunOptions options;
  options.timeout = std::chrono::milliseconds(30);
  error_of(kEndlessLoop, options);
  EXPECT_LE(stats_.frames_live_most, 50u);
}

TEST_P(Budgets, ACancelFromAnotherThreadEndsARun) {
  for (std::string_view text : {kEndlessLoop, kEndlessRecursion}) {
    std::atomic<bool> cancel{false};
    RunOptions options;
    options.cancel = &cancel;
    std::thread canceller([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      cancel.store(true);
    });
    const RunError error = error_of(text, options);
    canceller.join();
    EXPECT_EQ(error.fault(), Fault::Interrupted);
    EXPECT_NE(error.message().find("interrupted; it was in"), std::string::npos) << error.message();
  }
}

TEST_P(Budgets, ARunWithinItsBudgetsIsNotDisturbed) {
  RunOptions options;
  options.max_frames = 100000;
  options.max_bytes = 1 << 30;
  options.timeout = std::chrono::hours(1);
  const std::atomic<bool> cancel{false};
  options.cancel = &cancel;
  const std::string text =
      "fn f(n: i64) -> i64 = if n == 0 then 0 else 1 + f(n - 1) fn main(n: i64) -> i64 = f(n)";
  EXPECT_EQ(run(GetParam(), text, {int64_t{2000}}, options), std::vector<Value>{int64_t{2000}});
}

TEST_P(Budgets, StatsCountCallsFramesAndTime) {
  const std::string text =
      "fn fib(n: i64) -> i64 = if n <= 1 then 1 else fib(n - 1) + fib(n - 2) fn main(n: i64) -> i64 = fib(n)";
  RunOptions options;
  options.count_regions = true;
  const RunResult result = run(GetParam(), graph_of(text), {int64_t{10}}, options);
  EXPECT_EQ(result.stats.calls, 177u);
  EXPECT_GE(result.stats.frames_live_most, 10u);
  EXPECT_GE(result.stats.frames_allocated, 10u);
  EXPECT_GT(result.stats.bytes, 0u);
  EXPECT_GT(result.stats.seconds, 0.0);
}

TEST(ExpandingWindow, HoldsBackIterationsThatRunAhead) {
  const graph::Graph graph = graph_of(
      "fn slow(n: i64) -> i64 = if n == 0 then 1 else slow(n - 1)\n"
      "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do acc + slow(i % 5)\n");
  for (int window : {1, 2, 10}) {
    RunOptions options;
    options.parallel_iterations = window;
    const RunResult result = run({Executor::Expanding}, graph, {int64_t{200}}, options);
    EXPECT_EQ(result.values, std::vector<Value>{int64_t{200}});
    EXPECT_LE(result.stats.frames_live_most, 1u + window * 7u);
  }
}

}  // namespace
}  // namespace hiaton::exec::testing
