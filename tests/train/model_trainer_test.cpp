// A model that learns from examples that are no trees of data files.
#include "hiaton/model_trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
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
  return trainer.parameters()[0].values.floats()[0];
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
  for (const double rate : {-1.0, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THAT(error_of<ProgramError>([&] {
                  trainer.step(examples({{1, 2}}), rate);
                }),
                HasSubstr("learning rate: expected 0 or more, found"));
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
}

TEST(ModelTrainer, IsRefusedWhereItWasMovedFrom) {
  Model model = line();
  ModelTrainer trainer(model, {.kind = OptimizerKind::Sgd});
  ModelTrainer taken = std::move(trainer);
  taken.step(examples({{1, 2}}), 0.1);
  const auto refused =
      testing::ThrowsMessage<ProgramError>("expected a trainer, found a ModelTrainer that was moved from");
  EXPECT_THAT([&] { trainer.step(examples({{1, 2}}), 0.1); }, refused);
  EXPECT_THAT([&] { trainer.parameters(); }, refused);
  EXPECT_THAT([&] { trainer.predict({1.0F}); }, refused);
  const Model other = std::move(model);
  EXPECT_EQ(other.parameters().size(), 1U);
  EXPECT_THAT([&] { model.parameters(); },
              testing::ThrowsMessage<ProgramError>("expected a model, found a Model that was moved from"));
}

TEST(ModelTrainer, NamesWhatDoesNotFitLoss) {
  ModelTrainer trainer(line());
  EXPECT_THAT(error_of<ProgramError>([&] { trainer.step({{{Value(1.0F)}}}); }),
              HasSubstr("expected 2 arguments for loss, found 1"));
  EXPECT_THAT(error_of<ProgramError>([&] {
                trainer.step({{{Value(1.0F), Value(2.0)}}});
              }),
              HasSubstr("expected argument 'y' of loss to be of type f32, found 2.0 (f64)"));
  const auto train = [&](std::vector<Value> arguments) {
    const ExampleList list(trainer.model(), {{{1.0F, 2.0F}}, {std::move(arguments)}});
    return error_of<ProgramError>([&] { trainer.train(list, nullptr, {.epochs = 1}); });
  };
  EXPECT_EQ(train({1.0F}), "example 1: expected 2 arguments of loss, found 1");
  EXPECT_EQ(train({1.0F, 2.0F, 3.0F}), "example 1: expected 2 arguments of loss, found 3");
  EXPECT_EQ(train({1.0F, int64_t{2}}),
            "example 1: expected argument 'y' of loss to be of type f32, found 2 (i64)");
  EXPECT_EQ(error_of<ProgramError>([&] { trainer.evaluate(ExampleList(trainer.model(), {})); }),
            "expected examples to evaluate on, found none");
}

TEST(ModelTrainer, DoesNotCountTheSeedAmongTheArgumentsOfAnExample) {
  ModelTrainer trainer(Model::from_text(
      "seeded", "param w: f32[1]\nfn loss(x: f32, y: f32, seed: i64) -> f32 = sum(w) * x + y\n"));
  const ExampleList list(trainer.model(), {{{1.0F, 2.0F}}, {{1.0F}}});
  const std::string message = "example 1: expected 2 arguments of loss, found 1";
  EXPECT_EQ(error_of<ProgramError>([&] { trainer.train(list, nullptr, {.epochs = 1}); }), message);
  EXPECT_EQ(error_of<ProgramError>([&] { trainer.evaluate(list); }), message);
  EXPECT_EQ(error_of<ProgramError>([&] { trainer.measure(list); }), message);
}

TEST(ModelTrainer, RefusesOptionsThatMakeNoSense) {
  const Directory directory;
  const std::filesystem::path file(directory / "line.hia");
  std::ofstream(file) << kLine;
  EXPECT_EQ(error_of<ProgramError>([&] { make_trainer({.model = file, .batching = "maybe"}); }),
            "batching: expected on, off or deterministic, found 'maybe'");
  EXPECT_EQ(error_of<ProgramError>([&] { make_trainer({.model = file, .vocabulary_size = -4}); }),
            "vocabulary size: expected 0 or more, found -4");
  EXPECT_EQ(error_of<ProgramError>([&] { make_trainer({.model = file, .classes = -1}); }),
            "classes: expected 0 or more, found -1");
}

TEST(ModelTrainer, LearnsInDoublePrecision) {
  const Model model =
      Model::from_text("f64",
                       "param w: f64[2] = ones\n"
                       "fn loss(x: f64[2]) -> f64 = (let error = sum(w * x) - 1.0 in error * error)\n");
  ModelTrainer trainer(model, {.kind = OptimizerKind::Sgd});
  const std::vector<std::vector<Value>> examples = {{parse_value(tensor_type(DType::F64, {2}), "[1, 3]")}};
  constexpr double kRate = 1e-9;  // a step that f32 cannot hold
  EXPECT_EQ(trainer.step(examples, kRate), 9);
  EXPECT_DOUBLE_EQ(trainer.parameters()[0].values.doubles()[0], 1 - kRate * 6);
  EXPECT_DOUBLE_EQ(trainer.parameters()[0].values.doubles()[1], 1 - kRate * 18);

  const Directory directory;
  save_parameters(directory / "w.safetensors", trainer.parameters());
  EXPECT_THAT(file_text(directory / "w.safetensors"), HasSubstr(R"("dtype":"F64")"));
  ModelTrainer other(model, {}, 2);
  load_parameters(directory / "w.safetensors", other);
  EXPECT_EQ(other.parameters()[0].values, trainer.parameters()[0].values);
  ModelTrainer single(Model::from_text("f32", "param w: f32[2]\nfn loss(x: f32) -> f32 = sum(w * x)"));
  EXPECT_THAT(error_of<ProgramError>([&] { load_parameters(directory / "w.safetensors", single); }),
              HasSubstr("'w': expected f32[2], found f64[2]"));
}

}  // namespace
}  // namespace hiaton::train
