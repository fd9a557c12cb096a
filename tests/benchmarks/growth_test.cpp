// Trees that grow by iteration are those that grow by recursion, in batches and one by one.
#include "growth.h"

#include <gtest/gtest.h>

#include <set>

#include "hiaton/error.h"
#include "hiaton/model.h"
#include "tests_dir.h"

namespace hiaton::benchmarks {
namespace {

constexpr int64_t kClasses = 3;
const CompileOptions kSizes{.sizes = {{"d", 6}, {"e", 4}, {"vocab", 1}, {"classes", kClasses}}};

/// By tree and node: the probabilities of the classes.
std::vector<std::vector<Tensor>> grown(Style style, bool batching) {
  const Growth growth(style, kRoot, kSizes);
  const std::vector<Value> parameters =
      Model::from_file(kRoot / "models/td_treelstm.hia", kSizes).initial_parameters(1);
  std::vector<Seedling> seedlings;
  for (int64_t number = 0; number < 40; ++number) seedlings.push_back({number % kClasses, number});
  std::vector<std::vector<Tensor>> trees;
  for (const Value& tree : growth.grow(seedlings, {.parameters = parameters, .batching = batching}))
    trees.push_back(growth.probabilities_in(tree));
  return trees;
}

TEST(Growth, IsTheSameInEveryStyle) {
  const std::vector<std::vector<Tensor>> expected = grown(Style::Recursion, false);
  std::set<std::size_t> sizes;
  for (const std::vector<Tensor>& tree : expected) sizes.insert(tree.size());
  EXPECT_GT(sizes.size(), 5) << "the trees are all alike";
  for (Style style : {Style::Recursion, Style::Iteration}) {
    for (bool batching : {true, false}) {
      const std::vector<std::vector<Tensor>> found = grown(style, batching);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t t = 0; t < expected.size(); ++t) {
        ASSERT_EQ(found[t].size(), expected[t].size()) << "tree " << t;
        for (std::size_t node = 0; node < expected[t].size(); ++node) {
          for (int64_t k = 0; k < kClasses; ++k) {
            ASSERT_NEAR(found[t][node].data<float>()[k], expected[t][node].data<float>()[k], 1e-5)
                << "tree " << t << ", node " << node;
          }
        }
      }
    }
  }
}

TEST(Growth, IsNotUnrolled) {
  EXPECT_THROW(Growth(Style::Unrolling, kRoot, kSizes), ProgramError);
}

}  // namespace
}  // namespace hiaton::benchmarks
