// Products with learned matrices and biases, where only the run knows the shapes around them.
#include <gtest/gtest.h>

#include "engine/all_ways.h"

namespace hiaton {
namespace {

constexpr const char* kParameters =
    "param W: f64[2, 2] = ones\n"
    "param b: f64[2] = ones\n";

Value vector(const std::string& text) {
  return parse_value(tensor_type(DType::F64, {2}), text);
}

TEST(Products, TakeABiasBesideRowsOfAnyNumber) {
  const Value rows = parse_value(tensor_type(DType::F64, {3, 1}), "[[1], [2], [3]]");
  const std::string main = "fn main(x: f64[m, n]) -> f64[2] = fold(step, b, x)\n";
  for (const char* sum : {"b + a @ W", "a @ W + b"}) {
    const std::string step = "fn step(a: f64[2], row: f64[n]) -> f64[2] = " + std::string(sum) + "\n";
    expect_in_all_ways(kParameters + step + main, {rows}, {vector("[15, 15]")});
  }
}

TEST(Products, TakeOneBiasOfSeveral) {
  const std::string parameters = std::string(kParameters) + "param c: f64[2] = ones\n";
  const std::pair<std::string, std::string> sums[] = {{"x @ W + b + b", "[7, 7]"},
                                                      {"b + (b + x @ W)", "[7, 7]"},
                                                      {"x @ W + b + c", "[7, 7]"},
                                                      {"c + (x @ W + b) + b", "[8, 8]"}};
  for (const auto& [sum, expected] : sums)
    expect_in_all_ways(parameters + "fn main(x: f64[2]) -> f64[2] = " + sum, {vector("[2, 3]")},
                       {vector(expected)});
}

TEST(Products, OfVectorsWhoseSizeOnlyTheRunKnows) {
  const std::string text = std::string(kParameters) + "fn main(x: f64[n]) -> f64[2] = x @ W + b\n";
  expect_in_all_ways(text, {vector("[2, 3]")}, {vector("[6, 6]")});
  const Program program = Program::from_text("test.hia", text);
  const Value three = parse_value(tensor_type(DType::F64, {3}), "[1, 2, 3]");
  const std::vector<Value> learned = initial_parameters(program.graph().parameters(), 1);
  for (RunOptions way : all_ways()) {
    way.parameters = learned;
    try {
      program.run({three}, way);
      FAIL() << "three numbers times two rows";
    } catch (const RunError& error) {
      EXPECT_EQ(error.fault(), Fault::Shape);
      EXPECT_NE(std::string(error.what()).find("found f64[3] and f64[2, 2]"), std::string::npos)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace hiaton
