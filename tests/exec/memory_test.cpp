// What a production run may hold: frames near the depth of its calls, and nothing for tail calls and loops.
#include <gtest/gtest.h>

#include "exec/stealing.h"

namespace hiaton::exec::testing {
namespace {

RunResult production(std::string_view text, int64_t n, int workers = 1) {
  RunOptions options;
  options.count_regions = true;
  return run(Mode{Executor::Production, workers}, graph_of(text), {n}, options);
}

TEST(Memory, ATailRecursionRunsInConstantFrames) {
  const RunResult result = production(
      "fn total(n: i64, acc: i64) -> i64 = if n == 0 then acc else total(n - 1, acc + n)\n"
      "fn main(n: i64) -> i64 = total(n, 0)\n",
      1'000'000);
  EXPECT_EQ(result.values, std::vector<Value>{int64_t{500000500000}});
  EXPECT_EQ(result.stats.calls, 1'000'001u);
  EXPECT_LE(result.stats.frames_live_most, 2u);
}

constexpr std::string_view kSmallAndLarge =
    "fn small(n: i64) -> i64 = if n == 0 then 7 else large(n - 1, n, n + 1, n + 2, n + 3)\n"
    "fn large(n: i64, a: i64, b: i64, c: i64, d: i64) -> i64 =\n"
    "  let p = a * b let q = c * d let r = a * c let s = b * d\n"
    "  if n == 0 then p + q + r + s else small(n - 1 + (p - q + r - s) * 0)\n"
    "fn main(n: i64) -> i64 = small(n)\n";

TEST(Memory, TailCallsBetweenSmallAndLargeFramesRunInConstantFrames) {
  const RunResult result = production(kSmallAndLarge, 1'000'000);
  EXPECT_EQ(result.values, std::vector<Value>{int64_t{7}});
  EXPECT_EQ(result.stats.calls, 1'000'001u);
  EXPECT_LE(result.stats.frames_live_most, 4u);
}

TEST(Memory, TailCallsInsideOfCallsTakeTheSameFramesAgain) {
  const std::string text = std::string(kSmallAndLarge.substr(0, kSmallAndLarge.find("fn main"))) +
                           "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do acc + small(i % 50)\n";
  const RunResult result = production(text, 20'000);
  EXPECT_LE(result.stats.frames_live_most, 8u);
  EXPECT_EQ(result.stats.frames_live_at_end, 0u);
}

TEST(Memory, FibHoldsNoMoreFramesThanItIsDeep) {
  for (int workers : {1, 2, 8}) {
    const RunResult result = production(kFib, 25, workers);
    EXPECT_EQ(result.stats.calls, 242785u);
    EXPECT_LE(result.stats.frames_live_most, 100u * static_cast<unsigned>(workers)) << workers << " workers";
  }
}

TEST(Memory, ALevelOfSumTakesAtMost64Bytes) {
  constexpr uint64_t kDepth = 1'000'000;
  const RunResult result = production(
      "fn total(n: i64) -> i64 = if n == 0 then 0 else n + total(n - 1)\n"
      "fn main(n: i64) -> i64 = total(n)\n",
      kDepth);
  EXPECT_EQ(result.stats.frames_live_most, kDepth + 2);
  // Chunks of memory double up to 32 MiB, and the last may be nearly empty.
  EXPECT_LE(result.stats.bytes, kDepth * 64 + (uint64_t{32} << 20));
}

TEST(Memory, ALoopRunsInOneFrame) {
  const RunResult result =
      production("fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do acc + i % 3\n", 10'000'000);
  EXPECT_EQ(result.values, std::vector<Value>{int64_t{9999999}});
  EXPECT_EQ(result.stats.frames_live_most, 1u);
}

TEST(Atomics, AreNotUsedByARunOfOneWorker) {
  for (std::string_view text : {kFib, kSmallAndLarge}) {
    EXPECT_EQ(production(text, 20).stats.atomic_operations, 0u);
  }
}

/// A program whose calls all need each other gives thieves nothing: a worker answers some requests, a few
/// operations for each of them and none for a call.
TEST(Atomics, AreFewWhereNothingCanBeStolen) {
  const RunResult result = production(
      "fn f(n: i64) -> i64 = if n > 100 then n - 10 else f(f(n + 11))\n"
      "fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do acc + f(acc % 2)\n",
      2'000, 2);
  EXPECT_EQ(result.stats.steals, 0u);
  EXPECT_LT(result.stats.atomic_operations, result.stats.calls / 100);
}

}  // namespace
}  // namespace hiaton::exec::testing
