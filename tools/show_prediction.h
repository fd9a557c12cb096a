// Predictions as a drawing for people and as JSON for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "hiaton/trees.h"

namespace hiaton::cli {

/// What people are shown of a prediction: the class of each node that is most likely, and its probability.
struct BestClasses {
  std::vector<int32_t> nodes;        ///< the nodes with a prediction, in increasing order
  std::vector<int32_t> classes;      ///< of each of these nodes
  std::vector<float> probabilities;  ///< of each of these nodes
};

BestClasses best_classes(const train::Prediction& prediction);

/// Adds one line a node, indented below its parent: class, probability, word, and the label where it is
/// another class.
void show_prediction(const train::Tree& tree, std::span<const std::string> words,
                     const BestClasses& prediction, std::string& text);

/// All nodes in preorder, each with its children as indices, so that deep trees are no deep JSON.
nlohmann::ordered_json to_json(const train::Tree& tree, std::span<const std::string> words,
                               const train::Prediction& prediction);

}  // namespace hiaton::cli
