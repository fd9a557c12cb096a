// Trees of files that may be larger than memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include "directory.h"
#include "hiaton/error.h"
#include "hiaton/examples.h"
#include "hiaton/model.h"

namespace hiaton::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kTreeProgram =
    "data Tree = Leaf(word: i64, label: i64) | Inner(left: Tree, right: Tree, label: i64)\n"
    "param E: f32[5, 3]\n"
    "fn loss(t: Tree) -> f32 = match t\n"
    "  Leaf(word, label) -> cross_entropy(E[word], label)\n"
    "  Inner(left, right, label) -> loss(left) + loss(right)\n";

class StreamedTreesTest : public ::testing::Test {
 protected:
  std::filesystem::path file(const std::string& text) {
    write_file(directory / "trees.txt", text);
    return directory / "trees.txt";
  }
  std::string error_in(const std::string& text, const ReadTreesOptions& options = {}) {
    return error_of<ProgramError>([&] { TreeFile(file(text), options); });
  }

  const Directory directory;
};

TEST_F(StreamedTreesTest, AreThoseThatAreReadToMemory) {
  const std::string text = "\xEF\xBB\xBF(1 (0 a) (1 b))\n\n  (2 (0 c) (_ a)) \r\n(0 d)\n(1 (1 e) (2 a))";
  const auto path = file(text);
  const TreeFile streamed(path);
  const Treebank kept = read_trees(path);
  ASSERT_EQ(streamed.size(), kept.trees.size());
  EXPECT_EQ(streamed.class_count(), 3);
  EXPECT_EQ(streamed.vocabulary(), Vocabulary::of(kept));
  EXPECT_EQ(streamed.vocabulary(2), Vocabulary::of(kept, 2));
  const Vocabulary words = streamed.vocabulary(2);
  const std::vector<Tree> encoded = encode(kept.trees, kept.words, words);
  for (std::size_t i = 0; i < kept.trees.size(); ++i) {
    EXPECT_EQ(streamed.tree(i, words), encoded[i]);
    const Treebank one = streamed.tree(i);
    EXPECT_EQ(to_string(one.trees[0], one.words), to_string(kept.trees[i], kept.words));
  }
  const TreeFile without_third(path, {}, [](std::size_t index) { return index != 2; });
  EXPECT_THAT(without_third.vocabulary().words(), ElementsAre("<unk>", "a", "b", "c", "e"));
}

TEST_F(StreamedTreesTest, AreTheArgumentsOfALoss) {
  const Model model = Model::from_text("tree", kTreeProgram);
  const auto path = file("(1 (0 a) (1 b))\n(2 (0 c) (0 a))\n\n(_ d)\n");
  const auto read = std::make_shared<const TreeFile>(path);
  const Vocabulary words = read->vocabulary();
  const StreamedTrees streamed(model, read, {0, 2}, words, 3);
  const Treebank kept = read_trees(path);
  const TreeExamples in_memory(model, encode(kept.trees, kept.words, words), 3);
  ASSERT_EQ(streamed.size(), 2u);
  const Type type = model.loss_program().parameters()[0].type;
  EXPECT_EQ(to_string(streamed.arguments(0)[0], type), to_string(in_memory.arguments(0)[0], type));
  EXPECT_EQ(to_string(streamed.arguments(1)[0], type), to_string(in_memory.arguments(2)[0], type));
  EXPECT_EQ(streamed.place_of(1), in_memory.place_of(2));
  EXPECT_EQ(streamed.place_of(1), "the tree in line 4 of the data");
  EXPECT_EQ(streamed.hint(1, "found -1"), ", which has nodes without a label: theirs is -1");
  EXPECT_EQ(streamed.hint(0, "found -1"), "");
  EXPECT_NE(streamed.trees(), nullptr);
  EXPECT_GT(streamed.block(), 0u);
  const StreamedTrees others(model, read, {0, 1}, words, 3);
  EXPECT_NE(streamed.fingerprint(), others.fingerprint());
  EXPECT_EQ(streamed.fingerprint(), StreamedTrees(model, read, {0, 2}, words, 3).fingerprint());
}

TEST_F(StreamedTreesTest, NameThePlaceOfTheFirstError) {
  EXPECT_THAT(error_in("(1 ä)\n(1 (0 ä) 1)\n(x y)\n"),
              HasSubstr("trees.txt:2:10: error: expected a subtree or ')' after a subtree, found '1'"));
  EXPECT_THAT(error_in("(1 a)\n(3 b)\n", {3}),
              HasSubstr("trees.txt:2:2: error: expected a label from 0 to 2"));
  EXPECT_THAT(error_in("(1 a\xff)\n"), HasSubstr("trees.txt:1:4: error: expected a word in UTF-8"));
  EXPECT_THAT(error_in("\n \n"), HasSubstr("trees.txt: expected trees, found none"));
  EXPECT_THAT(error_in("(1 a)\n" + std::string(kMaxExampleBytes + 1, ' ') + "\n"),
              HasSubstr("trees.txt:2:1: error: expected a line of at most 16 MiB, found 16777217 bytes"));
  EXPECT_THAT(error_of<ProgramError>([&] { TreeFile(directory / "none.txt"); }), HasSubstr("none.txt"));
}

std::size_t bytes_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST_F(StreamedTreesTest, KeepOnlyWhereTheLinesBegin) {
  constexpr std::size_t kTrees = 20'000;
  std::string line = "(1 a)";
  for (int i = 0; i < 20; ++i) line = "(0 " + line + " (1 b))";
  std::string text;
  for (std::size_t i = 0; i < kTrees; ++i) text.append(line) += '\n';
  const auto path = file(text);
  const std::size_t before = bytes_in_use();
  const TreeFile streamed(path);
  const std::size_t kept = bytes_in_use() - before;
  ASSERT_EQ(streamed.size(), kTrees);
  EXPECT_LE(kept, 2 * 16 * kTrees + 100'000) << "of " << text.size() << " bytes of text";
  if (before == 0) GTEST_SKIP() << "the allocator of a sanitizer does not say what is in use";
  const Treebank in_memory = read_trees(path);
  EXPECT_GE(bytes_in_use() - before, kTrees * 41 * sizeof(Node));
}

}  // namespace
}  // namespace hiaton::train
