#include "train/shuffle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace hiaton::train {
namespace {

std::vector<uint32_t> order(std::size_t count, std::size_t block, uint64_t seed = 1) {
  Random random(seed);
  return shuffled(count, block, random);
}

TEST(ShuffleTest, HasEachNumberOnce) {
  for (const std::size_t count : {0, 1, 2, 1000, 5001}) {
    for (const std::size_t block : {0, 1, 7, 100, 10000}) {
      std::vector<uint32_t> found = order(count, block);
      EXPECT_EQ(found, order(count, block));
      std::ranges::sort(found);
      std::vector<uint32_t> all(count);
      std::iota(all.begin(), all.end(), 0U);
      EXPECT_EQ(found, all) << count << ", " << block;
    }
  }
}

TEST(ShuffleTest, MixesAllButReadsFewBlocksAtOnce) {
  constexpr std::size_t kBlock = 10;
  constexpr std::size_t kCount = 300 * kBlock;
  const std::vector<uint32_t> found = order(kCount, kBlock);
  EXPECT_NE(found, order(kCount, kBlock, 2));
  for (std::size_t begin = 0; begin < kCount; begin += kBlocksMixed * kBlock) {
    std::set<std::size_t> blocks;
    for (std::size_t i = begin; i < std::min(begin + kBlocksMixed * kBlock, kCount); ++i)
      blocks.insert(found[i] / kBlock);
    EXPECT_LE(blocks.size(), kBlocksMixed);
    EXPECT_GT(*blocks.rbegin() - *blocks.begin(), kBlocksMixed) << "blocks that do not stand side by side";
  }
  std::size_t neighbours = 0;
  for (std::size_t i = 1; i < kCount; ++i) neighbours += found[i] == found[i - 1] + 1;
  EXPECT_LT(neighbours, kCount / 20);
}

}  // namespace
}  // namespace hiaton::train
