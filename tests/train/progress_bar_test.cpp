#include "train/progress_bar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "directory.h"

namespace hiaton::train {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

StepReport step() {
  return {.epoch = 3,
          .epochs = 10,
          .step = 25,
          .step_of_epoch = 5,
          .steps_per_epoch = 10,
          .loss = 9,
          .epoch_loss = 12.3456,
          .gradient_norm = 1,
          .learning_rate = 0.1,
          .examples_per_second = 812.4,
          .seconds_left = 82.5};
}

EpochReport epoch() {
  EpochReport report{.epoch = 3, .train_loss = 0.12345, .examples_per_second = 5.25};
  report.dev =
      Evaluation{.loss = 13.1, .root_accuracy = 0.412, .all_accuracy = 0.798, .roots = 10, .nodes = 99};
  report.best = true;
  return report;
}

/// What a bar writes.
template <typename Act>
std::string written(bool is_terminal, const Act& act) {
  const Directory directory;
  std::FILE* file = std::fopen((directory / "out").c_str(), "w");
  {
    ProgressBar bar(file, is_terminal);
    act(bar);
  }
  std::fclose(file);
  return file_text(directory / "out");
}

TEST(ProgressBarTest, ShowsShareLossSpeedAndTime) {
  EXPECT_EQ(show_progress(step(), 120),
            "epoch 3/10 [###############---------------]  50%  loss 12.346  812 examples/s  1:23 left");
}

TEST(ProgressBarTest, KeepsToTheWidthOfTheTerminal) {
  for (const int columns : {0, 1, 20, 50, 60, 70, 200}) {
    EXPECT_LE(show_progress(step(), columns).size(), static_cast<std::size_t>(std::max(columns - 1, 0)))
        << columns;
  }
}

TEST(ProgressBarTest, ShowsEpochs) {
  EXPECT_EQ(show_epoch(epoch(), 10),
            "epoch 3/10  loss 0.1235  dev loss 13.100  root 41.2%  all 79.8%  5.2 examples/s  best");
}

TEST(ProgressBarTest, ShowsTimes) {
  EXPECT_EQ(show_time(0), "0:00");
  EXPECT_EQ(show_time(6.2), "0:07");
  EXPECT_EQ(show_time(754), "12:34");
  EXPECT_EQ(show_time(3723), "1:02:03");
}

TEST(ProgressBarTest, ElsewhereThereIsOneLineAnEpoch) {
  const std::string text = written(false, [](ProgressBar& bar) {
    bar.show(step());
    bar.show(epoch(), 10);
  });
  EXPECT_EQ(text, show_epoch(epoch(), 10) + "\n");
}

TEST(ProgressBarTest, OnATerminalTheLineIsDrawnAnewAndRemoved) {
  const std::string text = written(true, [](ProgressBar& bar) {
    for (int i = 0; i < 100; ++i) bar.show(step());
  });
  EXPECT_THAT(text, StartsWith("\r\x1b[Kepoch 3/10"));
  EXPECT_LT(text.size(), 1000u) << "a few times a second is enough";
  EXPECT_EQ(text.substr(text.size() - 4), "\r\x1b[K");
}

TEST(ProgressBarTest, SmallNumbersKeepTheirDigits) {
  EXPECT_EQ(show_loss(12.3456), "12.346");
  EXPECT_EQ(show_loss(0.12345), "0.1235");
  EXPECT_EQ(show_loss(0.00004567), "4.567e-05");
  EXPECT_EQ(show_loss(0), "0.0000");
  EXPECT_EQ(show_loss(1.2345e7), "1.234e+07");
  EXPECT_EQ(show_number(-0.0004567, 4), "-0.0004567");
  EXPECT_EQ(show_loss(-std::numeric_limits<double>::quiet_NaN()), "nan");
}

}  // namespace
}  // namespace hiaton::train
