// Copies between layouts, against a loop over all indices.
#include "kernels/strided.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "hiaton/error.h"

namespace hiaton::kernels {
namespace {

using Indices = std::vector<int64_t>;

int64_t product(const Indices& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

Indices dense_strides(const Indices& shape) {
  Indices strides(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0; stride *= shape[d]) strides[d] = stride;
  return strides;
}

/// Calls f(offset in from, offset in to) for each index.
template <class Function>
void for_all(const Indices& shape, const Indices& from, const Indices& to, Function f) {
  for (int64_t n = 0; n < product(shape); ++n) {
    int64_t rest = n, source = 0, target = 0;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) {
      source += rest % shape[d] * from[d];
      target += rest % shape[d] * to[d];
    }
    f(source, target);
  }
}

template <class Element>
void check(const Indices& shape, const std::vector<Element>& from, int64_t origin,
           const Indices& from_strides, int64_t size, const Indices& to_strides) {
  std::vector<Element> expected(static_cast<size_t>(size), Element{77}), found = expected;
  for_all(shape, from_strides, to_strides, [&](int64_t source, int64_t target) {
    expected[static_cast<size_t>(target)] = from[static_cast<size_t>(origin + source)];
  });
  copy_strided(sizeof(Element), shape, from.data() + origin, from_strides, found.data(), to_strides);
  ASSERT_EQ(found, expected) << testing::PrintToString(shape) << testing::PrintToString(from_strides);
}

template <class Element>
std::vector<Element> counting(int64_t size) {
  std::vector<Element> numbers(static_cast<size_t>(size));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<Element>(i % 251);
  return numbers;
}

template <class Element>
class CopyStrided : public testing::Test {};
using Elements = testing::Types<uint8_t, uint16_t, float, double>;
TYPED_TEST_SUITE(CopyStrided, Elements);

TYPED_TEST(CopyStrided, PermutesTheAxesOfAnyShape) {
  std::minstd_rand random(1);
  for (int round = 0; round < 300; ++round) {
    const size_t rank = random() % 7;
    Indices shape(rank), order(rank), permuted(rank), strides(rank);
    for (int64_t& size : shape) size = int64_t{1} + random() % (rank <= 2 ? 40 : 5);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    const Indices dense = dense_strides(shape);
    for (size_t d = 0; d < rank; ++d) {
      permuted[d] = shape[static_cast<size_t>(order[d])];
      strides[d] = dense[static_cast<size_t>(order[d])];
    }
    const int64_t size = product(shape);
    check(permuted, counting<TypeParam>(size), 0, strides, size, dense_strides(permuted));
    check(permuted, counting<TypeParam>(size), 0, dense_strides(permuted), size, strides);
  }
}

TYPED_TEST(CopyStrided, SlicesWithStepsOfBothSignsBroadcastsAndWritesSlices) {
  const std::vector<TypeParam> from = counting<TypeParam>(600);
  check<TypeParam>({4, 3, 5}, from, 7, {100, 20, 2}, 60, {15, 5, 1});
  check<TypeParam>({4, 3, 5}, from, 599, {-100, -20, -2}, 60, {15, 5, 1});
  check<TypeParam>({4, 3, 5}, from, 0, {0, 1, 0}, 60, {15, 5, 1});
  check<TypeParam>({4, 3, 5}, from, 3, {0, 0, 1}, 60, {15, 5, 1});
  check<TypeParam>({4, 3, 5}, from, 3, {0, 0, 0}, 60, {15, 5, 1});
  check<TypeParam>({4, 3, 5}, from, 0, {15, 5, 1}, 600, {100, 20, 2});
  check<TypeParam>({}, from, 5, {}, 1, {});
  check<TypeParam>({3, 0, 5}, from, 0, {0, 5, 1}, 1, {0, 5, 1});
}

TEST(CopyStrided, RefusesElementSizesAndRanksThatItDoesNotKnow) {
  const Indices many(kMaxCopyRank + 1, 1), one{1};
  char from[8] = {}, to[8];
  EXPECT_THROW(copy_strided(4, many, from, many, to, many), InternalError);
  EXPECT_THROW(copy_strided(3, one, from, one, to, one), InternalError);
  EXPECT_THROW(copy_strided(4, one, from, {}, to, one), InternalError);
}

TEST(CopyBlocks, ConcatenatesAndSplits) {
  const std::vector<float> a = {1, 2, 3, 4}, b = {5, 6, 7, 8, 9, 10};
  std::vector<float> both(10), back(6);
  copy_blocks(2, 8, a.data(), 8, both.data(), 20);
  copy_blocks(2, 12, b.data(), 12, both.data() + 2, 20);
  EXPECT_EQ(both, (std::vector<float>{1, 2, 5, 6, 7, 3, 4, 8, 9, 10}));
  copy_blocks(2, 12, both.data() + 2, 20, back.data(), 12);
  EXPECT_EQ(back, b);
}

TEST(CopyBlocks, OfAnySizeStandWhereTheyShould) {
  for (const int64_t size : {1, 2, 3, 4, 7, 8, 9, 16, 20}) {
    for (const auto& [from_gap, to_gap] : {std::pair<int64_t, int64_t>{0, 0}, {3, 0}, {0, 5}, {1, 2}}) {
      constexpr int64_t kCount = 5;
      const int64_t from_stride = size + from_gap, to_stride = size + to_gap;
      std::vector<uint8_t> from(static_cast<std::size_t>(kCount * from_stride));
      for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint8_t>(i + 1);
      std::vector<uint8_t> expected(static_cast<std::size_t>(kCount * to_stride)), to(expected);
      for (int64_t b = 0; b < kCount; ++b)
        std::copy_n(from.begin() + b * from_stride, size, expected.begin() + b * to_stride);
      copy_blocks(kCount, size, from.data(), from_stride, to.data(), to_stride);
      EXPECT_EQ(to, expected) << size << " " << from_gap << " " << to_gap;
    }
  }
}

}  // namespace
}  // namespace hiaton::kernels
