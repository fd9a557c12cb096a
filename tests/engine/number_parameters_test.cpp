// Learned parameters that are numbers: they act as the element of a tensor of one element would, in all ways
// to run.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "engine/all_ways.h"
#include "hiaton/model.h"

namespace hiaton {
namespace {

using Lists = std::vector<std::vector<Value>>;

/// A number `t` in a recursion: beside tensors, beside numbers, and on one of two ways alone.
Model model_with(const std::string& type, const std::string& t) {
  return Model::from_text("model.hia",
                          "param w: f64[3] = normal(1.0)\n"
                          "param t: " +
                              type +
                              " = normal(1.0)\n"
                              "param unused: " +
                              type +
                              " = ones\n"
                              "fn walk(n: i64) -> f64[3] =\n"
                              "  if n <= 0 then w * " +
                              t + " else tanh(walk(n - 1) * " + t +
                              " + walk(n - 3))\n"
                              "fn loss(n: i64) -> f64 =\n"
                              "  if n == 5 then sum(w) else sum(walk(n)) * " +
                              t + " * f64(n) + sin(" + t + ")\n");
}
const Model& of_numbers() {
  static const Model model = model_with("f64", "t");
  return model;
}
const Model& of_tensors() {
  static const Model model = model_with("f64[1]", "sum(t)");
  return model;
}

const Lists kTurns = {{int64_t{0}}, {int64_t{3}}, {int64_t{5}}, {int64_t{7}}};

struct LossesAndSlopes {
  std::vector<double> losses;
  std::vector<double> slopes;  ///< by w, by t, by what is not used
};

LossesAndSlopes losses_and_slopes(const Model& model, RunOptions options, const Lists& examples = kTurns) {
  const std::vector<Value> parameters = model.initial_parameters(1);
  Gradients gradients(model.parameters());
  options.parameters = parameters;
  options.gradients = &gradients;
  LossesAndSlopes found;
  for (const std::vector<Value>& results : model.loss(examples, options))
    found.losses.push_back(results[0].as<double>());
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const Tensor& sum = gradients[i].values;
    for (int64_t n = 0; n < sum.size(); ++n) found.slopes.push_back(sum.data<double>()[n]);
  }
  return found;
}

TEST(NumberParameters, AreThoseOfTensorsOfOneElementInAllWays) {
  const LossesAndSlopes expected = losses_and_slopes(of_tensors(), expected_way());
  ASSERT_EQ(expected.slopes.size(), 5u);
  ASSERT_NE(expected.slopes[3], 0.0);
  for (const RunOptions& way : all_ways()) {
    const LossesAndSlopes found = losses_and_slopes(of_numbers(), way);
    for (std::size_t i = 0; i < kTurns.size(); ++i) EXPECT_NEAR(found.losses[i], expected.losses[i], 1e-12);
    for (std::size_t i = 0; i < expected.slopes.size(); ++i)
      EXPECT_NEAR(found.slopes[i], expected.slopes[i], 1e-11) << i;
  }
}

TEST(NumberParameters, HaveNoGradientWhereNothingReadsThem) {
  const LossesAndSlopes found = losses_and_slopes(of_numbers(), {}, {{int64_t{5}}});
  EXPECT_EQ(found.slopes, (std::vector<double>{1, 1, 1, 0, 0}));
}

TEST(NumberParameters, BeginAsTheirInitializerSays) {
  const std::vector<Value> parameters = of_numbers().initial_parameters(1);
  EXPECT_EQ(parameters[1].type(), Type(DType::F64));
  EXPECT_EQ(parameters[1], element_of(of_tensors().initial_parameters(1)[1].tensor(), 0));
  EXPECT_EQ(parameters[2], Value(1.0));
  const Model plain =
      Model::from_text("plain.hia", "param t: f32\nparam g: f32 = glorot\nfn loss(n: i64) -> f32 = t + g\n");
  EXPECT_EQ(plain.initial_parameters(1)[0], Value(0.0F));
  EXPECT_LE(std::abs(plain.initial_parameters(1)[1].as<float>()), std::sqrt(6.0F / 2));
}

TEST(NumberParameters, AreKeptByFilesOfGraphs) {
  const Program program =
      Program::from_text("p.hia", "param t: f64 = ones\nfn main(x: f64) -> f64 = t * x\n");
  const std::string saved = graph::to_json(program.graph());
  const Program read = Program::from_graph(graph::from_json(saved, "saved.json"));
  const std::vector<Value> learned{2.5};
  EXPECT_EQ(read.run({{2.0}}, {.parameters = learned}).values, std::vector<Value>{5.0});
  EXPECT_EQ(graph::to_json(read.graph()), saved);
}

}  // namespace
}  // namespace hiaton
