#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "directory.h"
#include "hiaton/error.h"
#include "hiaton/trees.h"
#include "train/random_stream.h"

namespace hiaton::train {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> texts_of(const Treebank& trees) {
  std::vector<std::string> texts;
  for (const Tree& tree : trees.trees) texts.push_back(to_string(tree, trees.words));
  return texts;
}

/// The value of an expression, found another way: nested calls over the binary tree.
struct Partial {
  std::string op;  ///< empty: a value
  std::vector<int> operands;
};

int apply(const Partial& call) {
  std::vector<int> sorted = call.operands;
  std::sort(sorted.begin(), sorted.end());
  if (call.op == "MAX") return sorted.back();
  if (call.op == "MIN") return sorted.front();
  if (call.op == "MED") return (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
  int sum = 0;
  for (const int operand : sorted) sum += operand;
  return sum % 10;
}

Partial evaluate(const Treebank& trees, const Tree& tree, int32_t index) {
  const Node& node = tree.nodes[static_cast<std::size_t>(index)];
  if (node.child_count == 0) {
    const std::string& word = trees.words[static_cast<std::size_t>(node.word)];
    if (!std::isdigit(static_cast<unsigned char>(word[0]))) return {word, {}};
    EXPECT_EQ(node.label, std::stoi(word));
    return {"", {node.label}};
  }
  EXPECT_EQ(node.child_count, 2);
  const int32_t function = *tree.children(index).begin();
  const int32_t operand = *++tree.children(index).begin();
  Partial call = evaluate(trees, tree, function);
  const Partial value = evaluate(trees, tree, operand);
  EXPECT_FALSE(call.op.empty());
  EXPECT_TRUE(value.op.empty());
  call.operands.push_back(value.operands[0]);
  if (node.label == Node::kNone) return call;
  EXPECT_EQ(apply(call), node.label) << to_string(tree, trees.words);
  return {"", {node.label}};
}

TEST(ListOpsTest, EveryLabelIsTheValueOfItsExpression) {
  const Treebank trees = generate_listops({.max_depth = 6, .max_arity = 5}, 300, 0).train;
  for (const Tree& tree : trees.trees) EXPECT_TRUE(evaluate(trees, tree, 0).op.empty());
}

TEST(ListOpsTest, ReadsBackAsText) {
  const Treebank trees = generate_listops({}, 50, 0).train;
  for (const std::string& text : texts_of(trees)) {
    const Treebank again = read_trees(std::make_shared<Source>("text", text), {10});
    EXPECT_EQ(to_string(again.trees[0], again.words), text);
  }
}

TEST(ListOpsTest, BinarizesToTheLeft) {
  const Treebank trees = generate_listops({{"SM"}, 1, 1, 3, 3}, 1, 0).train;
  const auto digit = [&](int32_t node) { return trees.trees[0].nodes[static_cast<std::size_t>(node)].label; };
  const int a = digit(4);
  const int b = digit(5);
  const int c = digit(6);
  EXPECT_EQ(texts_of(trees)[0], "(" + std::to_string((a + b + c) % 10) + " (_ (_ (_ SM) (" +
                                    std::to_string(a) + " " + std::to_string(a) + ")) (" + std::to_string(b) +
                                    " " + std::to_string(b) + ")) (" + std::to_string(c) + " " +
                                    std::to_string(c) + "))");
}

TEST(ListOpsTest, AStreamHasTheSameExpressions) {
  const Treebank all = generate_listops({.seed = 5}, 100, 0).train;
  ListOpsStream stream({.seed = 5});
  EXPECT_TRUE(stream.drawn().trees.empty());
  EXPECT_EQ(stream.first(40).trees.size(), 40u);
  EXPECT_EQ(stream.first(30).trees.size(), 40u);
  EXPECT_EQ(texts_of(stream.first(100)), texts_of(all));
  EXPECT_EQ(stream.drawn().words, all.words);
  stream.forget(60);
  EXPECT_TRUE(stream.drawn().trees[59].nodes.empty());
  EXPECT_FALSE(stream.drawn().trees[60].nodes.empty());
  EXPECT_EQ(stream.first(120).trees.size(), 120u);
  ListOpsStream few({{"SM"}, 1, 1, 2, 2});
  EXPECT_EQ(few.first(100).trees.size(), 100u);
  EXPECT_THROW(few.first(101), ProgramError);
}

TEST(ListOpsTest, IsTheSameForASeed) {
  EXPECT_EQ(texts_of(generate_listops({.seed = 5}, 100, 10).train),
            texts_of(generate_listops({.seed = 5}, 100, 20).train));
  EXPECT_NE(texts_of(generate_listops({.seed = 5}, 100, 0).train),
            texts_of(generate_listops({.seed = 6}, 100, 0).train));
}

TEST(ListOpsTest, NoExpressionComesTwice) {
  const ListOps data = generate_listops({.max_depth = 1, .max_arity = 2}, 300, 50);
  std::set<std::string> all;
  for (const std::string& text : texts_of(data.train)) EXPECT_TRUE(all.insert(text).second) << text;
  for (const std::string& text : texts_of(data.dev)) EXPECT_TRUE(all.insert(text).second) << text;
}

TEST(ListOpsTest, ValuesAreBalanced) {
  std::vector<int> counts(10);
  for (const Tree& tree : generate_listops({.operators = {"MAX", "MIN"}}, 1000, 0).train.trees) {
    ++counts[static_cast<std::size_t>(tree.nodes[0].label)];
  }
  for (const int count : counts) EXPECT_EQ(count, 100);
}

TEST(ListOpsTest, KeepsToDepthAndArity) {
  const Treebank trees =
      generate_listops({.min_depth = 3, .max_depth = 3, .min_arity = 4, .max_arity = 4}, 20, 0).train;
  for (const Tree& tree : trees.trees) {
    int32_t deepest = 0;
    std::vector<int32_t> depths(tree.nodes.size(), 0);
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      for (const int32_t child : tree.children(static_cast<int32_t>(i))) {
        depths[static_cast<std::size_t>(child)] = depths[i] + 1;
        deepest = std::max(deepest, depths[i] + 1);
      }
    }
    EXPECT_GE(deepest, 4 + 2) << "three nested operations, of which the innermost has four operands";
    EXPECT_LE(deepest, 3 * 4);
  }
}

TEST(ListOpsTest, VeryDeepExpressionsStayInBounds) {
  const Treebank trees =
      generate_listops({.min_depth = 100'000, .max_depth = 100'000, .max_operations = 10}, 1, 0).train;
  EXPECT_GT(trees.node_count(), 200'000u);
  EXPECT_LT(trees.node_count(), 2'000'000u);
}

TEST(ListOpsTest, RefusesOptionsWithoutSense) {
  const auto error = [](const ListOpsOptions& options, std::size_t count = 1) {
    return error_of<ProgramError>([&] { generate_listops(options, count, 0); });
  };
  EXPECT_THAT(error({.operators = {"MAX", "XOR"}}),
              HasSubstr("expected an operator of MAX, MIN, MED, SM, found 'XOR'"));
  EXPECT_THAT(error({.operators = {}}), HasSubstr("expected at least one operator"));
  EXPECT_THAT(error({.min_depth = 0}), HasSubstr("expected a least depth of 1"));
  EXPECT_THAT(error({.min_depth = 5, .max_depth = 4}),
              HasSubstr("expected a greatest depth of 5 or more, found 4"));
  EXPECT_THAT(error({.max_depth = 1'000'001}), HasSubstr("expected a greatest depth of at most 1000000"));
  EXPECT_THAT(error({.max_arity = 10'001}), HasSubstr("expected at most 10000 operands, found 10001"));
  EXPECT_THAT(error({.min_arity = 3, .max_arity = 2}), HasSubstr("expected at most 3 operands"));
  EXPECT_THAT(error({{"MAX"}, 1, 1, 2, 2}, 101), HasSubstr("found hardly any beyond 100"));
}

TEST(RandomTest, IsTheSameEverywhere) {
  Random random(1);
  EXPECT_EQ(random.next(), 7982734928498899980u);
}

TEST(RandomTest, IsUniform) {
  Random random(7, 3);
  std::vector<int> counts(7);
  for (int i = 0; i < 70'000; ++i) ++counts[random.below(7)];
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 400);
}

TEST(RandomTest, StreamsDiffer) {
  EXPECT_NE(Random(1, 0).next(), Random(1, 1).next());
  EXPECT_NE(Random(1, 0).next(), Random(2, 0).next());
}

}  // namespace
}  // namespace hiaton::train
