#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bag_of_words.h"
#include "directory.h"
#include "hiaton/error.h"

namespace hiaton::train {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kTrees = 50;

Settings quick(const std::filesystem::path& out = {}) {
  Settings settings;
  settings.epochs = 4;
  settings.batch = 8;
  settings.learning_rate = 0.05;
  settings.out = out;
  return settings;
}

struct Training {
  BagOfWords learner{kReviewWords, 2};
  std::vector<Tree> data = review_trees(kTrees, 0);
  std::vector<Tree> dev = review_trees(10, 1);
  std::atomic<bool> cancel = false;
  Callbacks callbacks{.on_start = {}, .on_step = {}, .on_epoch = {}, .cancel = &cancel};

  TrainingResult train(const Settings& settings) {
    return hiaton::train::train(learner, data, dev, settings, callbacks);
  }
  std::string error(const Settings& settings) {
    return error_of<ProgramError>([&] { train(settings); });
  }
  std::vector<Numbers> values() {
    std::vector<Numbers> all;
    for (const ParameterValues& parameter : learner.parameters()) all.push_back(parameter.values);
    return all;
  }
};

std::vector<double> losses(const TrainingResult& result) {
  std::vector<double> values;
  for (const EpochReport& report : result.history) values.push_back(report.train_loss);
  return values;
}

TEST(TrainLoop, TheLossFallsUntilEveryNodeIsRight) {
  Training run;
  const TrainingResult result = run.train(quick());
  EXPECT_EQ(result.ending, Ending::AllEpochs);
  ASSERT_EQ(result.history.size(), 4u);
  EXPECT_LT(result.history.back().train_loss, result.history.front().train_loss);
  EXPECT_EQ(result.history.back().dev->root_accuracy, 1);
  EXPECT_EQ(result.history.back().dev->all_accuracy, 1);
  EXPECT_EQ(result.history.back().dev->roots, 10);
  EXPECT_EQ(result.history.back().dev->nodes, 20);
  EXPECT_EQ(result.history.back().steps, 4u * 7);
}

TEST(TrainLoop, EachEpochSeesEachTreeOnceInAnOrderOfItsOwn) {
  struct Recorder : BagOfWords {
    using BagOfWords::BagOfWords;
    double loss_and_gradients(std::span<const Tree* const> batch, std::span<Gradient> gradients) override {
      seen.insert(seen.end(), batch.begin(), batch.end());
      return BagOfWords::loss_and_gradients(batch, gradients);
    }
    std::vector<const Tree*> seen;
  };
  Recorder learner(kReviewWords, 2);
  const std::vector<Tree> data = review_trees(kTrees, 0);
  Settings settings = quick();
  settings.epochs = 2;
  train(learner, data, {}, settings);
  std::vector<const Tree*> all;
  for (const Tree& tree : data) all.push_back(&tree);
  ASSERT_EQ(learner.seen.size(), 2 * kTrees);
  const std::vector<const Tree*> first(learner.seen.begin(), learner.seen.begin() + kTrees);
  const std::vector<const Tree*> second(learner.seen.begin() + kTrees, learner.seen.end());
  EXPECT_THAT(first, ::testing::UnorderedElementsAreArray(all));
  EXPECT_THAT(second, ::testing::UnorderedElementsAreArray(all));
  EXPECT_NE(first, second);
  EXPECT_NE(first, all);
}

TEST(TrainLoop, IsTheSameForASeed) {
  const auto losses_of = [](uint64_t seed) {
    Training run;
    Settings settings = quick();
    settings.seed = seed;
    return losses(run.train(settings));
  };
  EXPECT_EQ(losses_of(3), losses_of(3));
  EXPECT_NE(losses_of(3), losses_of(4));
}

TEST(TrainLoop, TheStepIsThatOfTheMeanLossAndClipped) {
  const auto change = [](double clip, std::size_t copies) {
    BagOfWords learner(kReviewWords, 2);
    const std::vector<Tree> data(copies, review_trees(1, 0)[0]);
    const std::vector<float> before = learner.parameters()[1].values.floats();
    Settings settings = quick();
    settings.epochs = 1;
    settings.learning_rate = 1;
    settings.optimizer = {.kind = OptimizerKind::Sgd, .clip = clip};
    double norm = 0;
    Callbacks callbacks;
    callbacks.on_step = [&](const StepReport& report) { norm = report.gradient_norm; };
    train(learner, data, {}, settings, callbacks);
    return std::pair(before[1] - learner.parameters()[1].values.floats()[1], norm);
  };
  const auto [one, norm] = change(0, 1);
  EXPECT_NEAR(change(0, 5).first, one, 1e-6);
  EXPECT_NEAR(change(norm / 2, 1).first, one / 2, 1e-6);
  EXPECT_NEAR(change(norm * 2, 1).first, one, 1e-6);
}

TEST(TrainLoop, ResumedTrainingGivesTheSameBits) {
  for (const OptimizerKind kind : {OptimizerKind::Sgd, OptimizerKind::Adagrad, OptimizerKind::Adam,
                                   OptimizerKind::RmsProp, OptimizerKind::AdamW}) {
    for (const uint64_t stop_at : {1u, 6u, 7u, 9u, 14u, 27u}) {
      const Directory directory;
      Settings settings = quick(directory / "out");
      settings.optimizer = {.kind = kind, .momentum = 0.9, .l2 = 1e-4, .clip = 1};
      settings.schedule.kind = ScheduleKind::Cosine;
      Training whole;
      Settings nowhere = settings;
      nowhere.out.clear();
      const TrainingResult expected = whole.train(nowhere);
      Training first;
      first.callbacks.on_step = [&](const StepReport& report) { first.cancel = report.step == stop_at; };
      EXPECT_EQ(first.train(settings).ending, Ending::Cancelled);
      settings.resume = true;
      Training second;
      const TrainingResult result = second.train(settings);
      EXPECT_EQ(second.values(), whole.values()) << stop_at;
      EXPECT_EQ(losses(result), losses(expected));
      ASSERT_EQ(result.history.size(), expected.history.size());
      for (std::size_t i = 0; i < result.history.size(); ++i) {
        EXPECT_EQ(result.history[i].dev->loss, expected.history[i].dev->loss);
        EXPECT_EQ(result.history[i].learning_rate, expected.history[i].learning_rate);
        EXPECT_EQ(result.history[i].best, expected.history[i].best);
      }
      EXPECT_EQ(result.best_epoch, expected.best_epoch);
      if (!second.learner.steps.empty()) {
        EXPECT_EQ(second.learner.steps.front(), stop_at);
      }
    }
  }
}

TEST(TrainLoop, ResumesFromTheLastCheckpointAfterACrash) {
  const Directory directory;
  Settings settings = quick(directory / "out");
  settings.checkpoint_every_steps = 3;
  Training whole;
  Settings nowhere = settings;
  nowhere.out.clear();
  whole.train(nowhere);
  Training crashed;
  crashed.callbacks.on_step = [](const StepReport& report) {
    if (report.step == 11) throw std::runtime_error("power cut");
  };
  EXPECT_THROW(crashed.train(settings), std::runtime_error);
  settings.resume = true;
  Training second;
  second.train(settings);
  EXPECT_EQ(second.learner.steps.front(), 9u);
  EXPECT_EQ(second.values(), whole.values());
}

TEST(TrainLoop, FinishedTrainingResumesToNothingOrToMoreEpochs) {
  const Directory directory;
  Settings settings = quick(directory / "out");
  Training first;
  first.train(settings);
  settings.resume = true;
  Training again;
  EXPECT_EQ(again.train(settings).history.size(), 4u);
  EXPECT_TRUE(again.learner.steps.empty());
  EXPECT_EQ(again.values(), first.values());
  settings.epochs = 6;
  EXPECT_EQ(again.train(settings).history.size(), 6u);
  Training whole;
  Settings nowhere = quick();
  nowhere.epochs = 6;
  whole.train(nowhere);
  EXPECT_EQ(again.values(), whole.values());
}

TEST(TrainLoop, ACancelledEvaluationIsDoneAgain) {
  struct CancelsInPredict : BagOfWords {
    using BagOfWords::BagOfWords;
    std::vector<Prediction> predict(std::span<const Tree* const> batch) override {
      *cancel = true;
      return BagOfWords::predict(batch);
    }
    std::atomic<bool>* cancel = nullptr;
  };
  const Directory directory;
  Settings settings = quick(directory / "out");
  settings.eval_batch = 3;
  Training run;
  CancelsInPredict learner(kReviewWords, 2);
  learner.cancel = &run.cancel;
  const TrainingResult result = train(learner, run.data, run.dev, settings, run.callbacks);
  EXPECT_EQ(result.ending, Ending::Cancelled);
  EXPECT_TRUE(result.history.empty());
  settings.resume = true;
  Training second;
  EXPECT_EQ(second.train(settings).history.size(), 4u);
  Training whole;
  whole.train(quick());
  EXPECT_EQ(second.values(), whole.values());
}

TEST(TrainLoop, StopsEarlyAndKeepsTheBest) {
  const Directory directory;
  Settings settings = quick(directory / "out");
  settings.epochs = 50;
  settings.patience = 3;
  Training run;
  const TrainingResult result = run.train(settings);
  EXPECT_EQ(result.ending, Ending::EarlyStopping);
  EXPECT_EQ(static_cast<int64_t>(result.history.size()), result.best_epoch + 3);
  Training best;
  load_parameters(directory / "out/best.safetensors", best.learner.parameters());
  const Evaluation evaluation = *BagTrainee::evaluation_of(best.learner, run.dev);
  const auto index = static_cast<std::size_t>(result.best_epoch - 1);
  EXPECT_EQ(evaluation.loss, result.history[index].dev->loss);
  EXPECT_TRUE(result.history[index].best);
  EXPECT_FALSE(result.history.back().best);
  settings.resume = true;
  EXPECT_EQ(run.train(settings).ending, Ending::EarlyStopping);
}

/// Right about roots alone in the first epoch, about all other nodes later.
struct ForgetsRoots : BagOfWords {
  using BagOfWords::BagOfWords;
  std::vector<Prediction> predict(std::span<const Tree* const> batch) override {
    if (batch.size() > 1) ++epoch;  // one tree alone is a trial before the first
    std::vector<Prediction> predictions = BagOfWords::predict(batch);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      for (std::size_t node = 0; node < batch[i]->nodes.size(); ++node) {
        const bool right = (node == 0) == (epoch == 1);
        const bool says_one = (batch[i]->nodes[node].label == 1) == right;
        predictions[i].probabilities[2 * node] = says_one ? 0.0f : 1.0f;
        predictions[i].probabilities[2 * node + 1] = says_one ? 1.0f : 0.0f;
      }
    }
    return predictions;
  }
  int epoch = 0;
};

