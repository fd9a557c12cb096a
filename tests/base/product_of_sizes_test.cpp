// Products of sizes that anybody may have written down.
#include "base/product_of_sizes.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace hiaton {
namespace {

TEST(ProductOfSizes, IsNoneWhereItIsTooLarge) {
  using Sizes = std::vector<int64_t>;
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(product_of_sizes(8, Sizes{}), 8u);
  EXPECT_EQ(product_of_sizes(4, Sizes{2, 3}), 24u);
  EXPECT_EQ(product_of_sizes(4, Sizes{0, kMost, kMost}), 0u);
  EXPECT_EQ(product_of_sizes(4, Sizes{kMost, kMost, 0}), std::nullopt)
      << "who multiplies in this order overflows";
  EXPECT_EQ(product_of_sizes(2, Sizes{kMost}), 2 * static_cast<uint64_t>(kMost));
  EXPECT_EQ(product_of_sizes(4, Sizes{kMost}), std::nullopt);
  EXPECT_EQ(product_of_sizes(1, Sizes{2, -1}), std::nullopt);
  EXPECT_EQ(product_of_sizes(1, Sizes{-1, 0}), std::nullopt);
  EXPECT_EQ(product_of_sizes(1, Sizes{5, 4}, 20), 20u);
  EXPECT_EQ(product_of_sizes(1, Sizes{7, 3}, 20), std::nullopt);
  EXPECT_EQ(product_of_sizes(1, Sizes{4, 5}, 20, [](int64_t size) { return size - 1; }), 12u);
}

}  // namespace
}  // namespace hiaton
