// A training run for the readers in python_readers.py.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "bag_of_words.h"
#include "directory.h"
#include "hiaton/train.h"

namespace hiaton::train {
namespace {

/// Crashes after step 10, of which 8 are in the last checkpoint, and is resumed.
TEST(Samples, WritesATrainingRunThatWasResumed) {
  const Directory directory;
  const char* samples = std::getenv("HIATON_SAMPLES");
  const std::filesystem::path out = samples != nullptr ? std::filesystem::path(samples) : directory.path();
  const std::vector<Tree> data = review_trees(30, 0);
  const std::vector<Tree> dev = review_trees(10, 1);
  Settings settings;
  settings.epochs = 3;
  settings.batch = 5;
  settings.checkpoint_every_steps = 4;
  settings.out = out / "run";
  Callbacks crash;
  crash.on_step = [](const StepReport& report) {
    if (report.step == 10) throw std::runtime_error("crash");
  };
  BagOfWords first(kReviewWords, 2);
  EXPECT_THROW(train(first, data, dev, settings, crash), std::runtime_error);
  settings.resume = true;
  BagOfWords learner(kReviewWords, 2);
  const TrainingResult result = train(learner, data, dev, settings);
  nlohmann::json expected{{"epochs", result.history.size()}, {"steps", 18}};
  for (const ParameterValues& parameter : learner.parameters()) {
    expected[parameter.name] = {{"shape", parameter.shape}, {"values", parameter.values.floats()}};
  }
  write_file(out / "expected.json", expected.dump());
  EXPECT_EQ(learner.steps.front(), 8u);
}

}  // namespace
}  // namespace hiaton::train
