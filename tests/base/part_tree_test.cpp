#include "base/part_tree.h"

#include <gtest/gtest.h>

#include <string>

namespace hiaton {
namespace {

/// How sums of parts are added up, as text: "((0+1)+2)".
std::string sum_of(PartRange parts) {
  std::vector<std::string> sums;
  for (std::size_t i = 0; i < parts.end; ++i) sums.push_back(std::to_string(i));
  join_parts(parts, [&](std::size_t left, std::size_t right) {
    sums[left] = "(" + sums[left] + "+" + sums[right] + ")";
  });
  return sums[parts.begin];
}

TEST(PartTree, DependsOnTheNumberOfPartsAlone) {
  EXPECT_EQ(sum_of({0, 1}), "0");
  EXPECT_EQ(sum_of({0, 2}), "(0+1)");
  EXPECT_EQ(sum_of({0, 3}), "((0+1)+2)");
  EXPECT_EQ(sum_of({0, 6}), "(((0+1)+(2+3))+(4+5))");
}

TEST(PartTree, WholeSubtreesOfAllOwnersAreAllParts) {
  for (std::size_t parts = 1; parts <= 17; ++parts) {
    const std::string all = sum_of({0, parts});
    for (std::size_t owners = 1; owners <= 6; ++owners) {
      std::size_t next = 0;
      for (std::size_t owner = 0; owner < owners; ++owner) {
        for (const PartRange subtree : whole_subtrees(parts, parts_of(owner, owners, parts))) {
          EXPECT_EQ(subtree.begin, next);
          next = subtree.end;
          EXPECT_NE(all.find(sum_of(subtree)), std::string::npos) << sum_of(subtree) << " in " << all;
        }
      }
      EXPECT_EQ(next, parts);
    }
  }
}

TEST(PartTree, SubtreesAreCutAsTheWhole) {
  for (std::size_t parts = 1; parts <= 9; ++parts) {
    for (std::size_t things = parts; things <= 40; ++things) {
      const std::vector<std::size_t> begins = cut_into_parts(things, parts);
      for (std::size_t i = 0; i < parts; ++i) EXPECT_LT(begins[i], begins[i + 1]) << things << " " << parts;
      for (std::size_t owner = 0; owner < 3; ++owner) {
        for (const PartRange subtree : whole_subtrees(parts, parts_of(owner, 3, parts))) {
          const std::size_t begin = begins[subtree.begin];
          const auto own = cut_into_parts(begins[subtree.end] - begin, subtree.size());
          for (std::size_t i = 0; i <= subtree.size(); ++i)
            EXPECT_EQ(own[i], begins[subtree.begin + i] - begin);
        }
      }
    }
  }
}

}  // namespace
}  // namespace hiaton
