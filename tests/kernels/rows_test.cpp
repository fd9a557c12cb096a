// Rows gathered from, and added to, places known only while running.
#include "kernels/rows.h"

#include <gtest/gtest.h>

#include <vector>

namespace hiaton::kernels {
namespace {

TEST(Rows, GathersRowsByIndex) {
  const std::vector<float> table = {0, 1, 10, 11, 20, 21, 30, 31};
  const std::vector<int64_t> wide = {3, 0, 3, 1, 2, 2};
  const std::vector<int32_t> narrow(wide.begin(), wide.end());
  const std::vector<float> expected = {30, 31, 0, 1, 30, 31, 10, 11, 20, 21, 20, 21};
  std::vector<float> out(12);
  gather_rows<int64_t>(wide, 8, table.data(), out.data());
  EXPECT_EQ(out, expected);
  out.assign(12, 0);
  gather_rows<int32_t>(narrow, 8, table.data(), out.data());
  EXPECT_EQ(out, expected);
}

TEST(Rows, FindsTheFirstIndexOutside) {
  EXPECT_EQ(first_outside(std::vector<int64_t>{0, 4, 2}, 5), -1);
  EXPECT_EQ(first_outside(std::vector<int64_t>{0, 5, -1}, 5), 1);
  EXPECT_EQ(first_outside(std::vector<int32_t>{0, 4, -1}, 5), 2);
  EXPECT_EQ(first_outside(std::vector<int64_t>{}, 0), -1);
}

TEST(Rows, PacksRowsFromAnywhereAndTakesThemBack) {
  std::vector<double> a = {1, 2}, b = {3, 4}, c = {5, 6};
  const std::vector<const void*> rows = {c.data(), a.data(), b.data(), a.data(), a.data(), c.data()};
  std::vector<double> block(18, -1);
  gather_rows(rows, 16, block.data(), 24);
  EXPECT_EQ(block, (std::vector<double>{5, 6, -1, 1, 2, -1, 3, 4, -1, 1, 2, -1, 1, 2, -1, 5, 6, -1}));
  const std::vector<void*> targets = {a.data(), b.data(), c.data()};
  scatter_rows(block.data(), 24, 16, targets);
  EXPECT_EQ(a, (std::vector<double>{5, 6}));
  EXPECT_EQ(b, (std::vector<double>{1, 2}));
  EXPECT_EQ(c, (std::vector<double>{3, 4}));
}

template <class T>
class RowSums : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(RowSums, Floats);

TYPED_TEST(RowSums, AddsRowsWhereTheIndicesSayAlsoSeveralTimes) {
  using T = TypeParam;
  const std::vector<T> x = {1, 2, -9, 10, 20, -9, 100, 200, -9};
  for (const bool wide : {false, true}) {
    std::vector<T> table = {0, 0, 5, 5, 7, 7};
    if (wide)
      scatter_add_rows<T, int64_t>(std::vector<int64_t>{2, 0, 2}, 2, x.data(), 3, table.data());
    else
      scatter_add_rows<T, int32_t>(std::vector<int32_t>{2, 0, 2}, 2, x.data(), 3, table.data());
    EXPECT_EQ(table, (std::vector<T>{10, 20, 5, 5, 108, 209}));
  }
  std::vector<T> a = {0, 0}, b = {1, 1};
  scatter_add_rows<T>(std::vector<T*>{b.data(), a.data(), b.data()}, 2, x.data(), 3);
  EXPECT_EQ(a, (std::vector<T>{10, 20}));
  EXPECT_EQ(b, (std::vector<T>{102, 203}));
}

}  // namespace
}  // namespace hiaton::kernels
