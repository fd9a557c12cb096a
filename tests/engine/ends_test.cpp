// Functions that end in branches: their sides return by themselves, and give what the reference rules give.
#include <gtest/gtest.h>

#include "hiaton/hiaton.h"

namespace hiaton {
namespace {

void expect_results_of_the_reference(const std::string& text, std::initializer_list<int64_t> arguments) {
  const Program program = Program::from_text("test.hia", text);
  for (int64_t n : arguments) {
    const std::vector<Value> expected = program.run({Value(n)}, {.executor = Executor::Reference}).values;
    for (const bool batching : {true, false}) {
      const RunResult found = program.run({Value(n)}, {.executor = Executor::Flow, .batching = batching});
      EXPECT_EQ(found.values, expected) << text << n;
      EXPECT_EQ(found.stats.frames_live_at_end, 0u) << text << n;
    }
  }
}

TEST(Ends, OfResultsThatComeAtDifferentTimes) {
  expect_results_of_the_reference(
      "fn f(n: i64) -> (f32[2], f32, i64) =\n"
      "  if n == 0 then ([1, 2], 0.5, 7)\n"
      "  else let (h, s, i) = f(n - 1)\n"
      "       (tanh(h) * 2, s + sum(h), if s > 1 then i + n else i * 2)\n"
      "fn main(n: i64) -> (f32[2], f32, i64) = f(n)\n",
      {0, 1, 5, 20});
}

TEST(Ends, OfNestedBranches) {
  expect_results_of_the_reference(
      "fn f(h: f32[2], n: i64) -> (f32[2], i64) =\n"
      "  if n <= 0 then (h, n)\n"
      "  else if n % 3 == 0 then let (g, m) = f(h * 0.5, n - 2)\n"
      "                          (if m < 0 then g + h else g - h, m + 1)\n"
      "  else if n % 3 == 1 then f(h + 1, n - 1)\n"
      "  else let (g, m) = f(h, n - 4)\n"
      "       (g * 2, m - 1)\n"
      "fn main(n: i64) -> (f32[2], i64) = f([1, 2], n)\n",
      {0, 1, 2, 3, 7, 12, 31});
}

TEST(Ends, OfResultsThatAreNotAllOfTheBranch) {
  expect_results_of_the_reference(
      "fn f(h: f32[2], n: i64) -> (f32[2], f32[2], i64) =\n"
      "  let g = tanh(h)\n"
      "  let (a, m) = if n == 0 then (h, 1) else let (x, _, k) = f(g, n - 1)\n"
      "                                          (x + g, k * 2)\n"
      "  (a, g, m)\n"
      "fn main(n: i64) -> (f32[2], f32[2], i64) = f([1, 2], n)\n",
      {0, 1, 6});
}

TEST(Ends, ThatGiveTheSameOnBothSidesOrConstants) {
  expect_results_of_the_reference(
      "fn f(h: f32[2], n: i64) -> (f32[2], f32[2], bool) =\n"
      "  if n > 3 then (h, [0, 0], true) else (h, h * 2, false)\n"
      "fn main(n: i64) -> (f32[2], f32[2], bool) =\n"
      "  let (a, b, c) = f([1, 2], n)\n"
      "  (a + b, b, not c)\n",
      {0, 9});
}

TEST(Ends, OfGradients) {
  expect_results_of_the_reference(
      "fn f(x: f64, n: i64) -> f64 =\n"
      "  if n == 0 then x else if n % 2 == 0 then x * f(x, n - 1) else sin(f(x, n - 1)) + x\n"
      "fn main(n: i64) -> (f64, f64) = value_and_grad(f)(0.7, n)\n",
      {0, 1, 2, 9});
}

}  // namespace
}  // namespace hiaton
