// Learned parameters that are numbers, in training and in files of parameters.
#include <gtest/gtest.h>

#include "hiaton/error.h"
#include "hiaton/model.h"
#include "hiaton/optimizer.h"
#include "train/checkpoint.h"
#include "train/directory.h"

namespace hiaton::train {
namespace {

Model scaled() {
  return Model::from_text("model.hia",
                          "param t: f32 = ones\n"
                          "fn loss(x: f32) -> f32 = (t * x - 3 * x) * (t * x - 3 * x)\n");
}

TEST(NumberParameters, AreTrained) {
  const Model trained = scaled();
  std::vector<ParameterValues> parameters = first_parameters(trained, 1);
  Optimizer optimizer({.kind = OptimizerKind::Sgd}, parameters);
  Gradients sums(trained.parameters());
  for (int step = 0; step < 60; ++step) {
    sums.clear();
    const std::vector<Value> values = values_of(parameters);
    trained.loss(std::vector<std::vector<Value>>{{1.0F}, {0.5F}}, {.parameters = values, .gradients = &sums});
    optimizer.step(parameters, gradients_in(sums), 0.2, 1.0);
  }
  EXPECT_NEAR(parameters[0].values.floats()[0], 3.0F, 1e-5F);
}

TEST(NumberParameters, AreSavedAndLoaded) {
  const Directory directory;
  const std::filesystem::path path = directory / "model.safetensors";
  std::vector<ParameterValues> parameters = first_parameters(scaled(), 1);
  parameters[0].values.floats()[0] = 2.5F;
  save_parameters(path, parameters);
  EXPECT_EQ(load_values(path, scaled().parameters()), std::vector<Value>{2.5F});
  const Model of_tensor = Model::from_text("t.hia", "param t: f32[1]\nfn loss(x: f32) -> f32 = t[0] * x\n");
  EXPECT_THROW(load_values(path, of_tensor.parameters()), ProgramError);
}

}  // namespace
}  // namespace hiaton::train
