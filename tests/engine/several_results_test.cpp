// Gradients of functions with several float results: that of the first one, through all results of inner
// calls.
#include <gtest/gtest.h>

#include "hiaton/hiaton.h"

namespace hiaton {
namespace {

constexpr const char* kText =
    "fn f(x: f64, n: i64) -> (f64, f64, f64[2]) =\n"
    "  if n == 0 then (x, x * 2, [x, 1])\n"
    "  else let (a, b, c) = f(x, n - 1) in (a * b + sum(c), a + x, c * x)\n"
    "fn first(x: f64, n: i64) -> f64 = let (a, _, _) = f(x, n) in a\n"
    "fn slope(x: f64, n: i64) -> (f64, f64) = (grad(f)(x, n), x)\n"
    "fn value(x: f64, n: i64) -> (f64, f64, f64[2]) = f(x, n)\n"
    "fn both(x: f64, n: i64) -> (f64, f64, f64[2], f64) = value_and_grad(f)(x, n)\n";

std::vector<Value> call(const std::string& head, double x, RunOptions options = {}) {
  const std::string text = std::string(kText) + "fn main(x: f64) -> " + head + "\n";
  return Program::from_text("test.hia", text).run({Value(x)}, options).values;
}

double slope_of(const std::string& head, double x) {
  constexpr double kStep = 1e-5;
  return (call(head, x + kStep)[0].as<double>() - call(head, x - kStep)[0].as<double>()) / (2 * kStep);
}

TEST(SeveralResults, HaveTheGradientOfTheFirst) {
  const std::string main = "(f64, f64, f64[2], f64) = both(x, 3)";
  const std::vector<Value> expected = call(main, 0.7, {.executor = Executor::Reference});
  EXPECT_NEAR(expected[3].as<double>(), slope_of("f64 = first(x, 3)", 0.7), 1e-6);
  EXPECT_EQ(call(main, 0.7, {.executor = Executor::Expanding}), expected);
  for (const bool batching : {true, false}) EXPECT_EQ(call(main, 0.7, {.batching = batching}), expected);
  const std::vector<Value> values = call("(f64, f64, f64[2]) = value(x, 3)", 0.7);
  EXPECT_EQ(std::vector<Value>(expected.begin(), expected.begin() + 3), values);
}

TEST(SeveralResults, HaveGradientsOfGradients) {
  const std::string main = "f64 = grad(slope)(x, 3)";
  const std::vector<Value> expected = call(main, 0.7, {.executor = Executor::Reference});
  EXPECT_NEAR(expected[0].as<double>(), slope_of("(f64, f64) = slope(x, 3)", 0.7), 1e-5);
  EXPECT_EQ(call(main, 0.7), expected);
}

}  // namespace
}  // namespace hiaton
