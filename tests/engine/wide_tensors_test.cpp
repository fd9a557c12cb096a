// Elementwise operations on tensors so wide that their instances go through them a few at a time: values,
// gradients, and what is the same for all instances.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/all_ways.h"

namespace hiaton {
namespace {

/// One result of learned parameters alone, that lines read; views of a wide product; results that are joined
/// and cut again.
constexpr const char* kProgram = R"(
size d = 300
param p: f64[d] = uniform(1)
param W: f64[d, 2 * d] = normal(0.05)

fn cell(x: f64[d]) -> f64[d] =
  let (a, b) = split(x @ W, axis=0, lengths=[d, d])
  let c = x * tanh(p) + a
  let e = sigmoid(c) * b
  let (g, h) = split(concat(e * x, c - e, axis=0), axis=0, lengths=[d, d])
  g * h + tanh(g) + e

fn many(n: i64, x: f64[d]) -> f64[d] =
  if n == 0 then cell(x) else many(n - 1, x * 0.9) + many(n - 1, tanh(x + 0.01))

fn loss(x: f64[d]) -> f64 = sum(many(6, x))

fn main(x: f64[d]) -> (f64[d], f64[d]) = (many(6, x), grad(loss)(x))
)";

Value numbers() {
  constexpr int64_t kWidth = 300;
  Tensor tensor(DType::F64, std::vector<int64_t>{kWidth});
  double* elements = tensor.mutable_data<double>();
  for (int64_t i = 0; i < kWidth; ++i) elements[i] = std::sin(static_cast<double>(i));
  return tensor;
}

void expect_near(const Value& found, const Value& expected) {
  const Tensor a = found.tensor();
  const Tensor b = expected.tensor();
  ASSERT_EQ(a.size(), b.size());
  for (int64_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a.data<double>()[i], b.data<double>()[i], 1e-10) << i;
}

TEST(WideTensors, HaveTheValuesAndGradientsOfTheReference) {
  const Program program = Program::from_text("test.hia", kProgram);
  const std::vector<Value> learned = initial_parameters(program.graph().parameters(), 1);
  std::vector<Value> expected;
  for (RunOptions way : all_ways()) {
    way.parameters = learned;
    const std::vector<Value> found = program.run({numbers()}, way).values;
    if (expected.empty()) expected = found;
    for (std::size_t i = 0; i < found.size(); ++i) expect_near(found[i], expected[i]);
  }
}

}  // namespace
}  // namespace hiaton