TEST(TrainLoop, TheBestEpochIsThatOfTheScoreAskedFor) {
  const std::vector<Tree> data = review_trees(kTrees, 0);
  std::vector<Tree> dev = review_trees(10, 1);
  for (Tree& tree : dev) tree.nodes[2].label = 0;
  Settings settings = quick();
  ForgetsRoots by_nodes(kReviewWords, 2);
  EXPECT_EQ(train(by_nodes, data, dev, settings).best_epoch, 2);
  settings.score = "root";
  ForgetsRoots by_roots(kReviewWords, 2);
  EXPECT_EQ(train(by_roots, data, dev, settings).best_epoch, 1);
}

TEST(TrainLoop, WithoutDevTheTrainingLossDecides) {
  Training run;
  run.dev.clear();
  const TrainingResult result = run.train(quick());
  EXPECT_EQ(result.best_epoch, 4);
  EXPECT_FALSE(result.history[0].dev);
}

TEST(TrainLoop, WithoutDevThereIsNothingThatAScoreIsOf) {
  Training run;
  run.dev.clear();
  Settings settings = quick();
  settings.score = "root";
  EXPECT_THAT(error_of<ProgramError>([&] { run.train(settings); }),
              HasSubstr("score: expected examples to evaluate on (--dev), by which 'root' makes an epoch the "
                        "best one, found none"));
}

