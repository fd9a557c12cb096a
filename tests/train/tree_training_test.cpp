// Programs that learn from trees: dropout, and what errors say of the trees that they come from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "directory.h"
#include "hiaton/error.h"
#include "hiaton/trace.h"
#include "tree_model.h"

namespace hiaton::train {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// The probability that dropout leaves out an element stands in place of RATE; what a leaf costs, of COST.
constexpr std::string_view kModel =
    "size vocab = 10\n"
    "size classes = 2\n"
    "size d = 8\n"
    "data Tree = Leaf(label: i64, word: i64) | Node(label: i64, left: Tree, right: Tree)\n"
    "param E: f32[vocab, d] = normal(1.0)\n"
    "param V: f32[d, classes]\n"
    "fn cost(t: Tree, seed: i64) -> f32 =\n"
    "  match t\n"
    "    Leaf(label, word) -> COST\n"
    "    Node(label, l, r) -> cost(l, 2 * seed) + cost(r, 2 * seed + 1)\n"
    "fn kept(x: f32[d], seed: i64) -> f32[d] = dropout(x, RATE, seed)\n"
    "fn loss(t: Tree, seed: i64) -> f32 = cost(t, seed)\n"
    "fn predict(t: Tree) -> f32[classes] =\n"
    "  match t\n"
    "    Leaf(_, word) -> softmax(E[word] @ V)\n"
    "    Node(_, l, _) -> predict(l)\n";

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  return text.replace(text.find(from), from.size(), to);
}

std::string model_with(std::string_view rate,
                       std::string_view cost = "cross_entropy(kept(E[word], seed) @ V, label)") {
  return replaced(replaced(std::string(kModel), "RATE", rate), "COST", cost);
}

class TreeTrainingTest : public ::testing::Test {
 protected:
  TreeModel model(const std::string& program, const std::string& batching = "on", int workers = 1,
                  Trace* trace = nullptr) {
    write_file(directory_ / "model.hia", program);
    TrainerOptions options;
    options.model = directory_ / "model.hia";
    options.classes = 2;
    options.vocabulary_size = 10;
    options.batching = batching;
    options.workers = workers;
    options.trace = trace;
    return TreeModel(options);
  }

  std::vector<Tree> trees(const std::string& lines) {
    Treebank bank = read_trees(std::make_shared<const Source>("trees.txt", lines));
    return bank.trees;
  }

  TrainingResult train(TreeModel&& of, int64_t epochs, const std::string& out = "", bool resume = false) {
    return train(of, epochs, out, resume);
  }
  TrainingResult train(TreeModel& of, int64_t epochs, const std::string& out = "", bool resume = false) {
    Settings settings;
    settings.epochs = epochs;
    settings.batch = 2;
    settings.resume = resume;
    if (!out.empty()) settings.out = directory_ / out;
    return of.train(trees_, dev_, settings);
  }

  const Directory directory_;
  std::vector<Tree> trees_ = trees("(1 (0 a) (1 b))\n(0 (0 b) (0 c))\n(1 (1 a) (0 (1 d) (1 b)))\n");
  std::vector<Tree> dev_ = trees("(1 (0 a) (1 b))\n");
};

TEST_F(TreeTrainingTest, DrawsOtherElementsInEachStepAndForEachTree) {
  TreeModel of = model(model_with("0.5"));
  const StepResult first = of.step(trees_, 0);
  EXPECT_EQ(of.step(trees_, 0), first);
  EXPECT_NE(of.step(trees_, 1), first);
  const std::vector<Tree> twins = {trees_[0], trees_[0]};
  EXPECT_NE(of.step(twins, 0).loss, 2 * of.step(std::span(twins).first(1), 0).loss);
}

TEST_F(TreeTrainingTest, DrawsTheSameWithoutBatchingAndWithTwoWorkers) {
  const StepResult one = model(model_with("0.5"), "deterministic", 1).step(trees_, 3);
  EXPECT_EQ(model(model_with("0.5"), "deterministic", 2).step(trees_, 3), one);
  EXPECT_NEAR(model(model_with("0.5"), "off", 1).step(trees_, 3).loss, one.loss, 1e-5);
}

TEST_F(TreeTrainingTest, WithoutDropoutTheSeedChangesNothing) {
  TreeModel of = model(model_with("0.0"));
  EXPECT_EQ(of.step(trees_, 1), of.step(trees_, 0));
}

