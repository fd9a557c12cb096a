// Windows and their gradients, against numbers worked out by hand.
#include "kernels/pooling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "kernels/pooling_kernels.h"

namespace hiaton::kernels {
namespace {

constexpr Pooling kOverlapping{.planes = 1, .height = 3, .width = 4, .size = {2, 2}, .stride = {1, 1}};
const std::vector<float> kImage{1, 2, 3, 4, 8, 7, 6, 5, 0, 0, 9, 0};

TEST(Pooling, OfOverlappingWindows) {
  std::vector<float> y(6);
  average_pool<float>(kOverlapping, kImage.data(), y.data());
  EXPECT_EQ(y, (std::vector<float>{4.5, 4.5, 4.5, 3.75, 5.5, 5}));
  take_largest<float>(kOverlapping, kImage.data(), kImage.data(), y.data());
  EXPECT_EQ(y, (std::vector<float>{8, 7, 6, 8, 9, 9}));
}

TEST(Pooling, GradientsOfOverlappingWindowsAddUp) {
  const std::vector<float> g{1, 2, 4, 8, 16, 32};
  std::vector<float> dx(12, 5.0f);
  average_pool_gradient<float>(kOverlapping, g.data(), dx.data());
  EXPECT_EQ(dx, (std::vector<float>{0.25, 0.75, 1.5, 1, 2.25, 6.75, 13.5, 9, 2, 6, 12, 8}));
  take_largest_gradient<float>(kOverlapping, kImage.data(), g.data(), dx.data());
  EXPECT_EQ(dx, (std::vector<float>{0, 0, 0, 0, 9, 2, 4, 0, 0, 0, 48, 0}));
}

TEST(Pooling, RowsAndColumnsThatNoWindowReachesDoNotCount) {
  const Pooling shape{.planes = 2, .height = 3, .width = 3, .size = {2, 2}, .stride = {2, 2}};
  std::vector<double> x(18);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i);
  std::vector<double> y(2);
  average_pool<double>(shape, x.data(), y.data());
  EXPECT_EQ(y, (std::vector<double>{2, 11}));
  std::vector<double> dx(18, 5.0);
  average_pool_gradient<double>(shape, y.data(), dx.data());
  EXPECT_EQ(dx[0], 0.5);
  EXPECT_EQ(dx[2], 0.0);
  EXPECT_EQ(dx[8], 0.0);
  EXPECT_EQ(dx[9], 2.75);
}

TEST(Pooling, PaddingCountsAsZerosInTheMeanAndIsNeverTheLargest) {
  const Pooling shape{.height = 2, .width = 3, .size = {2, 3}, .stride = {2, 1}, .padding = {1, 0}};
  const std::vector<float> x{-6, -12, -18, 6, 12, 18};
  std::vector<float> y(2);
  average_pool<float>(shape, x.data(), y.data());
  EXPECT_EQ(y, (std::vector<float>{-6, 6}));
  take_largest<float>(shape, x.data(), x.data(), y.data());
  EXPECT_EQ(y, (std::vector<float>{-6, 18}));
  const std::vector<float> g{6, 12};
  std::vector<float> dx(6, 5.0f);
  average_pool_gradient<float>(shape, g.data(), dx.data());
  EXPECT_EQ(dx, (std::vector<float>{1, 1, 1, 2, 2, 2}));
  take_largest_gradient<float>(shape, x.data(), g.data(), dx.data());
  EXPECT_EQ(dx, (std::vector<float>{6, 0, 0, 0, 0, 12}));
}

TEST(Pooling, FirstOfEqualsAndNanAreTheLargest) {
  const Pooling shape{.height = 1, .width = 4, .size = {1, 1}, .stride = {1, 1}};
  const Pooling whole{.height = 2, .width = 2, .size = {2, 2}, .stride = {1, 1}};
  EXPECT_EQ(shape.out_width(), 4);
  const std::vector<double> equal{3, 3, 3, 3};
  const std::vector<double> places{0, 1, 2, 3};
  double y = -1;
  take_largest<double>(whole, equal.data(), places.data(), &y);
  EXPECT_EQ(y, 0);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> with_nan{9, nan, 3, nan};
  take_largest<double>(whole, with_nan.data(), places.data(), &y);
  EXPECT_EQ(y, 1);
}

/// Each window by itself.
template <class T>
void pool_one_by_one(const Pooling& shape, const std::vector<T>& x, const std::vector<T>& v,
                     std::vector<T>& mean, std::vector<T>& taken) {
  std::size_t out = 0;
  for (int64_t p = 0; p < shape.planes; ++p) {
    for (int64_t r = 0; r < shape.out_height(); ++r) {
      for (int64_t c = 0; c < shape.out_width(); ++c, ++out) {
        T sum{};
        std::optional<std::size_t> best;
        for (int64_t i = 0; i < shape.size[0] * shape.size[1]; ++i) {
          const int64_t row = r * shape.stride[0] - shape.padding[0] + i / shape.size[1];
          const int64_t column = c * shape.stride[1] - shape.padding[1] + i % shape.size[1];
          if (row < 0 || row >= shape.height || column < 0 || column >= shape.width) continue;
          const auto at = static_cast<std::size_t>((p * shape.height + row) * shape.width + column);
          sum += x[at];
          if (!best || x[at] > x[*best] || (std::isnan(x[at]) && !std::isnan(x[*best]))) best = at;
        }
        mean[out] = sum / static_cast<T>(shape.size[0] * shape.size[1]);
        taken[out] = v[best.value()];
      }
    }
  }
}

template <class T>
void expect_same_bits(const std::vector<T>& found, const std::vector<T>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size() * sizeof(T)), 0);
}