TEST(TrainLoop, WhatIsNotFiniteStopsTrainingAndLosesNoFile) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::pair<std::function<void(double&, std::span<Gradient>)>, std::string>> cases = {
      {[&](double& loss, auto) { loss = nan; }, "the loss, nan, is not finite in step 10 (epoch 2)"},
      {[&](double&, auto gradients) { gradients[1].floats()[0] = nan; },
       "the gradient of 'b' is not finite in step 10"},
      {[&](double&, auto gradients) {
         gradients[0].floats()[static_cast<std::size_t>(2 * gradients[0].rows[0])] =
             std::numeric_limits<float>::infinity();
       },
       "the gradient of 'E' is not finite in step 10"}};
  for (const auto& [spoil, message] : cases) {
    const Directory directory;
    Training run;
    run.learner.spoil = [&run, &spoil = spoil](double& loss, std::span<Gradient> gradients) {
      if (run.learner.steps.back() == 9) spoil(loss, gradients);
    };
    const std::string error = run.error(quick(directory / "out"));
    EXPECT_THAT(error, HasSubstr(message));
    EXPECT_THAT(error, HasSubstr("last.safetensors is as it was"));
    Settings settings = quick(directory / "out");
    settings.resume = true;
    Training second;
    second.train(settings);
    EXPECT_EQ(second.learner.steps.front(), 7u);
  }
}

