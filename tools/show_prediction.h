// Predictions as a drawing for people and as JSON for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "hiaton/trees.h"

namespace hiaton::cli {

/// One line a node, indented below its parent: class, probability, word, and the label where it is another
/// class.
std::string show_prediction(const train::Tree& tree, std::span<const std::string> words,
                            const train::Prediction& prediction);

/// All nodes in preorder, each with its children as indices, so that deep trees are no deep JSON.
nlohmann::ordered_json to_json(const train::Tree& tree, std::span<const std::string> words,
                               const train::Prediction& prediction);

}  // namespace hiaton::cli
