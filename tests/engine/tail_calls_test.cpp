// Tail calls of programs with tensors and data values: what they keep alive.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hiaton/hiaton.h"

namespace hiaton {
namespace {

RunResult run(const std::string& text, int64_t n, RunOptions options = {}) {
  return Program::from_text("test.hia", text).run({Value(n)}, options);
}

/// The results are those of the reference rules, and what is alive does not grow with the steps.
void expect_constant_memory(const std::string& text) {
  EXPECT_EQ(run(text, 300).values, run(text, 300, {.executor = Executor::Reference}).values) << text;
  for (const Executor executor : {Executor::Flow, Executor::Production}) {
    const RunStats few = run(text, 1'000, {.executor = executor, .count_regions = true}).stats;
    const RunStats many = run(text, 100'000, {.executor = executor, .count_regions = true}).stats;
    // In direct code a loop is one in its frame, not calls.
    const bool is_loop = text.find(" for ") != std::string::npos;
    if (executor == Executor::Flow || !is_loop) {
      EXPECT_GE(many.calls, 100'000u) << text;
    }
    EXPECT_LE(many.frames_live_most, 4u) << text;
    EXPECT_LE(many.bytes, few.bytes + 1024) << text;  // a few values more or less where it looked
    EXPECT_EQ(many.frames_live_at_end, 0u) << text;
  }
}

uint64_t most_frames(const std::string& text, int64_t n) {
  return run(text, n).stats.frames_live_most;
}

TEST(TailCalls, OfTensorsRunInConstantMemory) {
  expect_constant_memory(
      "fn step(h: f32[4], n: i64) -> f32[4] = if n == 0 then h else step(tanh(h + 0.5), n - 1)\n"
      "fn main(n: i64) -> f32[4] = step([1, 2, 3, 4], n)\n");
}

TEST(TailCalls, ThroughBranchesOfOtherFunctionsWithSeveralResults) {
  expect_constant_memory(
      "fn a(h: f32[4], s: f32, n: i64) -> (f32[4], f32) =\n"
      "  if n == 0 then (h, s) else if n % 3 == 0 then b(h + 1, s, n - 1) else a(h * 0.5, s + sum(h), n - "
      "1)\n"
      "fn b(h: f32[4], s: f32, n: i64) -> (f32[4], f32) =\n"
      "  let t = h[0]\n"
      "  if n <= 0 then (h, t) else a(h, s - t, n - 1)\n"
      "fn main(n: i64) -> (f32[4], f32) = a([1, 2, 3, 4], 0, n)\n");
}

TEST(TailCalls, OfLoopsOverTensors) {
  expect_constant_memory(
      "fn main(n: i64) -> f32[4] = with h = [1f32, 2, 3, 4] for _ in 0..n do tanh(h + 0.5)\n");
}

TEST(TailCalls, OfDataValues) {
  expect_constant_memory(
      "data Pair = Pair(a: i64, b: i64)\n"
      "fn fib(p: Pair, n: i64) -> Pair =\n"
      "  if n == 0 then p else match p Pair(a, b) -> fib(Pair(b, (a + b) % 1000), n - 1)\n"
      "fn main(n: i64) -> i64 = match fib(Pair(0, 1), n) Pair(a, _) -> a\n");
}

TEST(TailCalls, AreNotThoseWhoseResultsAreUsedOrExchanged) {
  const std::string main =
      "fn main(n: i64) -> f32 =\n  let (a, b) = f([1, 2], [3, 5], n)\n  sum(a) + 2 * sum(b)\n";
  for (const std::string body :
       {"let (a, b) = f(y * 0.5, x, n - 1) (b, a)", "let (a, b) = f(x, y, n - 1) (a, a)",
        "let (a, b) = f(x, y, n - 1) (a, y)", "let (a, b) = f(x, y, n - 1) (a + 1, b)"}) {
    const std::string text =
        "fn f(x: f32[2], y: f32[2], n: i64) -> (f32[2], f32[2]) = if n == 0 then (x, y) else " + body + "\n" +
        main;
    EXPECT_EQ(run(text, 100).values, run(text, 100, {.executor = Executor::Reference}).values) << body;
    EXPECT_GE(most_frames(text, 100), 100u) << body;
  }
}

TEST(TailCalls, AreNotThoseThatABranchMayLeaveUnread) {
  const std::string text =
      "fn f(h: f32[2], n: i64) -> f32[2] =\n"
      "  if n == 0 then h else\n"
      "    let rest = f(h * 0.5, n - 1)\n"
      "    if n % 7 == 0 then h else rest\n"
      "fn main(n: i64) -> f32[2] = f([1, 2], n)\n";
  for (const int64_t n : {0, 3, 7, 20}) {
    EXPECT_EQ(run(text, n).values, run(text, n, {.executor = Executor::Reference}).values) << n;
  }
}

TEST(TailCalls, OfAGradientKeepTheFramesThatItComesBackThrough) {
  const std::string text =
      "fn f(h: f64[2], n: i64) -> f64 = if n == 0 then sum(h) else f(h * 1.5, n - 1)\n"
      "fn main(n: i64) -> (f64[2]) = grad(f)([1, 2], n)\n";
  EXPECT_EQ(run(text, 3).values[0], parse_value(tensor_type(DType::F64, {2}), "[3.375, 3.375]"));
  EXPECT_GE(most_frames(text, 100), 100u);
}

TEST(TailCalls, LeaveTheirCallersOutOfTheChainOfAnError) {
  const std::string text =
      "fn step(h: i64[2], n: i64) -> i64[2] = if n == 0 then h / 0 else step(h + 1, n - 1)\n"
      "fn total(n: i64) -> i64 = if n == 0 then 0 else sum(step([1, 2], n)) + total(n - 1)\n"
      "fn main(n: i64) -> i64 = 1 + total(n)\n";
  try {
    run(text, 1, {.executor = Executor::Flow});
    ADD_FAILURE() << "no error";
  } catch (const RunError& error) {
    EXPECT_EQ(error.fault(), Fault::DivisionByZero);
    ASSERT_EQ(error.chain().size(), 3u) << error.what();
    EXPECT_EQ(error.chain()[0].function, "step");
    EXPECT_THAT(error.chain()[0].arguments, testing::ElementsAre("h = [2, 3]", "n = 0"));
    EXPECT_THAT(error.chain()[0].call_place, testing::StartsWith("test.hia:1:"));
    EXPECT_EQ(error.chain()[1].function, "total");
    EXPECT_EQ(error.chain()[2].function, "main");
  }
}

TEST(TailCalls, WithoutEndTakeTimeButNoMemory) {
  const std::string text =
      "fn step(h: f32[2], n: i64) -> f32[2] = if n < 0 then h else step(h + 1, n + 1)\n"
      "fn main(n: i64) -> f32[2] = step([1, 2], n)\n";
  try {
    run(text, 5, {.max_frames = 100, .timeout = std::chrono::milliseconds(50)});
    ADD_FAILURE() << "no error";
  } catch (const RunError& error) {
    EXPECT_EQ(error.fault(), Fault::Timeout);
  }
}

}  // namespace
}  // namespace hiaton