TEST(TrainLoop, ParametersThatOverflowAreNotWritten) {
  const Directory directory;
  Training run;
  Settings settings = quick(directory / "out");
  settings.optimizer.kind = OptimizerKind::Sgd;
  settings.learning_rate = 1e39;
  settings.checkpoint_every_steps = 1;
  EXPECT_THAT(run.error(settings), HasSubstr("training diverged: 'E' is not finite after step 1"));
  EXPECT_FALSE(std::filesystem::exists(directory / "out/last.safetensors"));
}

TEST(TrainLoop, RefusesWhatDoesNotFit) {
  Training run;
  Settings settings = quick();
  settings.epochs = 0;
  settings.learning_rate = -1;
  settings.optimizer.beta1 = 1;
  const std::string error = run.error(settings);
  EXPECT_THAT(error, HasSubstr("epochs: expected 1 or more, found 0"));
  EXPECT_THAT(error, HasSubstr("learning rate: expected a number that is not negative, found -1"));
  EXPECT_THAT(error, HasSubstr("beta1: expected a number from 0 to below 1, found 1"));
  run.data.clear();
  EXPECT_THAT(run.error(quick()), HasSubstr("expected examples to learn from, found none"));
}

TEST(TrainLoop, ADevSetNeedsLabelsThatTheModelKnows) {
  Training run;
  for (Tree& tree : run.dev) {
    for (Node& node : tree.nodes) node.label = Node::kNone;
  }
  EXPECT_THAT(run.error(quick()), HasSubstr("expected labels in the dev set"));
  run.dev[0].nodes[0].label = 2;
  EXPECT_THAT(run.error(quick()), HasSubstr("expected labels from 0 to 1, which the model knows, found 2"));
}

TEST(TrainLoop, NeverOverwritesAnotherTraining) {
  const Directory directory;
  const Settings settings = quick(directory / "out");
  Training run;
  run.train(settings);
  const std::string before = file_text(directory / "out/last.safetensors");
  EXPECT_THAT(run.error(settings), HasSubstr("expected a directory without checkpoints"));
  EXPECT_EQ(file_text(directory / "out/last.safetensors"), before);
}

TEST(TrainLoop, StartsOnceTheDirectoryIsFree) {
  const Directory directory;
  const Settings settings = quick(directory / "out");
  Training run;
  int started = 0;
  run.callbacks.on_start = [&] {
    ++started;
    EXPECT_TRUE(std::filesystem::is_empty(directory / "out"));
  };
  run.train(settings);
  EXPECT_EQ(started, 1);
  run.error(settings);
  EXPECT_EQ(started, 1);
}

TEST(TrainLoop, TwoRunsCannotShareADirectory) {
  const Directory directory;
  Training outer;
  std::string error;
  outer.callbacks.on_step = [&](const StepReport& report) {
    if (report.step == 1) error = Training().error(quick(directory / "out"));
  };
  outer.train(quick(directory / "out"));
  EXPECT_THAT(error, HasSubstr("another training run is writing"));
}

TEST(TrainLoop, ResumingNeedsTheSameSettingsAndTrees) {
  const Directory directory;
  Settings settings = quick(directory / "out");
  Training run;
  run.train(settings);
  settings.resume = true;
  Settings other = settings;
  other.batch = 9;
  other.optimizer.l2 = 0.5;
  other.patience = 7;
  const std::string error = run.error(other);
  EXPECT_THAT(error, HasSubstr("batch: 8, now 9"));
  EXPECT_THAT(error, HasSubstr("optimizer.l2: 0.0, now 0.5"));
  EXPECT_THAT(error, ::testing::Not(HasSubstr("patience")));
  Training with_other_dev;
  with_other_dev.dev.pop_back();
  EXPECT_THAT(with_other_dev.error(settings),
              HasSubstr("expected the examples that training began with, found others"));
  run.data.pop_back();
  EXPECT_THAT(run.error(settings), HasSubstr("expected the examples that training began with, found others"));
  settings.out = directory / "elsewhere";
  EXPECT_THAT(run.error(settings), HasSubstr("cannot read"));
}

