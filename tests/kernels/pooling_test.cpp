// Windows and their gradients, against numbers worked out by hand.
#include "kernels/pooling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

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

}  // namespace
}  // namespace hiaton::kernels
