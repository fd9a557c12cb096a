#include "hiaton/small_vector.h"

#include <gtest/gtest.h>

#include <span>
#include <vector>

namespace hiaton {
namespace {

using Small = SmallVector<int, 2>;

std::vector<int> first(int count) {
  std::vector<int> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(i);
  return numbers;
}

/// Empty, inside, full, and on the heap.
class SmallVectorOfSize : public testing::TestWithParam<int> {};

TEST_P(SmallVectorOfSize, HoldsWhatAVectorHolds) {
  const std::vector<int> expected = first(GetParam());
  Small pushed;
  for (int number : expected) pushed.push_back(number);
  const Small converted = expected;
  EXPECT_EQ(pushed, converted);
  EXPECT_EQ(std::vector<int>(pushed.begin(), pushed.end()), expected);
  EXPECT_EQ(pushed.size(), expected.size());
  EXPECT_EQ(pushed.empty(), expected.empty());
  const std::span<const int> seen = pushed;
  EXPECT_EQ(seen.size(), expected.size());
  EXPECT_THROW(pushed.at(expected.size()), std::out_of_range);
}

TEST_P(SmallVectorOfSize, CopiesAndMoves) {
  const std::vector<int> numbers = first(GetParam());
  for (int other_size : {0, 1, 2, 5}) {
    Small from = numbers;
    const Small copied = from;
    Small assigned = first(other_size);
    assigned = from;
    EXPECT_EQ(assigned, copied);
    const Small& itself = from;
    from = itself;
    EXPECT_EQ(from, copied);
    Small moved_to = first(other_size);
    moved_to = std::move(from);
    EXPECT_EQ(moved_to, copied);
    const Small moved = std::move(moved_to);
    EXPECT_EQ(moved, copied);
    EXPECT_TRUE(moved_to.empty());  // NOLINT(bugprone-use-after-move): it is empty then
  }
}

TEST_P(SmallVectorOfSize, InsertsAndErasesAtEveryPlace) {
  const std::vector<int> numbers = first(GetParam());
  for (int at = 0; at <= GetParam(); ++at) {
    Small small = numbers;
    std::vector<int> expected = numbers;
    small.insert(small.begin() + at, 99);
    expected.insert(expected.begin() + at, 99);
    EXPECT_EQ(small, Small(expected));
    small.erase(small.begin() + at);
    EXPECT_EQ(small, Small(numbers));
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, SmallVectorOfSize, testing::Values(0, 1, 2, 3, 4, 5, 9));

TEST(SmallVector, ElementOfItselfMayBePushed) {
  Small small{7, 8};
  small.push_back(small[0]);
  EXPECT_EQ(small, (Small{7, 8, 7}));
}

TEST(SmallVector, ResizesBothWays) {
  Small small{1};
  small.resize(4, 5);
  EXPECT_EQ(small, (Small{1, 5, 5, 5}));
  small.resize(1);
  EXPECT_EQ(small, Small{1});
}

TEST(SmallVector, TakesNoMoreThanAVector) {
  EXPECT_LE(sizeof(SmallVector<int, 4>), sizeof(std::vector<int>));
}

}  // namespace
}  // namespace hiaton
