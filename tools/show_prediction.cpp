#include "show_prediction.h"

#include <fmt/format.h>

#include <iterator>

namespace hiaton::cli {
namespace {

using train::Node;

/// Deeper nodes stand here with their depth in words: lines would grow without end.
constexpr std::size_t kDeepestIndent = 40;
constexpr std::size_t kNoPrediction = ~std::size_t{0};

/// The index in the prediction of each node.
std::vector<std::size_t> indices_by_node(const train::Tree& tree, const std::vector<int32_t>& predicted) {
  std::vector<std::size_t> indices(tree.nodes.size(), kNoPrediction);
  for (std::size_t i = 0; i < predicted.size(); ++i) indices[static_cast<std::size_t>(predicted[i])] = i;
  return indices;
}

void show_node(const Node& node, std::span<const std::string> words, const BestClasses& prediction,
               std::size_t index, std::string& text) {
  const auto out = std::back_inserter(text);
  if (index == kNoPrediction) {
    text += '-';
  } else {
    const int32_t best = prediction.classes[index];
    fmt::format_to(out, "{} {:.1f}%", best, 100 * prediction.probabilities[index]);
    if (node.label != Node::kNone && node.label != best) fmt::format_to(out, " (label {})", node.label);
  }
  if (node.word != Node::kNone) text.append("  ").append(words[static_cast<std::size_t>(node.word)]);
}

/// 0.1f as 0.1, not as 0.10000000149011612.
double shortest(float value) {
  return std::stod(fmt::format("{}", value));
}

/// The lines that lead from the parents to each node, from the root on.
class Branches {
 public:
  /// Adds what stands before node `i`. Nodes come in preorder.
  void show_before(const train::Tree& tree, std::size_t i, std::string& text) {
    const int32_t end = tree.nodes[i].subtree_end;
    while (!open_.empty() && open_.back() <= static_cast<int32_t>(i)) close();
    const std::size_t depth = open_.size();
    const bool is_last = depth > 0 && open_.back() == end;
    if (depth > kDeepestIndent) {
      fmt::format_to(std::back_inserter(text), "{}({}) ", prefix_, depth);
    } else if (depth > 0) {
      text.append(prefix_).append(is_last ? "└─ " : "├─ ");
    }
    lengths_.push_back(prefix_.size());
    if (depth > 0 && depth <= kDeepestIndent) prefix_ += is_last ? "   " : "│  ";
    open_.push_back(end);
  }

 private:
  void close() {
    open_.pop_back();
    prefix_.resize(lengths_.back());
    lengths_.pop_back();
  }

  std::string prefix_;                ///< what stands before the children of the innermost node
  std::vector<int32_t> open_;         ///< ends of the subtrees of the nodes above, innermost last
  std::vector<std::size_t> lengths_;  ///< how long the prefix was before each of them
};

}  // namespace

BestClasses best_classes(const train::Prediction& prediction) {
  BestClasses best{prediction.nodes, {}, {}};
  best.classes.reserve(best.nodes.size());
  best.probabilities.reserve(best.nodes.size());
  for (std::size_t i = 0; i < best.nodes.size(); ++i) {
    best.classes.push_back(prediction.best_class(i));
    best.probabilities.push_back(prediction.probability(i, best.classes.back()));
  }
  return best;
}

void show_prediction(const train::Tree& tree, std::span<const std::string> words,
                     const BestClasses& prediction, std::string& text) {
  const std::vector<std::size_t> indices = indices_by_node(tree, prediction.nodes);
  Branches branches;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    branches.show_before(tree, i, text);
    show_node(tree.nodes[i], words, prediction, indices[i], text);
    text += '\n';
  }
}

nlohmann::ordered_json to_json(const train::Tree& tree, std::span<const std::string> words,
                               const train::Prediction& prediction) {
  const std::vector<std::size_t> indices = indices_by_node(tree, prediction.nodes);
  auto nodes = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const Node& node = tree.nodes[i];
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    if (indices[i] != kNoPrediction) {
      json["class"] = prediction.best_class(indices[i]);
      auto& probabilities = json["probabilities"] = nlohmann::ordered_json::array();
      for (int32_t label = 0; label < prediction.classes; ++label) {
        probabilities.push_back(shortest(prediction.probability(indices[i], label)));
      }
    }
    if (node.label != Node::kNone) json["label"] = node.label;
    if (node.word != Node::kNone) json["word"] = words[static_cast<std::size_t>(node.word)];
    if (node.child_count > 0) {
      auto& children = json["children"] = nlohmann::ordered_json::array();
      for (const int32_t child : tree.children(static_cast<int32_t>(i))) children.push_back(child);
    }
    nodes.push_back(std::move(json));
  }
  return {{"nodes", std::move(nodes)}};
}

}  // namespace hiaton::cli
