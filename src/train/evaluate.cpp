#include "train/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hiaton/error.h"
#include "train/tree_place.h"

namespace hiaton::train {
namespace {

void check_form(const Prediction& prediction, const Tree& tree) {
  const auto node_count = static_cast<int32_t>(tree.nodes.size());
  const bool in_range =
      prediction.nodes.empty() || (prediction.nodes.front() >= 0 && prediction.nodes.back() < node_count);
  const bool rising = std::adjacent_find(prediction.nodes.begin(), prediction.nodes.end(),
                                         std::greater_equal<>()) == prediction.nodes.end();
  const std::size_t expected =
      prediction.nodes.size() * static_cast<std::size_t>(std::max(prediction.classes, 0));
  if (!in_range || !rising || prediction.probabilities.size() != expected) {
    throw ProgramError(
        fmt::format("prediction of a tree of {} nodes: expected {} probabilities for nodes in increasing "
                    "order, found {} probabilities",
                    node_count, expected, prediction.probabilities.size()));
  }
}

}  // namespace

int32_t Prediction::best_class(std::size_t index) const {
  const auto begin = probabilities.begin() + static_cast<std::ptrdiff_t>(index) * classes;
  return static_cast<int32_t>(std::max_element(begin, begin + classes) - begin);
}

float Prediction::probability(std::size_t index, int32_t label) const {
  return probabilities[index * static_cast<std::size_t>(classes) + static_cast<std::size_t>(label)];
}

void EvaluationCounter::add(const Prediction& prediction, const Tree& tree) {
  check_form(prediction, tree);
  ++trees_;
  for (std::size_t i = 0; i < prediction.nodes.size(); ++i) {
    const Node& node = tree.nodes[static_cast<std::size_t>(prediction.nodes[i])];
    if (node.label == Node::kNone) continue;
    if (node.label >= prediction.classes) {
      throw ProgramError(
          fmt::format("expected labels from 0 to {}, which the model knows, found {} in line {}, column {}",
                      prediction.classes - 1, node.label, node.line, node.column));
    }
    const float probability = prediction.probability(i, node.label);
    if (!std::isfinite(probability)) {
      throw ProgramError(fmt::format("expected probabilities, found {} for {}: the model diverged",
                                     probability, place_of(tree)));
    }
    add(prediction, i, node.label);
  }
}

void EvaluationCounter::add(const Prediction& prediction, std::size_t index, int32_t label) {
  const float probability = prediction.probability(index, label);
  loss_ -= std::log(std::max<double>(probability, std::numeric_limits<float>::min()));
  const bool right = prediction.best_class(index) == label;
  const bool is_root = prediction.nodes[index] == 0;
  ++nodes_;
  right_nodes_ += right;
  roots_ += is_root;
  right_roots_ += right && is_root;
}

Evaluation EvaluationCounter::finish() const {
  const auto share = [](int64_t right, int64_t all) {
    return all == 0 ? std::numeric_limits<double>::quiet_NaN()
                    : static_cast<double>(right) / static_cast<double>(all);
  };
  return {
      .loss = nodes_ == 0 ? std::numeric_limits<double>::quiet_NaN() : loss_ / static_cast<double>(trees_),
      .root_accuracy = share(right_roots_, roots_),
      .all_accuracy = share(right_nodes_, nodes_),
      .roots = roots_,
      .nodes = nodes_};
}

std::optional<Evaluation> evaluate_unless(const std::atomic<bool>* cancel, Learner& learner,
                                          std::span<const Tree> trees, int64_t batch) {
  EvaluationCounter counter;
  std::vector<const Tree*> chosen;
  for (std::size_t begin = 0; begin < trees.size(); begin += chosen.size()) {
    if (is_set(cancel)) return std::nullopt;
    chosen.clear();
    const std::size_t end =
        std::min(trees.size(), begin + static_cast<std::size_t>(std::max<int64_t>(batch, 1)));
    for (std::size_t i = begin; i < end; ++i) chosen.push_back(&trees[i]);
    const std::vector<Prediction> predictions = learner.predict(chosen);
    if (predictions.size() != chosen.size()) {
      throw ProgramError(fmt::format("expected {} predictions, found {}", chosen.size(), predictions.size()));
    }
    for (std::size_t i = 0; i < chosen.size(); ++i) counter.add(predictions[i], *chosen[i]);
  }
  return counter.finish();
}

Evaluation evaluate(Learner& learner, std::span<const Tree> trees, int64_t batch) {
  return *evaluate_unless(nullptr, learner, trees, batch);
}

}  // namespace hiaton::train
