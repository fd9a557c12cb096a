// Reductions on every instruction set, against plain loops: in every layout, and the same bits wherever a
// line stands.
#include "kernels/reduce.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/reduce_kernels.h"
#include "support.h"

namespace hiaton::kernels {
namespace {

const std::vector<AxisLayout> kLayouts = {{1, 1, 1},    {7, 5, 1}, {3, 640, 1}, {100, 16, 1},
                                          {2, 33, 1},   {4, 0, 1}, {1, 9, 50},  {3, 17, 16},
                                          {2, 3, 1000}, {5, 8, 2}, {0, 5, 1},   {2, 0, 3}};

size_t size_of(const AxisLayout& layout) {
  return static_cast<size_t>(layout.outer * layout.axis * layout.inner);
}
size_t lines_of(const AxisLayout& layout) {
  return static_cast<size_t>(layout.outer * layout.inner);
}

/// The elements of each line.
template <class T>
std::vector<std::vector<double>> lines(const AxisLayout& layout, const std::vector<T>& x) {
  std::vector<std::vector<double>> result;
  for (int64_t o = 0; o < layout.outer; ++o) {
    for (int64_t i = 0; i < layout.inner; ++i) {
      std::vector<double> line;
      for (int64_t a = 0; a < layout.axis; ++a)
        line.push_back(static_cast<double>(x[static_cast<size_t>((o * layout.axis + a) * layout.inner + i)]));
      result.push_back(line);
    }
  }
  return result;
}

double naive_sum(const std::vector<double>& line) {
  double total = 0;
  for (const double x : line) total += x;
  return total;
}
double naive_max(const std::vector<double>& line) {
  double most = -std::numeric_limits<double>::infinity();
  for (const double x : line) most = std::max(most, x);
  return most;
}
double naive_logsumexp(const std::vector<double>& line) {
  double total = 0;
  for (const double x : line) total += std::exp(x);
  return std::log(total);
}
std::vector<double> naive_softmax(std::vector<double> line) {
  const double total = naive_logsumexp(line);
  for (double& x : line) x = std::exp(x - total);
  return line;
}

template <class T>
class Reduce : public testing::Test {
 protected:
  static constexpr double kTolerance = 40 * std::numeric_limits<T>::epsilon();
};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Reduce, Floats);

TYPED_TEST(Reduce, FoldsLinesInEveryLayoutOnEveryInstructionSet) {
  using T = TypeParam;
  for (const InstructionSet set : instruction_sets()) {
    const ReduceKernels<T>& kernels = reduce_kernels<T>(set);
    for (const AxisLayout& layout : kLayouts) {
      const std::vector<T> x = random_numbers<T>(static_cast<int64_t>(size_of(layout)), 1);
      std::vector<T> total(lines_of(layout)), most(total), logsumexp(total);
      kernels.sum(layout, x.data(), total.data());
      kernels.max(layout, x.data(), most.data());
      kernels.logsumexp(layout, x.data(), logsumexp.data());
      const auto all = lines(layout, x);
      for (size_t l = 0; l < all.size(); ++l) {
        ASSERT_NEAR(total[l], naive_sum(all[l]), this->kTolerance * static_cast<double>(1 + layout.axis) / 8);
        ASSERT_EQ(most[l], static_cast<T>(naive_max(all[l])));
        if (layout.axis == 0)
          ASSERT_EQ(logsumexp[l], -std::numeric_limits<T>::infinity());
        else
          ASSERT_NEAR(logsumexp[l], naive_logsumexp(all[l]), this->kTolerance);
      }
    }
  }
}

TYPED_TEST(Reduce, SoftmaxAndItsGradientsInEveryLayoutOnEveryInstructionSet) {
  using T = TypeParam;
  for (const InstructionSet set : instruction_sets()) {
    const ReduceKernels<T>& kernels = reduce_kernels<T>(set);
    for (const AxisLayout& layout : kLayouts) {
      const std::vector<T> x = random_numbers<T>(static_cast<int64_t>(size_of(layout)), 2);
      const std::vector<T> g = random_numbers<T>(static_cast<int64_t>(size_of(layout)), 3);
      std::vector<T> soft = x, log_soft = x, soft_gradient = g, log_gradient = g;
      kernels.softmax(layout, soft.data(), soft.data());
      kernels.log_softmax(layout, log_soft.data(), log_soft.data());
      kernels.softmax_gradient(layout, soft.data(), g.data(), soft_gradient.data());
      kernels.log_softmax_gradient(layout, log_soft.data(), g.data(), log_gradient.data());
      const auto all = lines(layout, x), gs = lines(layout, g), softs = lines(layout, soft);
      const auto log_softs = lines(layout, log_soft), first = lines(layout, soft_gradient);
      const auto second = lines(layout, log_gradient);
      for (size_t l = 0; l < all.size(); ++l) {
        const std::vector<double> y = naive_softmax(all[l]);
        double weighted = 0;
        for (size_t a = 0; a < y.size(); ++a) weighted += gs[l][a] * y[a];
        for (size_t a = 0; a < y.size(); ++a) {
          ASSERT_NEAR(softs[l][a], y[a], this->kTolerance);
          ASSERT_NEAR(log_softs[l][a], std::log(y[a]), this->kTolerance);
          ASSERT_NEAR(first[l][a], y[a] * (gs[l][a] - weighted), this->kTolerance);
          ASSERT_NEAR(second[l][a], gs[l][a] - y[a] * naive_sum(gs[l]), this->kTolerance);
        }
      }
    }
  }
}

TYPED_TEST(Reduce, CrossEntropyAndItsGradientOnEveryInstructionSet) {
  using T = TypeParam;
  for (const InstructionSet set : instruction_sets()) {
    for (const int64_t classes : {1, 2, 5, 16, 100}) {
      constexpr int64_t kRows = 13;
      const std::vector<T> x = random_numbers<T>(kRows * classes, 4), g = random_numbers<T>(kRows, 5);
      std::vector<int64_t> labels;
      for (int64_t r = 0; r < kRows; ++r) labels.push_back(r * 7 % classes);
      std::vector<T> loss(kRows), gradient(x.size());
      reduce_kernels<T>(set).cross_entropy(kRows, classes, x.data(), labels.data(), loss.data());
      reduce_kernels<T>(set).cross_entropy_gradient(kRows, classes, x.data(), labels.data(), g.data(),
                                                    gradient.data());
      const auto all = lines({kRows, classes, 1}, x), gradients = lines({kRows, classes, 1}, gradient);
      for (size_t r = 0; r < kRows; ++r) {
        const std::vector<double> y = naive_softmax(all[r]);
        const size_t label = static_cast<size_t>(labels[r]);
        ASSERT_NEAR(loss[r], -std::log(y[label]), this->kTolerance);
        for (size_t c = 0; c < y.size(); ++c)
          ASSERT_NEAR(gradients[r][c], g[r] * (y[c] - (c == label ? 1 : 0)), this->kTolerance);
      }
    }
  }
}

TYPED_TEST(Reduce, ALineGivesTheSameBitsWhereverItStands) {
  using T = TypeParam;
  for (const InstructionSet set : instruction_sets()) {
    const ReduceKernels<T>& kernels = reduce_kernels<T>(set);
    for (const int64_t length : {3, 5, 16, 37, 150}) {
      constexpr int64_t kLines = 35;
      const std::vector<T> line = random_numbers<T>(length, 6);
      std::vector<T> side_by_side, behind(static_cast<size_t>(length * kLines));
      for (int64_t l = 0; l < kLines; ++l) {
        side_by_side.insert(side_by_side.end(), line.begin(), line.end());
        for (int64_t a = 0; a < length; ++a)
          behind[static_cast<size_t>(a * kLines + l)] = line[static_cast<size_t>(a)];
      }
      std::vector<T> out(kLines), soft(side_by_side.size());
      const auto all_equal = [](const std::vector<T>& x) {
        return std::all_of(x.begin(), x.end(), [&](T y) { return y == x[0]; });
      };
      for (const auto kernel : {kernels.sum, kernels.logsumexp}) {
        kernel({kLines, length, 1}, side_by_side.data(), out.data());
        ASSERT_TRUE(all_equal(out));
        kernel({1, length, kLines}, behind.data(), out.data());
        ASSERT_TRUE(all_equal(out));
      }
      kernels.softmax({kLines, length, 1}, side_by_side.data(), soft.data());
      for (int64_t l = 1; l < kLines; ++l)
        ASSERT_TRUE(std::equal(soft.begin(), soft.begin() + length, soft.begin() + l * length));
    }
  }
}

TYPED_TEST(Reduce, LargeInfiniteAndUndefinedNumbers) {
  using T = TypeParam;
  constexpr T kInfinity = std::numeric_limits<T>::infinity(), kNan = std::numeric_limits<T>::quiet_NaN();
  for (const InstructionSet set : instruction_sets()) {
    const ReduceKernels<T>& kernels = reduce_kernels<T>(set);
    const std::vector<T> x = {1000, 999, -kInfinity, -kInfinity, kInfinity, 1, kNan, 2};
    std::vector<T> out(4), most(4), soft(8);
    kernels.logsumexp({4, 2, 1}, x.data(), out.data());
    kernels.max({4, 2, 1}, x.data(), most.data());
    kernels.softmax({4, 2, 1}, x.data(), soft.data());
    EXPECT_NEAR(out[0], 1000 + std::log1p(std::exp(-1.0)), 1e-4);
    EXPECT_EQ(out[1], -kInfinity);
    EXPECT_EQ(out[2], kInfinity);
    EXPECT_TRUE(std::isnan(out[3]) && std::isnan(most[3]));
    EXPECT_EQ(most[1], -kInfinity);
    EXPECT_NEAR(soft[0], 1 / (1 + std::exp(-1.0)), 1e-6);
    const std::vector<T> certain = {1000, -1000};
    const std::vector<int64_t> label = {1};
    kernels.cross_entropy(1, 2, certain.data(), label.data(), out.data());
    EXPECT_EQ(out[0], 2000);
  }
}

TYPED_TEST(Reduce, AddsRowsInOrderSoThatCutsChangeNoBit) {
  using T = TypeParam;
  for (const InstructionSet set : instruction_sets()) {
    for (const int64_t columns : {1, 5, 35, 640}) {
      constexpr int64_t kRows = 50;
      const int64_t stride = columns + 3;
      const std::vector<T> x = random_numbers<T>(kRows * stride, 7), before = random_numbers<T>(columns, 8);
      std::vector<T> whole = before, cut = before, expected = before;
      for (int64_t r = 0; r < kRows; ++r)
        for (int64_t c = 0; c < columns; ++c)
          expected[static_cast<size_t>(c)] += x[static_cast<size_t>(r * stride + c)];
      reduce_kernels<T>(set).add_rows(kRows, columns, x.data(), stride, whole.data());
      reduce_kernels<T>(set).add_rows(20, columns, x.data(), stride, cut.data());
      reduce_kernels<T>(set).add_rows(30, columns, x.data() + 20 * stride, stride, cut.data());
      EXPECT_EQ(whole, expected);
      EXPECT_EQ(cut, expected);
    }
  }
}

/// The numbers of a line at mean 0 and variance 1.
std::vector<double> naive_normalized(const std::vector<double>& line, double epsilon) {
  double mean = 0, variance = 0;
  for (const double x : line) mean += x / static_cast<double>(line.size());
  for (const double x : line) variance += (x - mean) * (x - mean) / static_cast<double>(line.size());
  std::vector<double> normalized;
  for (const double x : line) normalized.push_back((x - mean) / std::sqrt(variance + epsilon));
  return normalized;
}

TYPED_TEST(Reduce, NormalizesLinesInEveryLayoutOnEveryInstructionSet) {
  using T = TypeParam;
  for (const InstructionSet set : instruction_sets()) {
    for (const AxisLayout& layout : kLayouts) {
      const std::vector<T> x = random_numbers<T>(static_cast<int64_t>(size_of(layout)), 10);
      std::vector<T> found(x.size());
      reduce_kernels<T>(set).normalize(layout, x.data(), T{0.25}, found.data());
      const auto given = lines(layout, x), all = lines(layout, found);
      for (size_t l = 0; l < all.size(); ++l) {
        const auto expected = naive_normalized(given[l], 0.25);
        for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(all[l][i], expected[i], this->kTolerance);
      }
    }
  }
}

TYPED_TEST(Reduce, NormalizesRowsAndChannelsOnEveryInstructionSet) {
  using T = TypeParam;
  for (const InstructionSet set : instruction_sets()) {
    for (const int64_t size : {1, 3, 16, 35, 64}) {
      constexpr int64_t kImages = 3, kChannels = 2;
      const std::vector<T> x = random_numbers<T>(kImages * kChannels * size, 11);
      const std::vector<T> gain = random_numbers<T>(size + kChannels, 12);
      const std::vector<T> bias = random_numbers<T>(size + kChannels, 13);
      std::vector<T> rows(x.size()), channels(x.size());
      reduce_kernels<T>(set).normalize_rows(kImages * kChannels, size, x.data(), T{0.25}, gain.data(),
                                            bias.data(), rows.data());
      reduce_kernels<T>(set).normalize_channels(kImages, kChannels, size, x.data(), T{0.25}, gain.data(),
                                                bias.data(), channels.data());
      const auto at = [&](int64_t image, int64_t channel, int64_t i) {
        return static_cast<size_t>((image * kChannels + channel) * size + i);
      };
      for (int64_t c = 0; c < kChannels; ++c) {
        std::vector<double> line;
        for (int64_t image = 0; image < kImages; ++image) {
          std::vector<double> row;
          for (int64_t i = 0; i < size; ++i) row.push_back(x[at(image, c, i)]);
          line.insert(line.end(), row.begin(), row.end());
          row = naive_normalized(row, 0.25);
          for (int64_t i = 0; i < size; ++i) {
            const auto k = static_cast<size_t>(i);
            ASSERT_NEAR(rows[at(image, c, i)], row[k] * gain[k] + bias[k], this->kTolerance);
          }
        }
        line = naive_normalized(line, 0.25);
        for (int64_t image = 0; image < kImages; ++image) {
          for (int64_t i = 0; i < size; ++i) {
            const auto k = static_cast<size_t>(c);
            ASSERT_NEAR(channels[at(image, c, i)],
                        line[static_cast<size_t>(image * size + i)] * gain[k] + bias[k], this->kTolerance);
          }
        }
      }
    }
  }
}

TYPED_TEST(Reduce, MeansBiasesAndTheLargestElementsPlaces) {
  using T = TypeParam;
  constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  const std::vector<T> x = {1, 5, 3, 5, 2, 8, 9, -1, kNan, 4, kNan, 7};
  std::vector<T> means(2), biased(4);
  mean({2, 3, 1}, x.data(), means.data());
  EXPECT_EQ(means, (std::vector<T>{3, 5}));
  std::vector<int64_t> places(4);
  argmax({4, 3, 1}, x.data(), places.data());
  EXPECT_EQ(places, (std::vector<int64_t>{1, 2, 2, 1}));
  argmax({1, 3, 4}, x.data(), places.data());
  EXPECT_EQ(places, (std::vector<int64_t>{2, 1, 2, 2}));
  add_bias<T>(2, 2, x.data(), std::vector<T>{10, 20}.data(), biased.data());
  EXPECT_EQ(biased, (std::vector<T>{11, 25, 13, 25}));
}

TEST(Reduce, IntegersWrapAroundAndKnowTheirLargest) {
  const std::vector<int32_t> x = {2147483647, 1, -5, -7};
  std::vector<int32_t> out(2);
  sum({2, 2, 1}, x.data(), out.data());
  EXPECT_EQ(out, (std::vector<int32_t>{-2147483647 - 1, -12}));
  max({1, 2, 2}, x.data(), out.data());
  EXPECT_EQ(out, (std::vector<int32_t>{2147483647, 1}));
  max({2, 0, 1}, x.data(), out.data());
  EXPECT_EQ(out, std::vector<int32_t>(2, std::numeric_limits<int32_t>::min()));
  std::vector<int64_t> place(1);
  argmax({1, 4, 1}, x.data(), place.data());
  EXPECT_EQ(place[0], 0);
}

TYPED_TEST(Reduce, ThePublicFunctionsAreTheBestKernels) {
  using T = TypeParam;
  const AxisLayout layout{3, 37, 1};
  const std::vector<T> x = random_numbers<T>(111, 9);
  std::vector<T> found(111), expected(111);
  const ReduceKernels<T>& best = reduce_kernels<T>(instruction_set());
  softmax(layout, x.data(), found.data());
  best.softmax(layout, x.data(), expected.data());
  EXPECT_EQ(found, expected);
  log_softmax(layout, x.data(), found.data());
  best.log_softmax(layout, x.data(), expected.data());
  EXPECT_EQ(found, expected);
  logsumexp(layout, x.data(), found.data());
  best.logsumexp(layout, x.data(), expected.data());
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace hiaton::kernels
