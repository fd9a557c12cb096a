// Gradients where a factor of the usual formula is infinite or no number, and the gradient itself is not.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/all_ways.h"

namespace hiaton {
namespace {

void expect_gradients(const std::string& function, const std::vector<Value>& arguments,
                      const std::vector<Value>& expected) {
  const std::string params = function.substr(function.find('('), function.find(" ->") - function.find('('));
  std::string names;
  std::string types;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    names += std::string(i > 0 ? ", " : "") + static_cast<char>('x' + i);
    types += (i > 0 ? ", " : "") + to_string(arguments[i].type());
  }
  const std::string result = arguments.size() > 1 ? "(" + types + ")" : types;
  expect_in_all_ways(function + "fn main" + params + " -> " + result + " = grad(f)(" + names + ")\n",
                     arguments, expected);
}

TEST(GradientsOfPow, AreNumbersAtZero) {
  const std::string pow = "fn f(x: f64, y: f64) -> f64 = pow(x, y)\n";
  expect_gradients(pow, {0.0, 0.0}, {0.0, 0.0});
  expect_gradients(pow, {0.0, 1.0}, {1.0, 0.0});
  expect_gradients(pow, {0.0, 2.0}, {0.0, 0.0});
  expect_gradients(pow, {3.0, 0.0}, {0.0, std::log(3.0)});
}

TEST(GradientsOfPow, OfAPolynomial) {
  const std::string polynomial = "fn p(x: f64) -> f64 = with s = 0.0 for k in 0..4 do s + pow(x, f64(k))\n";
  expect_gradients(polynomial + "fn f(x: f64) -> f64 = p(x)\n", {0.0}, {1.0});
  expect_gradients(polynomial + "fn f(x: f64) -> f64 = grad(p)(x)\n", {0.0}, {2.0});
}

TEST(GradientsOfLogsumexp, AreZeroForWhatIsImpossible) {
  const Value impossible = parse_value(tensor_type(DType::F64, {2}), "[-inf, -inf]");
  const Value zeros = parse_value(tensor_type(DType::F64, {2}), "[0, 0]");
  expect_gradients("fn f(x: f64[2]) -> f64 = logsumexp(x)\n", {impossible}, {zeros});
  const Value rows = parse_value(tensor_type(DType::F64, {2, 2}), "[[-inf, -inf], [-inf, 3]]");
  const Value of_rows = parse_value(tensor_type(DType::F64, {2, 2}), "[[0, 0], [0, 1]]");
  expect_gradients("fn f(x: f64[2, 2]) -> f64 = sum(logsumexp(x, axes=1))\n", {rows}, {of_rows});
}

TEST(Dropout, RefusesRatesThatAreNone) {
  const Program program =
      Program::from_text("test.hia", "fn main(x: f64[2], rate: f64) -> f64[2] = dropout(x, rate, 1)\n");
  for (const double rate : {1.5, -0.5, std::numeric_limits<double>::quiet_NaN()}) {
    for (const RunOptions& way : all_ways()) {
      try {
        program.run({parse_value(tensor_type(DType::F64, {2}), "[1, 2]"), rate}, way);
        FAIL() << rate;
      } catch (const RunError& error) {
        EXPECT_EQ(error.fault(), Fault::Rate);
      }
    }
  }
}

}  // namespace
}  // namespace hiaton
