#include "tree_input.h"

#include <algorithm>

#include "example_file.h"
#include "tree_data.h"

namespace hiaton::cli {
namespace {

/// Trees with words of their own, as the vocabulary has them.
class WordIds {
 public:
  explicit WordIds(const train::Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  std::vector<train::Tree> encoded(const train::Treebank& bank, const net::Range& range) {
    for (std::size_t i = ids_.size(); i < bank.words.size(); ++i)
      ids_.push_back(vocabulary_.id(bank.words[i]));
    const auto part = std::span(bank.trees).subspan(range.begin, range.count);
    std::vector<train::Tree> trees(part.begin(), part.end());
    for (train::Tree& tree : trees) {
      for (train::Node& node : tree.nodes) {
        if (node.word != train::Node::kNone) node.word = ids_[static_cast<std::size_t>(node.word)];
      }
    }
    return trees;
  }

 private:
  const train::Vocabulary& vocabulary_;
  std::vector<int32_t> ids_;  ///< by word
};

class KeptTrees final : public TreeInput {
 public:
  KeptTrees(train::Treebank trees, const train::Vocabulary& vocabulary)
      : bank_(std::move(trees)), ids_(vocabulary) {}

  std::size_t size() const override { return bank_.trees.size(); }
  std::vector<train::Tree> encoded(const net::Range& range) override { return ids_.encoded(bank_, range); }
  void show(std::size_t index, const Show& show) const override { show(bank_.trees[index], bank_.words); }
  void forget(std::size_t count) override {
    for (; forgotten_ < count; ++forgotten_) bank_.trees[forgotten_] = {};
  }

 private:
  train::Treebank bank_;
  std::size_t forgotten_ = 0;
  WordIds ids_;
};

class DrawnTrees final : public TreeInput {
 public:
  DrawnTrees(train::ListOpsStream expressions, std::size_t count, const train::Vocabulary& vocabulary)
      : expressions_(std::move(expressions)), count_(count), ids_(vocabulary) {}

  std::size_t size() const override { return count_; }
  std::vector<train::Tree> encoded(const net::Range& range) override {
    return ids_.encoded(expressions_.first(range.begin + range.count), range);
  }
  void show(std::size_t index, const Show& show) const override {
    show(expressions_.drawn().trees[index], expressions_.drawn().words);
  }
  void forget(std::size_t count) override { expressions_.forget(count); }

 private:
  train::ListOpsStream expressions_;
  std::size_t count_;
  WordIds ids_;
};

class TreesOfFile final : public TreeInput {
 public:
  TreesOfFile(const std::string& file, const TrainedModel& model,
              const std::function<bool(std::size_t)>& is_chosen)
      : file_(file, {model.info.classes}), vocabulary_(model.words) {
    for (std::size_t i = 0; i < file_.size(); ++i) {
      if (!is_chosen || is_chosen(i)) chosen_.push_back(static_cast<uint32_t>(i));
    }
  }

  std::size_t size() const override { return chosen_.size(); }
  std::vector<train::Tree> encoded(const net::Range& range) override {
    std::vector<train::Tree> trees;
    for (const uint32_t index : std::span(chosen_).subspan(range.begin, range.count))
      trees.push_back(file_.tree(index, vocabulary_));
    return trees;
  }
  void show(std::size_t index, const Show& show) const override {
    const train::Treebank one = file_.tree(chosen_[index]);
    show(one.trees[0], one.words);
  }
  void forget(std::size_t /*count*/) override {}

 private:
  const train::TreeFile file_;
  const train::Vocabulary& vocabulary_;
  std::vector<uint32_t> chosen_;
};

}  // namespace

std::unique_ptr<TreeInput> keep_trees(train::Treebank trees, const TrainedModel& model) {
  return std::make_unique<KeptTrees>(std::move(trees), model.words);
}

std::unique_ptr<TreeInput> draw_trees(train::ListOpsStream expressions, std::size_t count,
                                      const TrainedModel& model) {
  return std::make_unique<DrawnTrees>(std::move(expressions), count, model.words);
}

std::unique_ptr<TreeInput> read_trees(const std::string& file, const TrainedModel& model,
                                      const std::function<bool(std::size_t)>& is_chosen) {
  const ModelInfo& info = model.info;
  const ExampleFile text(file, info.data.is_streamed && file == info.data.train);
  if (text.is_streamed()) return std::make_unique<TreesOfFile>(file, model, is_chosen);
  train::Treebank trees = read_all_trees(text.text(), info.classes);
  if (is_chosen) {
    std::vector<train::Tree> chosen;
    for (std::size_t i = 0; i < trees.trees.size(); ++i) {
      if (is_chosen(i)) chosen.push_back(std::move(trees.trees[i]));
    }
    trees.trees = std::move(chosen);
  }
  return keep_trees(std::move(trees), model);
}

}  // namespace hiaton::cli
