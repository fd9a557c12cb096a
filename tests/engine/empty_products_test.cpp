// Products with learned matrices that have no rows or no columns.
#include <gtest/gtest.h>

#include "engine/all_ways.h"
#include "hiaton/model.h"

namespace hiaton {
namespace {

Value vector(DType dtype, int64_t size, const std::string& text) {
  return parse_value(tensor_type(dtype, {size}), text);
}

TEST(EmptyProducts, OfNothingAreZeroOrTheBias) {
  const std::string parameters = "param w: f32[0, 3] = ones\nparam b: f32[3] = ones\n";
  const std::vector<Value> nothing = {vector(DType::F32, 0, "[]")};
  expect_in_all_ways(parameters + "fn main(x: f32[0]) -> f32[3] = x @ w\n", nothing,
                     {vector(DType::F32, 3, "[0, 0, 0]")});
  expect_in_all_ways(parameters + "fn main(x: f32[0]) -> f32[3] = x @ w + b\n", nothing,
                     {vector(DType::F32, 3, "[1, 1, 1]")});
  expect_in_all_ways(parameters + "fn main(x: f32[2, 0]) -> f32[2, 3] = x @ w\n",
                     {Value(Tensor(DType::F32, {2, 0}))}, {Value(Tensor(DType::F32, {2, 3}))});
}

TEST(EmptyProducts, WithoutColumnsHaveZeroGradients) {
  expect_in_all_ways(
      "param w: f64[3, 0] = ones\n"
      "fn f(x: f64[3]) -> f64 = sum(x @ w)\n"
      "fn main(x: f64[3]) -> (f64, f64[3]) = value_and_grad(f)(x)\n",
      {vector(DType::F64, 3, "[1, 2, 3]")}, {0.0, vector(DType::F64, 3, "[0, 0, 0]")});
}

/// Checks the gradient of sum(x @ w) by w.
void expect_no_sums(const std::string& w, const Value& x) {
  const Model model = Model::from_text(
      "test.hia", "param w: " + w + " = ones\nfn loss(x: " + to_string(x.type()) + ") -> f64 = sum(x @ w)\n");
  const std::vector<Value> parameters = model.initial_parameters(1);
  const std::vector<std::vector<Value>> examples = {{x}, {x}};
  for (RunOptions way : all_ways()) {
    Gradients gradients(model.parameters());
    way.parameters = parameters;
    way.gradients = &gradients;
    EXPECT_EQ(model.loss(examples, way), (std::vector<std::vector<Value>>{{0.0}, {0.0}}));
    EXPECT_EQ(gradients[0].values.size(), 0);
  }
}

TEST(EmptyProducts, HaveSumsWithoutElements) {
  expect_no_sums("f64[0, 3]", vector(DType::F64, 0, "[]"));
  expect_no_sums("f64[3, 0]", vector(DType::F64, 3, "[1, 2, 3]"));
}

}  // namespace
}  // namespace hiaton
