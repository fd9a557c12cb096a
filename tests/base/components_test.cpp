#include "base/components.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace hiaton {
namespace {

using Successors = std::vector<std::vector<std::size_t>>;

/// By node: which nodes it leads to.
std::vector<std::vector<bool>> reachable_from(const Successors& successors) {
  const std::size_t count = successors.size();
  std::vector<std::vector<bool>> reaches(count, std::vector<bool>(count, false));
  for (std::size_t root = 0; root < count; ++root) {
    std::vector<std::size_t> stack{root};
    reaches[root][root] = true;
    while (!stack.empty()) {
      const std::size_t node = stack.back();
      stack.pop_back();
      for (const std::size_t next : successors[node]) {
        if (reaches[root][next]) continue;
        reaches[root][next] = true;
        stack.push_back(next);
      }
    }
  }
  return reaches;
}

TEST(Components, AreThoseOfMutualReachabilityAndSuccessorsComeFirst) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    Successors successors(1 + random() % 12);
    for (std::size_t edges = random() % 30; edges > 0; --edges) {
      successors[random() % successors.size()].push_back(random() % successors.size());
    }
    const auto reaches = reachable_from(successors);
    const Components found = strongly_connected_components(successors);
    EXPECT_EQ(std::accumulate(found.sizes.begin(), found.sizes.end(), std::size_t{0}), successors.size());
    for (std::size_t a = 0; a < successors.size(); ++a) {
      for (std::size_t b = 0; b < successors.size(); ++b) {
        EXPECT_EQ(found.of[a] == found.of[b], reaches[a][b] && reaches[b][a]);
        if (reaches[a][b]) {
          EXPECT_GE(found.of[a], found.of[b]);
        }
      }
    }
    for (std::size_t i = 1; i < found.order.size(); ++i)
      EXPECT_LE(found.of[found.order[i - 1]], found.of[found.order[i]]);
  }
}

TEST(Components, OfALongPathTakeNoStack) {
  Successors path(1'000'000);
  for (std::size_t i = 0; i + 1 < path.size(); ++i) path[i].push_back(i + 1);
  const Components found = strongly_connected_components(path);
  EXPECT_EQ(found.sizes.size(), path.size());
  EXPECT_EQ(found.order.front(), path.size() - 1);
}

}  // namespace
}  // namespace hiaton
