// A model that learns from examples that are no trees of data files.
#include "hiaton/model_trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "directory.h"
#include "hiaton/error.h"

namespace hiaton::train {
namespace {

using ::testing::HasSubstr;

// The loss is (w x - y)^2, so its gradient 2 x (w x - y); w begins as 1.
constexpr const char* kLine =
    "param w: f32[1] = ones\n"
    "fn line(x: f32) -> f32 = sum(w * x)\n"
    "fn loss(x: f32, y: f32) -> f32 = (line(x) - y) * (line(x) - y)\n"
    "fn predict(x: f32) -> f32 = line(x)\n";

Model line() {
  return Model::from_text("line", kLine);
}

std::vector<std::vector<Value>> examples(const std::vector<std::pair<float, float>>& points) {
  std::vector<std::vector<Value>> made;
  for (const auto& [x, y] : points) made.push_back({x, y});
  return made;
}

float weight(const ModelTrainer& trainer) {
  return trainer.parameters()[0].values[0];
}

TEST(ModelTrainer, StepsAgainstTheGradientOfTheMeanLoss) {
  ModelTrainer trainer(line(), {.kind = OptimizerKind::Sgd});
  // Losses 1 and 4, gradients -2 and -8.
  EXPECT_FLOAT_EQ(trainer.step(examples({{1, 2}, {2, 4}}), 0.1), 2.5);
  EXPECT_FLOAT_EQ(weight(trainer), 1.5);
  EXPECT_FLOAT_EQ(trainer.step(examples({{1, 2}}), 0.1), 0.25);
  EXPECT_FLOAT_EQ(weight(trainer), 1.6F);
}

TEST(ModelTrainer, ClipsTheGradient) {
  ModelTrainer trainer(line(), {.kind = OptimizerKind::Sgd, .clip = 0.5});
  trainer.step(examples({{1, 2}, {2, 4}}), 0.1);
  EXPECT_FLOAT_EQ(weight(trainer), 1.05F);
}

TEST(ModelTrainer, PredictsWithWhatItLearned) {
  ModelTrainer trainer(line());
  for (int i = 0; i < 500; ++i) trainer.step(examples({{1, 3}, {2, 6}}), 0.05);
  EXPECT_NEAR(trainer.predict({2.0F})[0].as<float>(), 6, 1e-3);
  const auto both = trainer.predict(std::vector<std::vector<Value>>{{1.0F}, {-1.0F}});
  EXPECT_NEAR(both[0][0].as<float>(), 3, 1e-3);
  EXPECT_NEAR(both[1][0].as<float>(), -3, 1e-3);
}

TEST(ModelTrainer, KeepsItsParametersWhereItCannotGoOn) {
  ModelTrainer trainer(line());
  EXPECT_THAT(error_of<ProgramError>([&] { trainer.step({}); }),
              HasSubstr("expected examples to learn from, found none"));
  EXPECT_THAT(error_of<ProgramError>([&] {
                trainer.step(examples({{1, std::numeric_limits<float>::infinity()}}));
              }),
              HasSubstr("training diverged: the loss, inf, is not finite"));
  EXPECT_EQ(weight(trainer), 1);
  trainer.step(examples({{1, 2}}));
  EXPECT_GT(weight(trainer), 1) << "the sums of the runs that failed count no more";
}

TEST(ModelTrainer, NamesTheGradientThatIsNotFinite) {
  ModelTrainer trainer(
      Model::from_text("root", "param w: f32[1] = ones\nfn loss(x: f32) -> f32 = sum(sqrt(w - x))\n"));
  EXPECT_THAT(error_of<ProgramError>([&] { trainer.step(std::vector<std::vector<Value>>{{1.0F}}); }),
              HasSubstr("training diverged: the gradient of 'w' is not finite"));
  EXPECT_EQ(weight(trainer), 1);
}

TEST(ModelTrainer, RefusesSettingsThatMakeNoSense) {
  EXPECT_THAT(error_of<ProgramError>([] { ModelTrainer(line(), {.beta1 = 2}); }), HasSubstr("beta1"));
  EXPECT_THAT(error_of<ProgramError>([] {
                ModelTrainer(Model::from_text("f64", "param w: f64[1]\nfn loss(x: f64) -> f64 = sum(w * x)"));
              }),
              HasSubstr("expected f32 to train it"));
}

}  // namespace
}  // namespace hiaton::train
