#include "show_prediction.h"

#include <fmt/format.h>

namespace hiaton::cli {
namespace {

using train::Node;

/// Deeper nodes stand here with their depth in words: lines would grow without end.
constexpr std::size_t kDeepestIndent = 40;
constexpr std::size_t kNoPrediction = ~std::size_t{0};

/// The index in the prediction of each node.
std::vector<std::size_t> indices_by_node(const train::Tree& tree, const train::Prediction& prediction) {
  std::vector<std::size_t> indices(tree.nodes.size(), kNoPrediction);
  for (std::size_t i = 0; i < prediction.nodes.size(); ++i) {
    indices[static_cast<std::size_t>(prediction.nodes[i])] = i;
  }
  return indices;
}

std::string show_node(const Node& node, std::span<const std::string> words,
                      const train::Prediction& prediction, std::size_t index) {
  std::string text = "-";
  if (index != kNoPrediction) {
    const int32_t best = prediction.best_class(index);
    text = fmt::format("{} {:.1f}%", best, 100 * prediction.probability(index, best));
    if (node.label != Node::kNone && node.label != best) text += fmt::format(" (label {})", node.label);
  }
  if (node.word != Node::kNone) text += "  " + words[static_cast<std::size_t>(node.word)];
  return text;
}

/// 0.1f as 0.1, not as 0.10000000149011612.
double shortest(float value) {
  return std::stod(fmt::format("{}", value));
}

/// The lines that lead from the parents to each node, from the root on.
class Branches {
 public:
  /// What stands before node `i`. Nodes come in preorder.
  std::string before(const train::Tree& tree, std::size_t i) {
    const int32_t end = tree.nodes[i].subtree_end;
    while (!open_.empty() && open_.back() <= static_cast<int32_t>(i)) close();
    const std::size_t depth = open_.size();
    const bool is_last = depth > 0 && open_.back() == end;
    const std::string text = depth > kDeepestIndent ? fmt::format("{}({}) ", prefix_, depth)
                             : depth == 0           ? ""
                                                    : prefix_ + (is_last ? "└─ " : "├─ ");
    lengths_.push_back(prefix_.size());
    if (depth > 0 && depth <= kDeepestIndent) prefix_ += is_last ? "   " : "│  ";
    open_.push_back(end);
    return text;
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

std::string show_prediction(const train::Tree& tree, std::span<const std::string> words,
                            const train::Prediction& prediction) {
  const std::vector<std::size_t> indices = indices_by_node(tree, prediction);
  Branches branches;
  std::string text;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    text += branches.before(tree, i) + show_node(tree.nodes[i], words, prediction, indices[i]) + "\n";
  }
  return text;
}

nlohmann::ordered_json to_json(const train::Tree& tree, std::span<const std::string> words,
                               const train::Prediction& prediction) {
  const std::vector<std::size_t> indices = indices_by_node(tree, prediction);
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
