#include "hiaton/trees.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "directory.h"
#include "hiaton/error.h"

namespace hiaton::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Treebank read(const std::string& text, const ReadTreesOptions& options = {}) {
  return read_trees(std::make_shared<Source>("data.txt", text), options);
}

std::string error_in(const std::string& text, const ReadTreesOptions& options = {}) {
  return error_of<ProgramError>([&] { read(text, options); });
}

std::vector<int32_t> children_of(const Tree& tree, int32_t node) {
  std::vector<int32_t> indices;
  for (const int32_t child : tree.children(node)) indices.push_back(child);
  return indices;
}

TEST(ReadTrees, ReadsLabelsWordsAndShape) {
  const Treebank trees = read("(3 (2 It) (4 (2 's) (4 good)))\n");
  ASSERT_EQ(trees.trees.size(), 1u);
  const Tree& tree = trees.trees[0];
  EXPECT_THAT(trees.words, ElementsAre("It", "'s", "good"));
  ASSERT_EQ(tree.nodes.size(), 5u);
  EXPECT_EQ(tree.nodes[0], (Node{3, Node::kNone, 2, 5, 1, 1}));
  EXPECT_EQ(tree.nodes[1], (Node{2, 0, 0, 2, 1, 4}));
  EXPECT_EQ(tree.nodes[2], (Node{4, Node::kNone, 2, 5, 1, 11}));
  EXPECT_EQ(tree.nodes[3], (Node{2, 1, 0, 4, 1, 14}));
  EXPECT_EQ(tree.nodes[4], (Node{4, 2, 0, 5, 1, 21}));
  EXPECT_THAT(children_of(tree, 0), ElementsAre(1, 2));
  EXPECT_THAT(children_of(tree, 2), ElementsAre(3, 4));
  EXPECT_THAT(children_of(tree, 1), ElementsAre());
}

