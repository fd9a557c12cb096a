// Random numbers: the published generator, the distributions, and that no number ever changes.
#include "kernels/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace hiaton::kernels {
namespace {

TEST(Random, PhiloxGivesThePublishedWords) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (std::array<uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

constexpr int64_t kCount = 100'003;

struct Moments {
  double mean = 0;
  double variance = 0;
  double fourth = 0;
};
Moments moments_of(const std::vector<float>& x) {
  Moments found;
  for (float value : x) found.mean += value;
  found.mean /= static_cast<double>(x.size());
  for (float value : x) {
    const double square = (value - found.mean) * (value - found.mean);
    found.variance += square / static_cast<double>(x.size());
    found.fourth += square * square / static_cast<double>(x.size());
  }
  return found;
}

TEST(Random, UniformFillsTheUnitInterval) {
  std::vector<float> x(kCount);
  uniform(kCount, 5, x.data());
  for (float value : x) ASSERT_TRUE(value >= 0 && value < 1) << value;
  const Moments found = moments_of(x);
  EXPECT_NEAR(found.mean, 0.5, 0.005);
  EXPECT_NEAR(found.variance, 1.0 / 12, 0.002);
}

TEST(Random, NormalHasTheMomentsOfOne) {
  std::vector<float> x(kCount);
  normal(kCount, -5, x.data());
  const Moments found = moments_of(x);
  EXPECT_NEAR(found.mean, 0, 0.02);
  EXPECT_NEAR(found.variance, 1, 0.02);
  EXPECT_NEAR(found.fourth, 3, 0.15);
}

TEST(Random, NormalIsTheQuantileOfItsWord) {
  std::vector<float> x(kCount);
  normal(kCount, 3, x.data());
  for (int64_t i = 0; i < kCount; i += 4) {
    const auto words = philox({static_cast<uint32_t>(i / 4), 0, 0, 0}, {3, 0});
    const double p = (words[0] + 0.5) * 0x1p-32;
    const double below =
        0.5 * std::erfc(-static_cast<double>(x[static_cast<std::size_t>(i)]) / std::sqrt(2.0));
    ASSERT_NEAR(below, p, 2e-6 * std::min(p, 1 - p)) << i;
  }
}

TEST(Random, AnElementDependsOnItsSeedAndPlaceAlone) {
  std::vector<float> all(40);
  normal(40, 9, all.data());
  for (int64_t n = 0; n < 40; ++n) {
    std::vector<float> some(40, 7.0f);
    normal(n, 9, some.data());
    for (std::size_t i = 0; i < some.size(); ++i) {
      ASSERT_EQ(some[i], static_cast<int64_t>(i) < n ? all[i] : 7.0f);
    }
  }
  std::vector<float> other(40);
  normal(40, 10, other.data());
  EXPECT_NE(all, other);
}

TEST(Random, NumbersNeverChange) {
  std::vector<float> x(5);
  normal(5, 42, x.data());
  std::vector<float> u(5);
  uniform(5, 42, u.data());
  EXPECT_EQ(x, (std::vector<float>{0x1.25ee5p-2f, -0x1.42dc66p-4f, -0x1.73bf42p+0f, -0x1.a3f4a6p-2f,
                                   0x1.1fc566p+1f}));
  EXPECT_EQ(
      u, (std::vector<float>{0x1.39d5ep-1f, 0x1.dfd524p-2f, 0x1.2bf5p-4f, 0x1.5d0accp-2f, 0x1.f9b642p-1f}));
}

TEST(Random, DropoutKeepsTheExpectation) {
  const std::vector<double> x(kCount, 2.0);
  std::vector<double> out(kCount);
  dropout<double>(kCount, x.data(), 0.3, 1, out.data());
  double sum = 0;
  for (double value : out) {
    ASSERT_TRUE(value == 0 || std::abs(value - 2 / 0.7) < 1e-12) << value;
    sum += value;
  }
  EXPECT_NEAR(sum / kCount, 2, 0.02);
  dropout<double>(kCount, x.data(), 0.0, 1, out.data());
  EXPECT_EQ(out, x);
  dropout<double>(kCount, x.data(), 1.0, 1, out.data());
  EXPECT_EQ(out, std::vector<double>(kCount, 0.0));
}

}  // namespace
}  // namespace hiaton::kernels
