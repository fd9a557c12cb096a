// The smallest model that learns something: the logits of a node are the sum of the rows of the words below
// it.
#pragma once

#include <cmath>
#include <functional>
#include <set>
#include <vector>

#include "hiaton/train.h"

namespace hiaton::train {

class BagOfWords : public Learner {
 public:
  BagOfWords(int64_t words, int32_t classes) : classes_(classes) {
    const auto count = static_cast<std::size_t>(words * classes);
    parameters_ = {{"E", {words, classes}, std::vector<float>(count)},
                   {"b", {classes}, std::vector<float>(static_cast<std::size_t>(classes))}};
    for (std::size_t i = 0; i < count; ++i) parameters_[0].values[i] = 0.01f * static_cast<float>(i % 7);
  }

  std::vector<ParameterValues>& parameters() override { return parameters_; }
  void begin_step(uint64_t step) override { steps.push_back(step); }

  double loss_and_gradients(std::span<const Tree* const> batch, std::span<Gradient> gradients) override {
    double loss = 0;
    std::set<int64_t> rows;
    for (std::size_t i = 0; i < 2; ++i) sums_[i].assign(parameters_[i].values.size(), 0);
    for (const Tree* tree : batch) loss += add(*tree, rows);
    gradients[0] = {true, sums_[0], {rows.begin(), rows.end()}};
    gradients[1] = {false, sums_[1], {}};
    if (spoil) spoil(loss, gradients);
    return loss;
  }

  std::vector<Prediction> predict(std::span<const Tree* const> batch) override {
    std::vector<Prediction> predictions;
    for (const Tree* tree : batch) {
      Prediction prediction{{}, classes_, probabilities(*tree)};
      for (std::size_t i = 0; i < tree->nodes.size(); ++i)
        prediction.nodes.push_back(static_cast<int32_t>(i));
      predictions.push_back(std::move(prediction));
    }
    return predictions;
  }

  std::vector<uint64_t> steps;  ///< that began
  /// Changes what loss_and_gradients returns.
  std::function<void(double& loss, std::span<Gradient> gradients)> spoil;

 private:
  std::size_t classes() const { return static_cast<std::size_t>(classes_); }

  /// Softmax over the classes, for each node.
  std::vector<float> probabilities(const Tree& tree) const {
    const std::size_t n = classes();
    std::vector<float> values(tree.nodes.size() * n);
    for (std::size_t i = tree.nodes.size(); i-- > 0;) {
      const int32_t word = tree.nodes[i].word;
      for (std::size_t c = 0; c < n; ++c) {
        if (word != Node::kNone)
          values[i * n + c] = parameters_[0].values[static_cast<std::size_t>(word) * n + c];
        for (const int32_t child : tree.children(static_cast<int32_t>(i))) {
          values[i * n + c] += values[static_cast<std::size_t>(child) * n + c];
        }
      }
    }
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      float sum = 0;
      for (std::size_t c = 0; c < n; ++c)
        sum += values[i * n + c] = std::exp(values[i * n + c] + parameters_[1].values[c]);
      for (std::size_t c = 0; c < n; ++c) values[i * n + c] /= sum;
    }
    return values;
  }

  double add(const Tree& tree, std::set<int64_t>& rows) {
    const std::size_t n = classes();
    double loss = 0;
    std::vector<float> errors = probabilities(tree);
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      const int32_t label = tree.nodes[i].label;
      if (label == Node::kNone) {
        for (std::size_t c = 0; c < n; ++c) errors[i * n + c] = 0;
        continue;
      }
      loss -= std::log(errors[i * n + static_cast<std::size_t>(label)]);
      errors[i * n + static_cast<std::size_t>(label)] -= 1;
      for (std::size_t c = 0; c < n; ++c) sums_[1][c] += errors[i * n + c];
    }
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {  // a node's logits reach down to its words
      for (const int32_t child : tree.children(static_cast<int32_t>(i))) {
        for (std::size_t c = 0; c < n; ++c)
          errors[static_cast<std::size_t>(child) * n + c] += errors[i * n + c];
      }
      const int32_t word = tree.nodes[i].word;
      if (word == Node::kNone) continue;
      rows.insert(word);
      for (std::size_t c = 0; c < n; ++c)
        sums_[0][static_cast<std::size_t>(word) * n + c] += errors[i * n + c];
    }
    return loss;
  }

  int32_t classes_;
  std::vector<ParameterValues> parameters_;
  std::vector<float> sums_[2];  ///< of the gradients
};

/// Trees whose labels follow from their words: good and bad ones.
inline std::vector<Tree> review_trees(std::size_t count, uint64_t seed) {
  std::vector<Tree> trees;
  for (std::size_t i = 0; i < count; ++i) {
    const bool good = (i + seed) % 2 == 0;
    const auto filler = static_cast<int32_t>(3 + (i * 7 + seed) % 5);
    trees.push_back({{{good, Node::kNone, 2, 3, 0, 0},
                      {good, good ? 1 : 2, 0, 2, 0, 0},
                      {Node::kNone, filler, 0, 3, 0, 0}}});
  }
  return trees;
}
constexpr int64_t kReviewWords = 8;

}  // namespace hiaton::train