TEST(ReadTrees, TakesAnyNumberOfChildrenMissingLabelsAndSpaces) {
  const Treebank trees = read("\n  ( _ (0 a)(1 b)\t(_ a) (12 (3 c)) )  \r\n\n(0 x)");
  ASSERT_EQ(trees.trees.size(), 2u);
  EXPECT_THAT(trees.words, ElementsAre("a", "b", "c", "x"));
  EXPECT_EQ(trees.trees[0].nodes[0].label, Node::kNone);
  EXPECT_THAT(children_of(trees.trees[0], 0), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(trees.trees[0].nodes[3].word, 0) << "the same word has the same index";
  EXPECT_EQ(trees.trees[1].nodes[0].line, 4u);
  EXPECT_EQ(trees.class_count(), 13);
  EXPECT_EQ(trees.node_count(), 7u);
}

TEST(ReadTrees, CountsColumnsInCharacters) {
  const Treebank trees = read("(1 (0 äöü) (1 b))\n");
  EXPECT_EQ(trees.trees[0].nodes[2].column, 12u);
}

TEST(ReadTrees, ShowsPlaceLineAndCaretOfTheBadLine) {
  EXPECT_EQ(error_in("(1 a)\n(2 (x b) (1 c))\n(1 d)\n"),
            "data.txt:2:5: error: expected a label, which is a number or '_', found 'x'\n"
            " 2 | (2 (x b) (1 c))\n"
            "   |     ^");
}

TEST(ReadTrees, SaysWhatItExpected) {
  const auto expect = [](const std::string& text, const std::string& message) {
    EXPECT_THAT(error_in(text), HasSubstr(message)) << text;
  };
  expect("word", "data.txt:1:1: error: expected '(', the begin of a tree, found 'word'");
  expect(")", "expected '(', the begin of a tree, found ')'");
  expect("(2 (1 a)", "1:9: error: expected ')' for the '(' in column 1, found the end of the line");
  expect("(2 (1 a", "1:8: error: expected ')' for the '(' in column 4, found the end of the line");
  expect("(1 a))", "1:6: error: expected the end of the line after a tree, found ')'");
  expect("(1 a) (2 b)", "1:7: error: expected the end of the line after a tree, found '('");
  expect("(1)", "1:3: error: expected a word or a subtree after the label, found ')'");
  expect("(1 a b)", "1:6: error: expected ')' after the word of a leaf, found 'b'");
  expect("(1 a (1 b))", "expected ')' after the word of a leaf, found '('");
  expect("(1 (1 b) a)", "1:10: error: expected a subtree or ')' after a subtree, found 'a'");
  expect("((1 a))", "1:2: error: expected a label, which is a number or '_', found '('");
  expect("(", "1:2: error: expected a label, which is a number or '_', found the end of the line");
  expect("(-1 a)", "found '-1'");
  expect("(1.5 a)", "found '1.5'");
  expect("(99999999999999 a)", "expected a label from 0 to 999999 or '_', found '99999999999999'");
  expect("(1 \xE9t\xE9)", "expected a word in UTF-8, found bytes that are not UTF-8");
}

TEST(ReadTrees, ChecksLabelsAgainstTheClasses) {
  EXPECT_THAT(error_in("(4 a)\n(5 a)\n", {5}),
              HasSubstr("data.txt:2:2: error: expected a label from 0 to 4 or '_'"));
  EXPECT_EQ(error_in("(4 a)\n(_ a)\n", {5}), "");
}

TEST(ReadTrees, ShowsTheFirstBadLinesAndCountsTheRest) {
  std::string text;
  for (int i = 0; i < 8; ++i) text += "(1 a)\nbad\n";
  const std::string message = error_in(text);
  EXPECT_THAT(message, HasSubstr("data.txt:10:1: error"));
  EXPECT_THAT(message, Not(HasSubstr("data.txt:12:1: error")));
  EXPECT_THAT(message, HasSubstr("data.txt: 3 more errors"));
}

TEST(ReadTrees, FilesThatCannotBeReadOrHoldNothing) {
  const Directory directory;
  EXPECT_THAT(error_of<ProgramError>([&] { read_trees(directory / "none"); }), HasSubstr("cannot read"));
  write_file(directory / "empty", "\n \n");
  EXPECT_THAT(error_of<ProgramError>([&] { read_trees(directory / "empty"); }), HasSubstr("expected trees"));
}

TEST(ReadTrees, ReadsBackWhatIsWritten) {
  const std::string text = "(3 (2 It) (4 (2 's) (4 good)))\n(_ a)\n(0 (_ (1 a) (2 b) (3 c)) (1 (1 d)))\n";
  std::ostringstream out;
  write_trees(out, read(text));
  EXPECT_EQ(out.str(), text);
}

TEST(ReadTrees, DeepAndLargeTreesNeedNoRecursion) {
  constexpr std::size_t kDepth = 1'000'000;
  std::string text;
  for (std::size_t i = 0; i < kDepth; ++i) text += "(1 ";
  text += "(0 x)" + std::string(kDepth, ')');
  const Treebank trees = read(text);
  EXPECT_EQ(trees.trees[0].nodes.size(), kDepth + 1);
  EXPECT_EQ(to_string(trees.trees[0], trees.words), text);
  text.pop_back();
  EXPECT_THAT(error_in(text), HasSubstr("expected ')' for the '(' in column 1"));
}

TEST(VocabularyTest, KnowsTheFrequentWords) {
  const Treebank trees = read("(1 (1 b) (1 a) (1 b))\n(1 c)\n(1 b)\n(1 a)\n");
  const Vocabulary vocabulary = Vocabulary::of(trees, 2);
  EXPECT_THAT(vocabulary.words(), ElementsAre("<unk>", "b", "a"));
  EXPECT_EQ(vocabulary.id("a"), 2);
  EXPECT_EQ(vocabulary.id("c"), Vocabulary::kUnknown);
  EXPECT_EQ(Vocabulary::of(trees).size(), 4);
  EXPECT_EQ(Vocabulary().size(), 1);
}

TEST(VocabularyTest, EncodesTrees) {
  const Treebank trees = read("(1 (1 b) (1 a) (1 z))\n");
  const std::vector<Tree> encoded =
      encode(trees.trees, trees.words, Vocabulary::of(read("(1 (1 a) (1 b))\n")));
  EXPECT_EQ(encoded[0].nodes[0].word, Node::kNone);
  EXPECT_EQ(encoded[0].nodes[1].word, 2);
  EXPECT_EQ(encoded[0].nodes[2].word, 1);
  EXPECT_EQ(encoded[0].nodes[3].word, Vocabulary::kUnknown);
}

TEST(VocabularyTest, TheUnknownWordInTheDataIsUnknown) {
  EXPECT_EQ(Vocabulary::of(read("(1 (1 <unk>) (1 a))\n")).size(), 2);
}

TEST(VocabularyTest, SavesAndLoads) {
  const Directory directory;
  const Vocabulary vocabulary = Vocabulary::of(read("(1 (1 ä) (1 'x) (1 #) (1 \"))\n"));
  vocabulary.save(directory / "vocabulary.txt");
  EXPECT_EQ(Vocabulary::load(directory / "vocabulary.txt"), vocabulary);
  EXPECT_EQ(file_text(directory / "vocabulary.txt"), "<unk>\nä\n'x\n#\n\"\n");
}

TEST(VocabularyTest, RefusesDamagedFiles) {
  const Directory directory;
  const auto error_with = [&](const std::string& text) {
    write_file(directory / "v", text);
    return error_of<ProgramError>([&] { Vocabulary::load(directory / "v"); });
  };
  EXPECT_THAT(error_with(""), HasSubstr("expected a vocabulary"));
  EXPECT_THAT(error_with("a\nb\n"), HasSubstr("v:1:1: error: expected '<unk>'"));
  EXPECT_THAT(error_with("<unk>\na\n\nb\n"), HasSubstr("v:3:1: error: expected a word"));
  EXPECT_THAT(error_with("<unk>\na\nb\na\n"),
              HasSubstr("v:4:1: error: expected words that differ, found 'a'"));
  EXPECT_THAT(error_with("<unk>\na\nb"), HasSubstr("v:3:1: error: expected a line break"));
}

}  // namespace
}  // namespace hiaton::train
