// What errors of the run say of the calls that led to them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "engine/all_ways.h"
#include "engine/run_error.h"

namespace hiaton {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Value kTwo = parse_value(tensor_type(DType::F32, {2}), "[1, 2]");

TEST(CallChains, OfABudgetHaveTheArgumentsOfTheirCalls) {
  // Frames of `count` are used again; what a frame held before is of another call.
  const Program program = Program::from_text(
      "test.hia",
      "fn count(n: i64, k: i64, x: f32[2]) -> i64 = if n == 0 then k else 1 + count(n - 1, k + 1, x)\n"
      "fn deeper(n: i64, x: f32[2]) -> i64 = if n <= 0 then count(20, 5, x) else 1 + deeper(n - 1, x)\n"
      "fn main(x: f32[2]) -> i64 =\n"
      "  let a = count(30, 1000, x)\n"
      "  deeper(if a > 5 then 30 else 31, x)\n");
  for (RunOptions way : all_ways()) {
    // Elsewhere the last call has no arguments yet; direct code keeps the frames that it has made.
    if (way.executor != Executor::Production || !way.batching) continue;
    way.executor = Executor::Flow;
    way.max_frames = 40;
    const RunError error = error_of(program, {kTwo}, way);
    ASSERT_EQ(error.fault(), Fault::MaxFrames) << error.what();
    const CallRecord& innermost = error.chain().front();
    ASSERT_EQ(innermost.function, "count");
    int64_t n = 0;
    int64_t k = 0;
    ASSERT_EQ(std::sscanf(innermost.arguments[0].c_str(), "n = %ld", &n), 1) << error.what();
    ASSERT_EQ(std::sscanf(innermost.arguments[1].c_str(), "k = %ld", &k), 1) << error.what();
    EXPECT_EQ(n + k, 25) << error.what();
  }
}

TEST(CallChains, AreOfTheProgramWhereItCallsWhatWasMadeForIt) {
  const Program program =
      Program::from_text("test.hia", "fn main(n: i64) -> (i64, str) = (10 / n, str([\"a\"]))\n");
  for (const RunOptions& way : all_ways()) {
    const RunError error = error_of(program, {int64_t{0}}, way);
    ASSERT_EQ(error.fault(), Fault::DivisionByZero) << error.what();
    ASSERT_EQ(error.chain().size(), 1) << error.what();
    EXPECT_EQ(error.chain()[0].function, "main");
    EXPECT_THAT(error.chain()[0].arguments, ElementsAre("n = 0"));
  }
}

TEST(CallChains, OfGradientsNameTheFunctionsThatWereWritten) {
  const Program program = Program::from_text(
      "test.hia",
      "fn f(x: f32[2], n: i64) -> f32 = if n == 0 then sum(x) else f(x * 2, n - 1) * x[n]\n"
      "fn main(x: f32[2]) -> (f32, f32[2]) = value_and_grad(g)(x)\n"
      "fn g(x: f32[2]) -> f32 = f(x, 2)\n");
  for (const RunOptions& way : all_ways()) {
    const RunError error = error_of(program, {kTwo}, way);
    ASSERT_EQ(error.fault(), Fault::Index) << error.what();
    const std::vector<CallRecord>& chain = error.chain();
    ASSERT_GE(chain.size(), 2);
    EXPECT_EQ(chain[0].function, "f");
    EXPECT_THAT(chain[0].arguments, ElementsAre("x = [1.0, 2.0]", "n = 2"));
    EXPECT_EQ(chain[1].function, "g");
    EXPECT_THAT(chain[1].arguments, ElementsAre("x = [1.0, 2.0]"));
  }
}

TEST(CallChains, NameTheFunctionThatHasTakenOverAFrame) {
  const Program program =
      Program::from_text("test.hia",
                         "fn a(v: i64, n: i64) -> i64 = if n == 0 then v / n else b(v * 2, n - 1)\n"
                         "fn b(v: i64, n: i64) -> i64 = a(v + 1, n - 1) + 2\n"
                         "fn main(n: i64) -> i64 = 1 + a(1, n)\n");
  for (const RunOptions& way : all_ways()) {
    const RunError error = error_of(program, {int64_t{2}}, way);
    ASSERT_EQ(error.fault(), Fault::DivisionByZero) << error.what();
    const std::vector<CallRecord>& chain = error.chain();
    ASSERT_GE(chain.size(), 3) << error.what();
    EXPECT_EQ(chain[0].function, "a");
    EXPECT_THAT(chain[0].arguments, ElementsAre("v = 3", "n = 0"));
    EXPECT_EQ(chain[0].call_place, "test.hia:2:31");
    EXPECT_EQ(chain[1].function, "b");
    EXPECT_THAT(chain[1].arguments, ElementsAre("v = 2", "n = 1"));
    if (chain[1].tail_called_from.empty()) {
      EXPECT_EQ(chain[1].call_place, "test.hia:1:57");
    } else {
      EXPECT_EQ(chain[1].tail_called_from, "a");
      EXPECT_EQ(chain[1].call_place, "test.hia:3:30");
      EXPECT_THAT(error.what(),
                  HasSubstr("in b(v = 2, n = 1) by tail calls from a, called at test.hia:3:30"));
    }
  }
}

}  // namespace
}  // namespace hiaton
