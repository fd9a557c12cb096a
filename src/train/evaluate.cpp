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

void NodeCounts::add(const Prediction& prediction, const Tree& tree) {
  check_form(prediction, tree);
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

void NodeCounts::add(const Prediction& prediction, std::size_t index, int32_t label) {
  const float probability = prediction.probability(index, label);
  loss_ -= std::log(std::max<double>(probability, std::numeric_limits<float>::min()));
  const bool right = prediction.best_class(index) == label;
  const bool is_root = prediction.nodes[index] == 0;
  ++nodes_;
  right_nodes_ += right;
  roots_ += is_root;
  right_roots_ += right && is_root;
}

NodeCounts::NodeCounts(std::span<const double> numbers)
    : loss_(numbers[0]),
      nodes_(static_cast<int64_t>(numbers[1])),
      right_nodes_(static_cast<int64_t>(numbers[2])),
      roots_(static_cast<int64_t>(numbers[3])),
      right_roots_(static_cast<int64_t>(numbers[4])) {}

std::array<double, NodeCounts::kNumbers> NodeCounts::numbers() const {
  return {loss_, static_cast<double>(nodes_), static_cast<double>(right_nodes_), static_cast<double>(roots_),
          static_cast<double>(right_roots_)};
}

Evaluation NodeCounts::evaluation(std::size_t trees) const {
  const auto share = [](int64_t right, int64_t all) {
    return all == 0 ? std::numeric_limits<double>::quiet_NaN()
                    : static_cast<double>(right) / static_cast<double>(all);
  };
  return {.loss = nodes_ == 0 ? std::numeric_limits<double>::quiet_NaN() : loss_ / static_cast<double>(trees),
          .root_accuracy = share(right_roots_, roots_),
          .all_accuracy = share(right_nodes_, nodes_),
          .roots = roots_,
          .nodes = nodes_};
}

}  // namespace hiaton::train