TEST_F(TreeTrainingTest, DrawsTheSameWhenTrainingIsResumed) {
  TreeModel whole = model(model_with("0.5"));
  train(whole, 4, "whole");
  train(model(model_with("0.5")), 2, "parts");
  TreeModel resumed = model(model_with("0.5"));
  train(resumed, 4, "parts", true);
  for (std::size_t i = 0; i < whole.parameters().size(); ++i) {
    EXPECT_EQ(resumed.parameters()[i].values, whole.parameters()[i].values);
  }
}

TEST_F(TreeTrainingTest, NamesTheTreeThatFails) {
  trees_ = trees("(1 (0 a) (1 b))\n\n(0 (_ b) (0 c))\n");
  EXPECT_THAT(
      error_of<RunError>([&] { train(model(model_with("0.0")), 1); }),
      AllOf(HasSubstr("index out of range: cross_entropy("),
            HasSubstr("for the tree in line 3 of the data, which has nodes without a label: theirs is -1")));
}

TEST_F(TreeTrainingTest, NamesTheTreeWhoseLossIsNoNumber) {
  const std::string program = model_with("0.0", "sqrt(1.5 - f32(word)) + sum(E[word])");
  EXPECT_THAT(error_of<ProgramError>([&] { train(model(program), 1); }),
              AllOf(HasSubstr("is not finite in step 1 (epoch 1), for the tree in line "),
                    HasSubstr("nothing has been learned yet: look for nan")));
}

TEST_F(TreeTrainingTest, RefusesPredictionsThatAreNoProbabilitiesBeforeItTrains) {
  const std::string scores = replaced(model_with("0.0"), "softmax(E[word] @ V)", "relu(E[word] @ V) + 1");
  EXPECT_THAT(error_of<ProgramError>([&] { train(model(scores), 1, "out"); }),
              HasSubstr("expected 'predict' to give probabilities, as softmax does, found a sum of "));
  const std::string negative =
      replaced(model_with("0.0"), "softmax(E[word] @ V)", "0 - softmax(E[word] @ V)");
  EXPECT_THAT(error_of<ProgramError>([&] { train(model(negative), 1, "out"); }), HasSubstr(" among them"));
  const std::string number =
      replaced(replaced(model_with("0.0"), "-> f32[classes]", "-> i64"), "softmax(E[word] @ V)", "word");
  EXPECT_THAT(error_of<ProgramError>([&] { train(model(number), 1, "out"); }),
              HasSubstr("expected 'predict' to give one tensor f32[2] for each of the 3 nodes"));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "out/last.safetensors"));
}

TEST_F(TreeTrainingTest, NeedNotDeclareTheSizesThatTheDataDecides) {
  const std::string program =
      replaced(replaced(replaced(replaced(model_with("0.0"), "size vocab = 10\nsize classes = 2\n", ""),
                                 "f32[vocab, d]", "f32[10, d]"),
                        "f32[d, classes]", "f32[d, 2]"),
               "f32[classes]", "f32[2]");
  EXPECT_EQ(train(model(program), 1).history.size(), 1u);
}

TEST_F(TreeTrainingTest, SaysWhatALossTakes) {
  const std::string program =
      replaced(model_with("0.0"), "fn loss(t: Tree, seed: i64) -> f32 = cost(t, seed)",
               "fn loss(t: Tree, seed: f32) -> f32 = cost(t, 1) * seed");
  EXPECT_THAT(error_of<ProgramError>([&] { model(program); }),
              HasSubstr("expected 'loss' to take one tree of a data type, and perhaps a seed of type i64, "
                        "found loss(t: Tree, seed: f32)"));
}

/// A tree with 2^depth leaves.
std::string balanced_tree(int depth) {
  if (depth == 0) return "(1 a)";
  const std::string half = balanced_tree(depth - 1);
  return "(0 " + half + " " + half + ")";
}

/// A worker without a part of its own gets calls of the other one, but not in deterministic runs.
TEST_F(TreeTrainingTest, OneTreeIsLearntFromByTwoWorkers) {
  trees_ = trees(balanced_tree(12) + "\n");
  const auto gives_calls = [&](const std::string& batching) {
    Trace trace;
    TreeModel model = this->model(model_with("0.0"), batching, 2, &trace);
    constexpr int kMostSteps = 50;  // of some, the other worker may wake too late
    for (int number = 0; number < kMostSteps && trace.to_json().find("\"ph\":\"s\"") == std::string::npos;
         ++number)
      model.step(trees_, static_cast<uint64_t>(number));
    return trace.to_json().find("\"ph\":\"s\"") != std::string::npos;
  };
  EXPECT_TRUE(gives_calls("on"));
  EXPECT_FALSE(gives_calls("deterministic"));
}

}  // namespace
}  // namespace hiaton::train
