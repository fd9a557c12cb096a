// Training loops of one's own, with what the public headers have: the optimizers, and files of safetensors.
#include <gmock/gmock.h>

#include "directory.h"
#include "hiaton/hiaton.h"
#include "shown_code.h"

namespace hiaton {
namespace {

using ::testing::HasSubstr;
using train::Directory;
using train::error_of;

// Shown in docs/api.md, from here
void train_by_hand(const Model& model, std::span<const std::vector<Value>> examples,
                   const std::filesystem::path& file) {
  std::vector<train::ParameterValues> parameters = train::first_parameters(model, 1);
  train::Optimizer optimizer({.kind = train::OptimizerKind::AdamW, .clip = 0.5}, parameters);
  Gradients sums(model.parameters());
  const double scale = 1.0 / static_cast<double>(examples.size());  // of the mean loss
  for (int step = 0; step < 200; ++step) {
    const std::vector<Value> values = train::values_of(parameters);
    sums.clear();
    model.loss(examples, {.parameters = values, .gradients = &sums});
    const std::vector<train::Gradient> gradients = train::gradients_in(sums);
    const double norm = scale * train::norm_of(gradients, parameters);
    optimizer.step(parameters, gradients, 0.05, scale * train::clip_factor(norm, optimizer.settings().clip));
  }
  train::save_parameters(file, parameters);
}
// to here

Model line() {
  return Model::from_text("line.hia",
                          "param E: f32[3, 2] = normal(0.1)\n"
                          "param w: f32[2] = normal(0.1)\n"
                          "fn square(x: f32) -> f32 = x * x\n"
                          "fn loss(row: i64, y: f32) -> f32 = square(sum(E[row] * w) - y)\n");
}

/// The last row of E is never used.
std::vector<std::vector<Value>> examples() {
  return {{int64_t{0}, 1.5F}, {int64_t{1}, -0.5F}};
}

TEST(TrainingByHand, IsWhatTheDocumentShows) {
  expect_shown("train/training_by_hand_test.cpp", "api.md");
}

TEST(TrainingByHand, GivesTheBitsOfATrainer) {
  const Directory directory;
  train_by_hand(line(), examples(), directory / "line.safetensors");
  train::ModelTrainer trainer(line(), {.kind = train::OptimizerKind::AdamW, .clip = 0.5}, 1);
  double loss = 0;
  for (int step = 0; step < 200; ++step) loss = trainer.step(examples(), 0.05);
  EXPECT_LT(loss, 1e-3);

  const train::SafetensorsFile file(directory / "line.safetensors");
  ASSERT_EQ(file.tensors().size(), 2u);
  EXPECT_EQ(file.tensors()[0].dtype, "F32");
  EXPECT_EQ(file.tensors()[0].shape, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(file.find("b"), nullptr);
  for (const train::ParameterValues& parameter : trainer.parameters())
    EXPECT_EQ(file.values_of(*file.find(parameter.name)), parameter.values) << parameter.name;
}

/// An optimizer and its parameters go on from files to the bits that they would have come to.
TEST(TrainingByHand, GoesOnFromFiles) {
  const Directory directory;
  const Model model = line();
  const auto step = [&](std::vector<train::ParameterValues>& parameters, train::Optimizer& optimizer) {
    Gradients sums(model.parameters());
    const std::vector<Value> values = train::values_of(parameters);
    model.loss(examples(), {.parameters = values, .gradients = &sums});
    optimizer.step(parameters, train::gradients_in(sums), 0.01, 1);
  };
  std::vector<train::ParameterValues> parameters = train::first_parameters(model, 1);
  train::Optimizer optimizer({.kind = train::OptimizerKind::RmsProp, .momentum = 0.9}, parameters);
  for (int i = 0; i < 3; ++i) step(parameters, optimizer);
  train::save_parameters(directory / "parameters", parameters);
  train::save_optimizer(directory / "optimizer", parameters, optimizer, 0.01);
  for (int i = 0; i < 3; ++i) step(parameters, optimizer);

  std::vector<train::ParameterValues> others = train::first_parameters(model, 2);
  train::Optimizer other(optimizer.settings(), others);
  train::load_parameters(directory / "parameters", others);
  EXPECT_EQ(train::load_optimizer(directory / "optimizer", others, other), 0.01);
  EXPECT_EQ(other.steps(), 3u);
  for (int i = 0; i < 3; ++i) step(others, other);
  for (std::size_t i = 0; i < parameters.size(); ++i) EXPECT_EQ(others[i].values, parameters[i].values);
}

TEST(TrainingByHand, FilesHoldTensorsAndTexts) {
  const Directory directory;
  const train::Numbers floats{1, 2, 3}, doubles(std::vector<double>{0.5});
  const std::vector<train::TensorView> tensors = {{"a", {3}, floats}, {"b", {}, doubles}};
  train::write_safetensors(directory / "file", tensors, {{"maker", "a test"}});
  const train::SafetensorsFile file(directory / "file");
  EXPECT_EQ(file.metadata().at("maker"), "a test");
  EXPECT_EQ(file.values_of(*file.find("a")), floats);
  EXPECT_EQ(file.values_of(*file.find("b")), doubles);
  EXPECT_EQ(file.bytes_of(*file.find("b")).size(), sizeof(double));
  EXPECT_THAT(error_of<ProgramError>([&] { train::SafetensorsFile(directory / "none"); }), HasSubstr("none"));
}

TEST(TrainingByHand, GradientsOfAnotherFormAreRefused) {
  const Model model = line();
  const std::vector<train::ParameterValues> parameters = train::first_parameters(model, 1);
  Gradients sums(model.parameters());
  const std::vector<train::Gradient> gradients = train::gradients_in(sums);
  train::check_form(gradients, parameters);
  EXPECT_EQ(error_of<ProgramError>([&] { train::check_form(std::span(gradients).first(1), parameters); }),
            "expected 2 gradients, one for each parameter, found 1");
  const std::vector<train::Gradient> swapped = {gradients[1], gradients[0]};
  EXPECT_THAT(error_of<ProgramError>([&] { train::check_form(swapped, parameters); }),
              HasSubstr("gradient of 'E': expected 6 elements, found 2"));
}

}  // namespace
}  // namespace hiaton