template <class T>
void expect_as_one_by_one(std::mt19937& random) {
  const auto below = [&](int64_t limit) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(limit));
  };
  for (int i = 0; i < 300; ++i) {
    Pooling shape{.planes = 1 + below(3), .height = 1 + below(9), .width = 1 + below(i % 10 == 0 ? 200 : 20)};
    shape.size = {1 + below(std::min<int64_t>(4, shape.height)),
                  1 + below(std::min<int64_t>(4, shape.width))};
    shape.stride = {1 + below(3), 1 + below(3)};
    shape.padding = {below(shape.size[0]), below(shape.size[1])};
    std::vector<T> x(static_cast<std::size_t>(shape.planes * shape.height * shape.width));
    std::vector<T> v(x.size());
    for (std::size_t k = 0; k < x.size(); ++k) {
      x[k] = i % 2 == 0 && below(40) == 0
                 ? std::numeric_limits<T>::quiet_NaN()
                 : std::copysign(static_cast<T>(below(5)) / T{3}, static_cast<T>(below(2)) - T{0.5});
      v[k] = static_cast<T>(k);
    }
    std::vector<T> mean(static_cast<std::size_t>(shape.planes * shape.out_height() * shape.out_width()));
    std::vector<T> taken(mean.size());
    std::vector<T> found(mean.size());
    pool_one_by_one(shape, x, v, mean, taken);
    average_pool<T>(shape, x.data(), found.data());
    for (std::size_t k = 0; k < mean.size(); ++k) {
      const bool is_same = found[k] == mean[k] || (std::isnan(found[k]) && std::isnan(mean[k]));
      EXPECT_TRUE(is_same) << found[k] << ", expected " << mean[k];
    }
    take_largest<T>(shape, x.data(), v.data(), found.data());
    expect_same_bits(found, taken);
    std::vector<T> g(taken.size());
    std::vector<T> gradient(x.size());
    std::vector<T> expected(x.size());
    for (std::size_t k = 0; k < g.size(); ++k) {
      g[k] = static_cast<T>(1 + below(100)) / T{7};
      expected[static_cast<std::size_t>(taken[k])] += g[k];
    }
    take_largest_gradient<T>(shape, x.data(), g.data(), gradient.data());
    expect_same_bits(gradient, expected);
    pool_one_by_one(shape, x, x, mean, taken);
    take_largest<T>(shape, x.data(), x.data(), found.data());
    expect_same_bits(found, taken);
  }
}

TEST(Pooling, OfRowsOfWindowsIsThatOfEachByItself) {
  std::mt19937 random(5);
  expect_as_one_by_one<float>(random);
  expect_as_one_by_one<double>(random);
}

/// Every instruction set of this machine gives the bits of the portable code.
TEST(Pooling, IsTheSameForEveryInstructionSet) {
  const auto best = static_cast<int>(instruction_set());
  std::vector<float> x(1000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 1009) / 7.0F;
  for (const int64_t stride : {1, 2, 3}) {
    const WindowRow row{.windows = 70, .stride = stride, .rows = 3, .columns = 2, .pitch = 220};
    std::vector<float> means(70);
    std::vector<float> largest(70);
    pooling_kernels<float>(InstructionSet::Portable).mean(row, 6.0F, x.data(), means.data());
    pooling_kernels<float>(InstructionSet::Portable).take_largest(row, x.data(), x.data(), largest.data());
    for (int set = 1; set <= best; ++set) {
      std::vector<float> found(70);
      pooling_kernels<float>(static_cast<InstructionSet>(set)).mean(row, 6.0F, x.data(), found.data());
      expect_same_bits(found, means);
      pooling_kernels<float>(static_cast<InstructionSet>(set))
          .take_largest(row, x.data(), x.data(), found.data());
      expect_same_bits(found, largest);
      pooling_kernels<float>(static_cast<InstructionSet>(set)).largest(row, x.data(), found.data());
      expect_same_bits(found, largest);
    }
  }
}

}  // namespace
}  // namespace hiaton::kernels
