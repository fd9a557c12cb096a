// The styles that the benchmarks compare are the same model: equal losses, gradients and predictions.
#include "styles.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests_dir.h"
#include "train/tree_values.h"

namespace hiaton::benchmarks {
namespace {

constexpr float kTolerance = 2e-5F;

class Styles : public ::testing::TestWithParam<Style> {
 protected:
  Styles() : corpus_(load_corpus("generated", 6)) {
    corpus_.trees.push_back(random_tree(1, Form::Linear, corpus_.vocabulary, corpus_.classes, 1));
    corpus_.trees.push_back(random_tree(41, Form::Linear, corpus_.vocabulary, corpus_.classes, 2));
    corpus_.trees.push_back(random_tree(41, Form::Moderate, corpus_.vocabulary, corpus_.classes, 3));
    for (const train::Tree& tree : corpus_.trees) trees_.push_back(&tree);
  }

  std::unique_ptr<Trainee> make(Style style) const { return make_treernn(style, kRoot, corpus_, 5); }

  Corpus corpus_;
  std::vector<const train::Tree*> trees_;
};

INSTANTIATE_TEST_SUITE_P(All, Styles, ::testing::Values(Style::Iteration, Style::Unrolling));

TEST_P(Styles, LearnLikeRecursion) {
  const std::unique_ptr<Trainee> expected = make(Style::Recursion);
  const std::unique_ptr<Trainee> found = make(GetParam());
  for (int step = 0; step < 3; ++step) {
    EXPECT_NEAR(expected->step(trees_, 0.01), found->step(trees_, 0.01), 1e-3);
    for (std::size_t p = 0; p < expected->gradients().size(); ++p) {
      ASSERT_EQ(expected->gradients()[p].rows, found->gradients()[p].rows);
      const std::span<const float> a = expected->gradients()[p].floats();
      const std::span<const float> b = found->gradients()[p].floats();
      ASSERT_EQ(a.size(), b.size());
      for (std::size_t i = 0; i < a.size(); ++i) {
        ASSERT_NEAR(a[i], b[i], kTolerance * (1 + std::abs(a[i])))
            << expected->parameters()[p].name << "[" << i << "]";
      }
    }
  }
}

TEST_P(Styles, PredictLikeRecursion) {
  const auto expected = make(Style::Recursion)->predict(trees_);
  const auto found = make(GetParam())->predict(trees_);
  for (std::size_t i = 0; i < trees_.size(); ++i) {
    const train::Prediction a =
        train::prediction_in(expected[i][0], *trees_[i], corpus_.classes, "recursion");
    const train::Prediction b = train::prediction_in(found[i][0], *trees_[i], corpus_.classes, "the other");
    ASSERT_EQ(a.nodes, b.nodes);
    for (std::size_t k = 0; k < a.probabilities.size(); ++k) {
      ASSERT_NEAR(a.probabilities[k], b.probabilities[k], kTolerance);
    }
  }
}

}  // namespace
}  // namespace hiaton::benchmarks
