#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/file_bytes.h"
#include "train/run_files.h"
#include "train/tensorboard.h"

namespace hiaton::train {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<EpochReport> history(int64_t epochs, bool with_dev) {
  std::vector<EpochReport> reports;
  for (int64_t epoch = 1; epoch <= epochs; ++epoch) {
    const double share = static_cast<double>(epoch) / static_cast<double>(epochs);
    EpochReport report{.epoch = epoch, .train_loss = 40 - 30 * share};
    if (with_dev)
      report.dev =
          Evaluation{.loss = 42 - 25 * share, .root_accuracy = 0.45 * share, .all_accuracy = 0.8 * share};
    reports.push_back(report);
  }
  return reports;
}

TEST(CurveTest, HasAxesTicksLegendAndLines) {
  const std::string svg = draw_curve(history(10, true));
  for (const char* part : {"<svg xmlns", "loss", "accuracy", "train 10", "dev 17", "root 45", "all nodes 80",
                           "epoch", "polyline", ">10</text>", ">80%</text>", "</svg>"}) {
    EXPECT_THAT(svg, HasSubstr(part));
  }
}

TEST(CurveTest, WithoutDevThereIsOnePanel) {
  const std::string svg = draw_curve(history(3, false));
  EXPECT_THAT(svg, Not(HasSubstr("accuracy")));
  EXPECT_THAT(svg, HasSubstr("viewBox=\"0 0 460 360\""));
}

TEST(CurveTest, NothingAndOneEpochAndStrangeNumbersDrawToo) {
  for (const auto& reports : {history(0, false), history(1, true), history(200, true)}) {
    const std::string svg = draw_curve(reports);
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
  }
  auto reports = history(3, true);
  reports[1].dev->root_accuracy = std::nan("");
  EXPECT_THAT(draw_curve(reports), Not(HasSubstr("nan")));
}

/// The values of RFC 3720, appendix B.4, are among them.
TEST(ChecksumTest, IsThatOfTheStandard) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43u);
  std::string ascending;
  for (char byte = 0; byte < 32; ++byte) ascending += byte;
  EXPECT_EQ(crc32c(ascending), 0x46DD794Eu);
  EXPECT_EQ(crc32c(""), 0u);
}

TEST(TensorBoardTest, RecordsHaveLengthAndChecksums) {
  EXPECT_EQ(tf_record("abc").size(), 8u + 4 + 3 + 4);
  EXPECT_EQ(tf_record("abc").substr(0, 8), std::string("\3\0\0\0\0\0\0\0", 8));
}

}  // namespace
}  // namespace hiaton::train
