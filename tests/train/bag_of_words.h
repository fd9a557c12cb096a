// The smallest model that learns something: the logits of a node are the sum of the rows of the words below
// it.
#pragma once

#include <cmath>
#include <functional>
#include <set>
#include <vector>

#include "train/checkpoint.h"
#include "train/evaluate.h"
#include "train/quality.h"
#include "train/trainee.h"
#include "train/tree_place.h"

namespace hiaton::train {

class BagOfWords {
 public:
  virtual ~BagOfWords() = default;
  BagOfWords(int64_t words, int32_t classes) : classes_(classes) {
    const auto count = static_cast<std::size_t>(words * classes);
    parameters_ = {{"E", {words, classes}, std::vector<float>(count)},
                   {"b", {classes}, std::vector<float>(static_cast<std::size_t>(classes))}};
    for (std::size_t i = 0; i < count; ++i)
      parameters_[0].values.floats()[i] = 0.01f * static_cast<float>(i % 7);
  }

  std::vector<ParameterValues>& parameters() { return parameters_; }

  /// The sum of the losses of the trees, and the gradient of that sum.
  virtual double loss_and_gradients(std::span<const Tree* const> batch, std::span<Gradient> gradients) {
    double loss = 0;
    std::set<int64_t> rows;
    for (std::size_t i = 0; i < 2; ++i) sums_[i].assign(parameters_[i].values.size(), 0);
    for (const Tree* tree : batch) loss += add(*tree, rows);
    gradients[0] = {true, sums_[0], {rows.begin(), rows.end()}};
    gradients[1] = {false, sums_[1], {}};
    if (spoil) spoil(loss, gradients);
    return loss;
  }

  /// One prediction a tree.
  virtual std::vector<Prediction> predict(std::span<const Tree* const> batch) {
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
          values[i * n + c] = parameters_[0].values.floats()[static_cast<std::size_t>(word) * n + c];
        for (const int32_t child : tree.children(static_cast<int32_t>(i))) {
          values[i * n + c] += values[static_cast<std::size_t>(child) * n + c];
        }
      }
    }
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
      float sum = 0;
      for (std::size_t c = 0; c < n; ++c)
        sum += values[i * n + c] = std::exp(values[i * n + c] + parameters_[1].values.floats()[c]);
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
  std::vector<float> sums_[2];  ///< sums of the gradients
};

/// Such a model, as the training loop sees it.
class BagTrainee : public Trainee {
 public:
  BagTrainee(BagOfWords& model, std::span<const Tree> train, std::span<const Tree> dev, std::string score)
      : model_(model), train_(train), dev_(dev), score_(std::move(score)) {}

  std::vector<ParameterValues>& parameters() override { return model_.parameters(); }
  void begin_step(uint64_t step) override { model_.steps.push_back(step); }
  std::size_t size() const override { return train_.size(); }
  uint64_t fingerprint() const override { return train::fingerprint(train_) + train::fingerprint(dev_); }
  double loss_and_gradients(std::span<const uint32_t> examples, std::span<Gradient> gradients) override {
    std::vector<const Tree*> chosen;
    for (const uint32_t example : examples) chosen.push_back(&train_[example]);
    return model_.loss_and_gradients(chosen, gradients);
  }
  std::string place_of(uint32_t example) const override { return train::place_of(train_[example]); }
  bool has_dev() const override { return !dev_.empty(); }
  void try_evaluation() override { evaluation_of(model_, dev_.first(1)); }
  std::optional<Evaluation> evaluate(const std::atomic<bool>* cancel, int64_t batch) override {
    return evaluation_of(model_, dev_, cancel, static_cast<std::size_t>(batch));
  }
  double score_of(const Evaluation& evaluation) const override { return train::score_of(evaluation, score_); }

  static std::optional<Evaluation> evaluation_of(BagOfWords& model, std::span<const Tree> trees,
                                                 const std::atomic<bool>* cancel = nullptr,
                                                 std::size_t batch = 100) {
    NodeCounts counts;
    std::vector<const Tree*> chosen;
    for (std::size_t begin = 0; begin < trees.size(); begin += chosen.size()) {
      if (is_set(cancel)) return std::nullopt;
      chosen.clear();
      for (const Tree& tree : trees.subspan(begin, std::min(batch, trees.size() - begin)))
        chosen.push_back(&tree);
      const std::vector<Prediction> predictions = model.predict(chosen);
      for (std::size_t i = 0; i < chosen.size(); ++i) counts.add(predictions[i], *chosen[i]);
    }
    return counts.evaluation(trees.size());
  }

 private:
  BagOfWords& model_;
  const std::span<const Tree> train_;
  const std::span<const Tree> dev_;
  const std::string score_;
};

inline TrainingResult train(BagOfWords& model, std::span<const Tree> train, std::span<const Tree> dev,
                            const Settings& settings, const Callbacks& callbacks = {}) {
  BagTrainee trainee(model, train, dev, settings.score);
  return run_training(trainee, settings, callbacks);
}

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