TEST(TrainLoop, ResumingWithAScheduleToTheEndNeedsTheSameEpochs) {
  const Directory directory;
  Settings settings = quick(directory / "out");
  settings.schedule.kind = ScheduleKind::Linear;
  Training run;
  run.train(settings);
  settings.resume = true;
  settings.epochs = 9;
  EXPECT_THAT(run.error(settings), HasSubstr("epochs: 4, now 9"));
}

TEST(TrainLoop, WritesLogCurveAndSettings) {
  const Directory directory;
  Training run;
  run.train(quick(directory / "out"));
  std::istringstream log(file_text(directory / "out/log.jsonl"));
  std::string line;
  int64_t epoch = 0;
  while (std::getline(log, line)) EXPECT_EQ(nlohmann::json::parse(line)["epoch"], ++epoch);
  EXPECT_EQ(epoch, 4);
  EXPECT_THAT(file_text(directory / "out/curve.svg"), HasSubstr("<svg"));
  Settings expected = quick();
  EXPECT_EQ(load_settings(directory / "out/settings.json"), expected);
  for (const auto& entry : std::filesystem::directory_iterator(directory / "out")) {
    EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
  }
}

TEST(TrainLoop, ReportsSteps) {
  Training run;
  std::vector<StepReport> steps;
  run.callbacks.on_step = [&](const StepReport& report) { steps.push_back(report); };
  run.train(quick());
  ASSERT_EQ(steps.size(), 28u);
  EXPECT_EQ(steps[8].epoch, 2);
  EXPECT_EQ(steps[8].step, 9u);
  EXPECT_EQ(steps[8].step_of_epoch, 2u);
  EXPECT_EQ(steps[8].steps_per_epoch, 7u);
  EXPECT_GT(steps[8].examples_per_second, 0);
  EXPECT_GT(steps[8].seconds_left, 0);
  EXPECT_EQ(steps[27].seconds_left, 0);
}

TEST(TrainLoop, RefusesGradientsOfAnotherForm) {
  Training run;
  run.learner.spoil = [](double&, std::span<Gradient> gradients) {
    gradients[1].values = std::span<float>();
  };
  EXPECT_THAT(run.error(quick()), HasSubstr("gradient of 'b': expected 2 elements, found 0"));
}

TEST(TrainLoop, RefusesParametersOfAnotherForm) {
  Training run;
  run.learner.parameters()[1].name = "E";
  EXPECT_THAT(run.error(quick()), HasSubstr("found 'E' twice"));
  run.learner.parameters()[1] = {"b", {3}, {1, 2}};
  EXPECT_THAT(run.error(quick()), HasSubstr("parameter 'b': expected 3 elements, found 2"));
}

TEST(EvaluateTest, CountsLabelledNodesWithPredictions) {
  BagOfWords learner(3, 2);
  learner.parameters()[0].values = {0, 0, 5, 0, 0, 5};  // word 1: class 0, word 2: class 1
  const std::vector<Tree> trees = {
      {{{1, Node::kNone, 2, 3, 0, 0}, {0, 1, 0, 2, 0, 0}, {Node::kNone, 2, 0, 3, 0, 0}}},
      {{{1, 2, 0, 1, 0, 0}}}};
  const Evaluation evaluation = *BagTrainee::evaluation_of(learner, trees);
  EXPECT_EQ(evaluation.nodes, 3);
  EXPECT_EQ(evaluation.roots, 2);
  EXPECT_DOUBLE_EQ(evaluation.root_accuracy, 0.5) << "equal probabilities: the first class";
  EXPECT_DOUBLE_EQ(evaluation.all_accuracy, 2.0 / 3);
  EXPECT_NEAR(evaluation.loss, (std::log(2) + 2 * std::log1p(std::exp(-5))) / 2, 1e-6);
}

}  // namespace
}  // namespace hiaton::train
